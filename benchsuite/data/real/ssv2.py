"""Something-Something v2: people do something with something, and a sentence says what."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.files import read_json, read_text, require_file
from benchsuite.data.readers.videos import Clip, Videos
from benchsuite.errors import UsageError
from benchsuite.registry import register_dataset

OFFICIAL = ("train", "validation")
LISTED = {"train": "train", "validation": "validation", "val": "validation", "test": "test"}
"""The split of each name that a list may have."""
KINDS = (".txt", ".csv")


@register_dataset("ssv2", title="Something-Something v2", license="Qualcomm's terms", download=True)
class SomethingSomething(Videos):
    """168,913 videos to train on and 24,777 to validate, of 174 classes, each with a sentence that names the things.

    Read from the official labels and frames/<id>/ with all frames of a video, whatever their names. With `lists`, the
    splits are those of text files, such as the long-tailed ones of Perrett et al. (SSv2-LT): train, validation, test.
    Labels: `class`.
    """

    _layout: ClassVar = (
        "something-something-v2-train.json, -validation.json and -labels.json (or labels/train.json, ...), and "
        "frames/<id>/*.jpg"
    )

    lists: str = ""
    """A folder in the folder with train.txt, validation.txt and test.txt, a video's id at the start of each line; the
    official splits if empty."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """The templates of the sentences, as "class"."""
        return {"class": tuple(sorted(self._classes, key=lambda name: self._classes[name]))}

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        files = [self._json(split) for split in (*OFFICIAL, "labels")]
        if not self.lists:
            return dict.fromkeys(OFFICIAL, files)
        places = {self._root / self.lists / f"{name}{kind}": split for name, split in LISTED.items() for kind in KINDS}
        return {split: [*files, file] for file, split in places.items() if file.is_file()}

    def _clips(self, split: str) -> Iterator[Clip]:
        if self.lists:
            file = self._chosen[split][-1]
            words = [line.replace(",", " ").split() for line in read_text(file).splitlines()]
            ids = [Path(line[0]).stem for line in words if line]
            if unknown := next((id_ for id_ in ids if id_ not in self._videos), None):
                raise UsageError(f'{file}: video "{unknown}" is in neither of the official files of labels.')
        else:
            ids = [str(row["id"]) for row in read_json(self._json(split))]
        for id_ in ids:
            caption, label = self._videos[id_]
            yield Clip(id_, caption, {"class": label})

    @cached_property
    def _videos(self) -> dict[str, tuple[str, int]]:
        """Caption and class by id."""
        videos = {}
        for split in OFFICIAL:
            file = self._json(split)
            for row in read_json(file):
                try:
                    name = row["template"].replace("[", "").replace("]", "")
                    videos[str(row["id"])] = row["label"], self._classes[name]
                except (KeyError, TypeError, AttributeError) as error:
                    raise UsageError(
                        f"{file}: {row}: there must be id, label and template of a known class."
                    ) from error
        return videos

    @cached_property
    def _classes(self) -> dict[str, int]:
        return {str(name): int(number) for name, number in read_json(self._json("labels")).items()}

    def _json(self, name: str) -> Path:
        newer = self._root / "labels" / f"{name}.json"
        named = self._root / f"something-something-v2-{name}.json"
        return newer if newer.is_file() else require_file(named, self._layout)
