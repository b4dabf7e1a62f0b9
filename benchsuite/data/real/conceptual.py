"""Conceptual Captions: pictures from the web with the text that stood beside them, in tables or in tar files."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar

from benchsuite.data.real.captions import read_pairs, read_paraphrases, table_in
from benchsuite.data.real.listing import Files, Listed, Listing, Source, base_of
from benchsuite.data.real.shards import read_shards
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("validation", "val")}
"""Each split with the names that its table or its folder of tar files may have."""


class Conceptual(Listed):
    """What the datasets below share: one caption a picture, and paraphrases of it if somebody made them."""

    _layout: ClassVar = (
        "train.tsv, .csv, .json or .jsonl beside the pictures it names, or train/*.tar as img2dataset writes them; "
        "validation likewise"
    )

    limit: Count | None = None
    """How many training pairs: the first of the table, or of the tar files in the order of their names."""

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SPLITS if self._parts(split)}

    def _read_from(self) -> Mapping[str, Path]:
        parts = [part for split in self._chosen for part in self._parts(split)]
        said = [self._paraphrases] if self._paraphrases else []
        return {str(part.relative_to(self._root)): part for part in [*parts, *said]}

    def _list(self, split: str) -> Listing:
        parts, limit = self._parts(split), self.limit if split == "train" else None
        source: Source
        if parts[0].suffix == ".tar":
            source, said = read_shards(parts, limit)
            ids, captions = source.keys, [[text] for text in said]
        else:
            pairs = read_pairs(parts[0], limit)
            ids, captions = [pair.id for pair in pairs], [list(pair.captions) for pair in pairs]
            names = [pair.picture for pair in pairs]
            source = Files(base_of(self._root, names[0], ("", "images", split)), names)
        if limit is not None and len(ids) < limit:
            raise UsageError(f"{self.card.name}: limit = {limit}, but {parts[0].parent} has {len(ids)} pairs.")
        return Listing(source, captions, self._other_wordings(ids) if split == "train" else ())

    def _other_wordings(self, ids: Sequence[str]) -> Sequence[Sequence[str]]:
        if not self._paraphrases:
            return ()
        said = read_paraphrases(self._paraphrases)
        if missing := next((one for one in ids if one not in said), None):
            raise UsageError(f'{self._paraphrases}: there is no paraphrase for "{missing}"; every pair needs one.')
        return [said[one] for one in ids]

    def _parts(self, split: str) -> list[Path]:
        names = SPLITS[split]
        table = table_in(self._root, names)
        shards = [shard for name in names for shard in sorted((self._root / name).glob("*.tar"))]
        if table and shards:
            raise UsageError(
                f"{self._root}: both {table.name} and {shards[0].parent.name}/*.tar are {split}; keep one."
            )
        return [table] if table else shards

    @property
    def _paraphrases(self) -> Path | None:
        return table_in(self._root, ("paraphrases",))


@register_dataset("cc3m", title="Conceptual Captions 3M", license="Google's terms", download=True)
class Cc3m(Conceptual):
    """About three million pictures from the web, each with a cleaned caption; how many there are is up to the download.

    Splits train and validation, each from a table (open_clip's filepath and title, SogCLR's image and caption, ...) or
    from img2dataset's tar files. `limit` takes the first pairs, AmCLR's 100,000 for example. Text views come from
    paraphrases.jsonl (id, paraphrases) or paraphrases.csv (id, paraphrase), where the id is the table's, or else the
    name of the picture's file, or the key in the tar file.
    """


@register_dataset("cc12m", title="Conceptual Captions 12M", license="Google's terms", download=True)
class Cc12m(Conceptual):
    """Up to twelve million pictures from the web with their alternative texts; files lie as for cc3m."""
