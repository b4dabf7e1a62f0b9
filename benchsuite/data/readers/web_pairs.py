"""Image-text pairs from the web: one caption an image, in tables or in tar files, and paraphrases if there are any."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, base_folder, listed
from benchsuite.data.readers.tables import LAYOUT, find_table, pairs_in, read_paraphrases
from benchsuite.data.readers.tars import members_of
from benchsuite.errors import UsageError
from benchsuite.fields import Count

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("validation", "val")}
"""Each split with the names that its table or its folder of tar files may have."""


class WebPairs(Listed):
    """Base of data sets of pairs from the web."""

    _layout: ClassVar = (
        "train.tsv, .csv, .json or .jsonl beside the images it names, or train/*.tar as img2dataset writes them; "
        "validation likewise"
    )

    limit: Count | None = None
    """How many training pairs: the first of the table, or of the tar files in the order of their names."""

    def _splits(self) -> Iterable[str]:
        return [split for split in SPLITS if self._files(split)]

    def _sources(self) -> Iterable[Path]:
        files = [file for split in self._chosen for file in self._files(split)]
        return [*files, self._paraphrases] if self._paraphrases else files

    def _list(self, split: str) -> Iterator[Item]:
        files, limit = self._files(split), self.limit if split == "train" else None
        further = self._paraphrases if split == "train" else None
        paraphrases = read_paraphrases(further) if further else {}
        pairs = self._members(files, limit) if files[0].suffix == ".tar" else self._rows(files[0], split)
        count = 0
        for id_, item in islice(pairs, limit):
            if further and id_ not in paraphrases:
                raise UsageError(f'{further}: there is no paraphrase for "{id_}"; every pair needs one.')
            count += 1
            yield item._replace(paraphrases=paraphrases.get(id_, ()))
        if not count:
            wanted = "a pair of an image and its caption" if files[0].suffix == ".tar" else f"a row with {LAYOUT}"
            raise UsageError(f"{files[0]}: there are no pairs, here or in a file beside it; there must be {wanted}.")
        if limit is not None and count < limit:
            raise UsageError(f"{self.card.name}: limit = {limit}, but {files[0].parent} has {count} pairs.")

    def _members(self, tars: Sequence[Path], limit: int | None) -> Iterator[tuple[str, Item]]:
        for tar, key, offset, size, caption in members_of(tars, limit is None):
            mark, name = f"{key}\0{size}", f"{tar}, {key}"
            yield key, Item(mark, [str(tar)], [caption], part=(offset, size), name=name)

    def _rows(self, table: Path, split: str) -> Iterator[tuple[str, Item]]:
        base = None
        for pair in pairs_in(table):
            if base is None:
                base = base_folder(self._root, pair.image, ("", "images", split))
            yield pair.id, listed(base, [pair.image], pair.captions)

    def _files(self, split: str) -> list[Path]:
        """The table of a split, or its tar files."""
        names = SPLITS[split]
        table = find_table(self._root, names)
        tars = [tar for name in names for tar in sorted((self._root / name).glob("*.tar"))]
        if table and tars:
            raise UsageError(f"{self._root}: both {table.name} and {tars[0].parent.name}/*.tar are {split}; keep one.")
        return [table] if table else tars

    @property
    def _paraphrases(self) -> Path | None:
        return find_table(self._root, ("paraphrases",))
