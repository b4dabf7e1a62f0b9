"""Image-text pairs from the web: one caption an image, in tables or in tar files, and paraphrases if there are any."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.files import stamp
from benchsuite.data.readers.listing import ImageFiles, Listed, Listing, Source, base_folder
from benchsuite.data.readers.tables import find_table, paraphrases_of, read_pairs
from benchsuite.data.readers.tars import read_tars
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

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SPLITS if self._files(split)}

    def _sources(self) -> Mapping[str, Path]:
        files = [file for split in self._chosen for file in self._files(split)]
        if self._paraphrases:
            files.append(self._paraphrases)
        return {str(file.relative_to(self._root)): file for file in files}

    def _list(self, split: str) -> Listing:
        files, limit = self._files(split), self.limit if split == "train" else None
        source: Source
        if files[0].suffix == ".tar":
            source, captions = read_tars(files, limit)
            ids = source.keys
        else:
            pairs = read_pairs(files[0], limit)
            ids, captions = pairs.ids, pairs.captions
            source = ImageFiles(base_folder(self._root, pairs.images[0], ("", "images", split)), pairs.images)
        if limit is not None and len(ids) < limit:
            raise UsageError(f"{self.card.name}: limit = {limit}, but {files[0].parent} has {len(ids)} pairs.")
        if split != "train" or not self._paraphrases:
            return Listing(source, captions)
        pairs_key = stamp({str(number): file for number, file in enumerate(files)})
        return Listing(source, captions, paraphrases_of(ids, self._paraphrases, f"{pairs_key} {limit}"))

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
