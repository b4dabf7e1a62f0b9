"""Winoground: two images and two captions, of the same words in another order."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import ClassVar
from zipfile import ZipFile

from benchsuite.cards import Card
from benchsuite.data.readers.files import require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.data.readers.tables import rows_of
from benchsuite.errors import UsageError, first_line
from benchsuite.files import open_regular
from benchsuite.registry import datasets

KEYS = ("image_0", "caption_0", "image_1", "caption_1")
EXAMPLES = "data/examples.jsonl"
FILES = (f"*{EXAMPLES}", "*data/images.zip", "*data/images/*")
"""What is read of its files on the hub, or of a root there that has them."""


class Winoground(Listed):
    """Its instances as the hub has them: images 2i and 2i + 1 are those of instance i, each with its own caption."""

    card: ClassVar[Card] = datasets.card("clip-benchmark")
    _layout: ClassVar = f"{EXAMPLES}, and data/images.zip or the folder data/images, as facebook/winoground has them"

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        folder, examples = self._root / "data/images", require_file(self._root / EXAMPLES, self._layout)
        images = folder if folder.is_dir() else require_file(folder.with_suffix(".zip"), self._layout)
        return {"test": [examples, images]}

    def _list(self, split: str) -> Iterator[Item]:
        examples, images = self._chosen[split]
        pairs = []
        for line, row in rows_of(examples):
            texts = [row.get(key) for key in KEYS]
            if not all(isinstance(text, str) and text.strip() for text in texts):
                raise UsageError(f"{examples}, line {line}: there must be {', '.join(KEYS)}, each a text.")
            pairs += [(f"{texts[i]}.png", str(texts[i + 1])) for i in (0, 2)]
        if images.is_dir():
            return (listed(images, [name], [caption]) for name, caption in pairs)
        return _packed(images, pairs)


def _packed(file: Path, pairs: Sequence[tuple[str, str]]) -> Iterator[Item]:
    """Images of a zip file, with the marks that they have as files."""
    try:
        with open_regular(file) as stream, ZipFile(stream) as archive:
            members = {PurePosixPath(member).name: member for member in archive.namelist()}
            for name, caption in pairs:
                content = archive.read(members[name])
                yield Item(f"{name}\0{len(content)}", captions=[caption], content=content, name=f"{file}, {name}")
    except Exception as error:  # zipfile and zlib raise of every kind
        raise UsageError(f"{file}: not a complete zip file of the images ({first_line(error)}).") from error
