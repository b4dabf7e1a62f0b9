"""Images with captions of one language, from the files that clip-benchmark makes for its multilingual sets."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from benchsuite.cards import Card
from benchsuite.data.readers.files import read_json
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.errors import UsageError, require_known
from benchsuite.registry import datasets

SETS = {
    "multilingual_mscoco_captions": "multilingual_mscoco_captions",
    "crossmodal3600": "crossmodal3600_captions",
    "xtd10": "xtd10",
    "xtd200": "xtd200",
    "flickr30k-200": "flickr30k_200",
}
"""Of each set how its files' names begin; a hyphen, the language and .json follow."""
KEYS = ("image_paths", "annotations")


class Multilingual(Listed):
    """One of the sets in one language: each image has one caption."""

    card: ClassVar[Card] = datasets.card("clip-benchmark")
    _layout: ClassVar = "xtd10-de.json and so on, as clip-benchmark makes them"
    kind: ClassVar = "retrieval"

    name: str
    language: str

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        start = f"{SETS[self.name]}-"
        there = {file.stem.removeprefix(start): file for file in self._root.glob(f"{start}*.json")}
        require_known("language", self.language, there, f"{self._root / start}LANGUAGE.json: ")
        return {"test": [there[self.language]]}

    def _list(self, split: str) -> Iterator[Item]:
        """Images by their own name, so that it is the same in every place.

        clip-benchmark writes paths that begin where it ran: here, or in a folder that this one is in.
        """
        (file,) = self._chosen[split]
        content = read_json(file)
        paths, texts = (_texts(content.get(key)) if isinstance(content, dict) else [] for key in KEYS)
        if not paths or len(paths) != len(texts):
            raise UsageError(f"{file}: there must be {' and '.join(KEYS)}, lists of equally many texts.")
        bases = (self._root, *self._root.absolute().parents)
        base = next((base for base in bases if (base / paths[0]).is_file()), self._root)
        for path, text in zip(paths, texts, strict=True):
            yield listed((base / path).parent, [(base / path).name], [text])


def _texts(value: Any) -> list[str]:
    """A list of texts as it is; none if it is anything else."""
    good = isinstance(value, list) and all(isinstance(each, str) and each.strip() for each in value)
    return value if good else []
