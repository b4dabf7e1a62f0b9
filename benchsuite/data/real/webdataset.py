"""A set in clip-benchmark's layout for the library webdataset: tar files, and texts beside them that say what it is."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from benchsuite.cards import Card
from benchsuite.data.readers.files import read_text, require_file
from benchsuite.data.readers.index import Ids, Item
from benchsuite.data.readers.listing import Listed
from benchsuite.data.readers.shards import members_of
from benchsuite.errors import UsageError
from benchsuite.registry import datasets

COUNT, NAMES, TEMPLATES = "test/nshards.txt", "classnames.txt", "zeroshot_classification_templates.txt"
TYPE = "dataset_type.txt"
FILES = ("*.txt", "*test/*.tar")
"""What of a repository of the hub is read."""
KINDS = {"classification": "cls", "multilabel": "npy", "retrieval": "txt"}
"""By what dataset_type.txt says, the member beside each image: its class, whether it shows each class, its captions."""
CLASSED = ("classification", "multilabel")


class Webdataset(Listed):
    """Test images with classes, whose names and templates are in the folder, or with captions; read in place."""

    card: ClassVar[Card] = datasets.card("clip-benchmark")
    _layout: ClassVar = f"{COUNT}, test/0.tar and so on, {NAMES} and {TEMPLATES}, as clip_benchmark_export_wds writes"

    @cached_property
    def kind(self) -> str:
        """What dataset_type.txt says: classification where it is not there."""
        file = self._root / TYPE
        return read_text(file).strip().lower() if file.is_file() else "classification"

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        return {"class": tuple(self._lines(NAMES))} if self.kind in CLASSED else {}

    @cached_property
    def templates(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """Those of the folder, with {} for the class name; refused unless each has its place for it."""
        texts = self._lines(TEMPLATES) if self.kind in CLASSED else []
        if wrong := [text for text in texts if "{c}" not in text or {*text.replace("{c}", "")} & {*"{}"}]:
            raise UsageError(
                f'{self._root / TEMPLATES}: "{wrong[0]}" must have {{c}} for the class name, and no other.'
            )
        return {self.card.name: [text.replace("{c}", "{0}" if text.count("{c}") > 1 else "{}") for text in texts]}

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        texts = [file for name in (TYPE, NAMES) if (file := self._root / name).is_file()]
        return {"test": [*self._tars, *texts]}

    def _list(self, split: str) -> Iterator[Item]:
        if self.kind not in KINDS:
            raise UsageError(f'{self._root / TYPE}: type "{self.kind}" is not read, but {", ".join(KINDS)}.')
        names, seen = self.class_names.get("class", ()), set[int]()
        for tar in self._tars:
            for key, offset, size, text in members_of(tar, [KINDS[self.kind]]):
                labels: dict[str, Ids] = {}
                captions = [line for line in text.splitlines() if line.strip()]
                if self.kind in CLASSED:
                    shown = self._classes(text, f"{tar}, {key}")
                    seen.update(shown)
                    single = self.kind == "classification"  # of several labels some images have none, so no captions
                    captions, labels = [names[shown[0]]] if single else [], {"class": shown[0] if single else shown}
                yield Item(f"{key}\0{size}", [str(tar)], captions, (), labels, (offset, size), name=f"{tar}, {key}")
        if unseen := [name for i, name in enumerate(names) if i not in seen]:
            raise UsageError(
                f'{self._root}: {NAMES} has {len(names)} classes, the images {len(seen)}: none is "{unseen[0]}".'
            )

    def _classes(self, text: str, where: str) -> list[int]:
        """The number of an image's class, or those of all that it shows; refused unless each has a name."""
        count = len(self.class_names["class"])
        if self.kind == "multilabel":
            marks = text.split()
            if len(marks) != count or {*marks} - {"0", "1"}:
                raise UsageError(f"{where}: its npy must have 0 or 1 for each of the {count} classes of {NAMES}.")
            return [i for i, mark in enumerate(marks) if mark == "1"]
        label = int(text) if text.strip().isdecimal() else -1
        if not 0 <= label < count:
            wrong = f'class "{text.strip()[:20]}" is none of the {count} of {NAMES}, which begin with 0'
            raise UsageError(f"{where}: {wrong}.")
        return [label]

    @cached_property
    def _tars(self) -> list[Path]:
        file = require_file(self._root / COUNT, self._layout)
        if not (count := read_text(file).strip()).isdecimal():
            raise UsageError(f'{file}: "{count[:20]}" is not the number of tar files.')
        return [require_file(file.with_name(f"{i}.tar"), self._layout) for i in range(int(count))]

    def _lines(self, name: str) -> list[str]:
        return [line.strip() for line in read_text(require_file(self._root / name, self._layout)).splitlines()]
