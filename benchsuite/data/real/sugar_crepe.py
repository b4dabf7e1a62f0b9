"""SugarCrepe: images of MSCOCO, each with its caption and one that a change of it made wrong."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from benchsuite.cards import Card
from benchsuite.data.readers.files import read_json, require_file
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.errors import UsageError
from benchsuite.registry import datasets

KEYS = ("filename", "caption", "negative_caption")


class SugarCrepe(Listed):
    """One of its parts, as published; the first caption of each image is right."""

    card: ClassVar[Card] = datasets.card("clip-benchmark")
    _layout: ClassVar = "add_att.json and so on, as SugarCrepe has them, and MSCOCO's val2017"

    part: str

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        return {"test": [require_file(self._root / f"{self.part}.json", self._layout)]}

    def _list(self, split: str) -> Iterator[Item]:
        (file,) = self._chosen[split]
        rows = read_json(file)
        for key, row in rows.items() if isinstance(rows, dict) else [("0", rows)]:
            texts: list[Any] = [row.get(name) for name in KEYS] if isinstance(row, dict) else []
            if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
                raise UsageError(f'{file}, "{key}": there must be {", ".join(KEYS)}, each a text.')
            yield listed(self._root / "val2017", texts[:1], texts[1:])
