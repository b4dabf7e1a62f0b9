"""Conceptual Captions 3M and 12M: images from the web with their alternative texts, in tables or in tar files.

Tar files are read in place, where the library `datasets` would copy them, and a cut one is refused. Each is gone
through once; where its members are, and their captions, stays in the cache until the file changes.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.files import watching
from benchsuite.data.readers.index import Item
from benchsuite.data.readers.listing import Listed, base_folder, listed
from benchsuite.data.readers.shards import members_of
from benchsuite.data.readers.tables import LAYOUT, find_table, pairs_in, read_paraphrases
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.registry import register_dataset
from benchsuite.workers import spread

SPLITS: Mapping[str, Sequence[str]] = {"train": ("train",), "validation": ("validation", "val")}
"""Each split with the names that its table or its folder of tar files may have."""
TEXTS = ("txt", "json")
"""Where img2dataset writes captions."""


class WebPairs(Listed):
    """Base of both: one caption an image, and paraphrases if there are any."""

    _layout: ClassVar = (
        "train.tsv, .csv, .json or .jsonl beside the images it names, or train/*.tar as img2dataset writes them, "
        "or *-train-*.tar as the hub has them; validation likewise"
    )

    limit: Count | None = None
    """How many training pairs: the first of the table, or of the tar files in the order of their names."""

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        further = find_table(self._root, ("paraphrases",))
        return {
            split: [*files, *([further] if further and split == "train" else [])]
            for split in SPLITS
            if (files := self._files(split))
        }

    def _list(self, split: str) -> Iterator[Item]:
        files, limit = self._files(split), self.limit if split == "train" else None
        further = next((file for file in self._chosen[split] if file not in files), None)
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
        """The images of tar files in order; several processes look for them if all are needed."""
        sizes, watch, done = [tar.stat().st_size for tar in tars], watching.get(), 0
        scan = partial(members_of, kinds=TEXTS)  # kept in the cache
        read = spread(lambda tar: len(scan(tar)), tars, few=8) if limit is None else tars
        for tar, _, whole in zip(tars, read, sizes, strict=True):
            members = scan(tar)
            done += whole
            watch(done, sum(sizes))
            for key, offset, size, caption in members:
                mark, name = f"{key}\0{size}", f"{tar}, {key}"
                yield key, Item(mark, [str(tar)], [caption], part=(offset, size), name=name)

    def _rows(self, table: Path, split: str) -> Iterator[tuple[str, Item]]:
        base = None
        for id_, image, captions in pairs_in(table):
            if base is None:
                base = base_folder(self._root, image, ("", "images", split))
            yield id_, listed(base, [image], captions)

    def _files(self, split: str) -> list[Path]:
        """The table of a split, or its tar files."""
        names = SPLITS[split]
        table = find_table(self._root, names)
        places = [place for name in names for place in (f"{name}/*.tar", f"*-{name}-*.tar")]
        tars = [tar for place in places for tar in sorted(self._root.glob(place))]
        if table and tars:
            tar = tars[0].relative_to(self._root)
            raise UsageError(f"{self._root}: both {table.name} and {tar} are {split}; keep one.")
        return [table] if table else tars


@register_dataset(
    "cc3m",
    title="Conceptual Captions 3M",
    license="Google's terms",
    download=True,
    hub="pixparse/cc3m-wds@46f3d69f840e59d77d52e8decfe5baec97e94c7f",
)
class Cc3m(WebPairs):
    """About three million images from the web, each with a cleaned caption; how many depends on the download.

    Splits train and validation, each from a table (open_clip's filepath and title, SogCLR's image and caption, ...) or
    from img2dataset's tar files. `limit` takes the first pairs, AmCLR's 100,000 for example. Text views come from
    paraphrases.jsonl (id, paraphrases) or paraphrases.csv (id, paraphrase), where the id is the table's, or else the
    name of the image file, or the key in the tar file.
    """


@register_dataset("cc12m", title="Conceptual Captions 12M", license="Google's terms", download=True)
class Cc12m(WebPairs):
    """Up to twelve million images from the web with their alternative texts; the same files as for cc3m."""
