"""Clips as folders of frames, a few of which are sampled: EPIC-KITCHENS-100, Something-Something v2, YouCook2."""

import math
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.readers.files import one_each, read_json, read_text, require_file
from benchsuite.data.readers.index import Ids, Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.data.readers.tables import read_csv, whole_number, whole_numbers
from benchsuite.errors import UsageError
from benchsuite.fields import Count, Positive
from benchsuite.registry import register_dataset

FRAME_KINDS = (".jpg", ".jpeg", ".png")
EPIC_SPLITS = ("train", "test")
EPIC_FOLDERS = ("epic-kitchens-100-annotations/retrieval_annotations", "retrieval_annotations", "annotations", "")
"""Where annotations may be. The last one that has a file counts."""
EPIC_NUMBERS = ("start_frame", "stop_frame", "verb_class", "noun_class")
EPIC_FIELDS = ("narration_id", "video_id", "narration", "all_noun_classes", *EPIC_NUMBERS)
EPIC_NOUNS = 300
"""Classes of nouns: verb and noun as one class is verb * 300 + noun."""
OFFICIAL = ("train", "validation")
LISTED = {"train": "train", "validation": "validation", "val": "validation", "test": "test"}
"""The split of each name that a list may have."""
LIST_ENDS = (".txt", ".csv")
YOUCOOK = "youcookii_annotations_trainval.json"
RETRIEVAL = "validation_youcook.csv"
CLIP_COLUMNS = ("video_id", "start", "end", "text")
"""Of the CSV."""
SUBSETS: Mapping[str, str] = {"training": "train", "validation": "validation"}
"""The split of each subset in the annotations."""


class Clip(NamedTuple):
    """Frames `first` to `last` of a video, counted as its files are; all of them if there is no last one."""

    video: str
    caption: str
    labels: Mapping[str, Ids]
    first: int = 0
    last: int | None = None


class Videos(Listed):
    """Base of data sets of clips. Say which clips a split has."""

    shows: ClassVar = "clips"
    _folders: ClassVar[Sequence[str]] = ("frames", "")
    """Where videos' folders may be. EPIC-KITCHENS has one of each participant, P01 of P01_11."""

    frames: Count = 16
    """How many frames of a clip are sampled: the middles of as many equal segments."""
    pattern: str = "frame_{:010d}.jpg"
    """Name of a frame's file, with its number from 1 on."""

    @abstractmethod
    def _clips(self, split: str) -> Iterable[Clip]:
        """The clips of a split in order."""

    def _list(self, split: str) -> Iterator[Item]:
        template = None
        for clip in self._clips(split):
            if template is None:
                template = self._template(clip.video)
            base = self._folder(template, clip.video)
            files = [f"{clip.video}/{name}" for name in self._names(base / clip.video, clip)]
            yield listed(base, files, [clip.caption], clip.labels)

    def _template(self, video: str) -> str:
        places = {template: self._folder(template, video) / video for template in self._folders}
        if (found := next((template for template, place in places.items() if place.is_dir()), None)) is None:
            tried = " or ".join(map(str, places.values()))
            raise UsageError(f"{tried}: no such folder of frames, but video {video} is listed.")
        return found

    def _folder(self, template: str, video: str) -> Path:
        return self._root / template.format(participant=video.partition("_")[0])

    def _names(self, folder: Path, clip: Clip) -> list[str]:
        if clip.last is not None:
            return [self.pattern.format(n) for n in spread(clip.first, clip.last, self.frames)]
        try:
            names = sorted((file.name for file in folder.iterdir() if file.suffix.lower() in FRAME_KINDS), key=in_time)
        except OSError as error:
            raise UsageError(f"{folder}: no such folder of frames, but video {clip.video} is listed.") from error
        if not names:
            raise UsageError(f"{folder}: there is no frame of video {clip.video} in it.")
        return [names[n] for n in spread(0, len(names) - 1, self.frames)]


def in_time(name: str) -> list[str | int]:
    """The order of frames by the numbers in their names: 2.jpg before 10.jpg."""
    return [int(part) if number % 2 else part for number, part in enumerate(re.split(r"([0-9]+)", name))]


def spread(first: int, last: int, count: int) -> list[int]:
    """The middles of `count` equal segments of first..last; where there are fewer frames, some are repeated."""
    length = last - first + 1
    return [first + (2 * k + 1) * length // (2 * count) for k in range(count)]


@register_dataset("epic-kitchens", title="EPIC-KITCHENS-100", license="CC BY-NC 4.0", download=True)
class EpicKitchens(Videos):
    """67,217 narrated clips of kitchen work to train on and 9,668 to test, from frames and the retrieval annotations.

    Read from EPIC_100_retrieval_train.csv and EPIC_100_retrieval_test.csv, and frames as they are distributed:
    P01/rgb_frames/P01_01/frame_0000000001.jpg, or frames/P01_01/. Labels: `verb`, `noun` and `verb_noun` of the action,
    for clusters, and `nouns`, all that are named, for the relevancy of multi-instance retrieval.
    """

    _layout: ClassVar = (
        "EPIC_100_retrieval_train.csv and EPIC_100_retrieval_test.csv (here or under retrieval_annotations), and "
        "frames/<video>/frame_0000000001.jpg or <participant>/rgb_frames/<video>/"
    )
    _folders: ClassVar = ("frames", "{participant}/rgb_frames", "rgb_frames", "")

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        names = {split: f"EPIC_100_retrieval_{split}.csv" for split in EPIC_SPLITS}
        places = ((split, self._root / folder / name) for split, name in names.items() for folder in EPIC_FOLDERS)
        return {split: [file] for split, file in places if file.is_file()}

    def _clips(self, split: str) -> Iterator[Clip]:
        (file,) = self._chosen[split]
        for line, row in enumerate(read_csv(file, EPIC_FIELDS, "clips"), start=2):
            where = f"{file}, row {line}"
            start, stop, verb, noun = (whole_number(where, field, row) for field in EPIC_NUMBERS)
            if start < 1 or stop < start:
                raise UsageError(f"{where}: a clip cannot run from frame {start} to {stop}.")
            nouns = sorted(set(whole_numbers(where, "all_noun_classes", row)))
            labels: dict[str, Ids] = {"verb": verb, "noun": noun, "verb_noun": verb * EPIC_NOUNS + noun, "nouns": nouns}
            yield Clip(row["video_id"], row["narration"], labels, start, stop)


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
        folder = self._root / self.lists
        places = ((split, folder / f"{name}{kind}") for name, split in LISTED.items() for kind in LIST_ENDS)
        lists = one_each((split, file) for split, file in places if file.is_file())
        return {split: [*files, file] for split, file in lists.items()}

    def _clips(self, split: str) -> Iterator[Clip]:
        if self.lists:
            file = self._chosen[split][-1]
            words = [line.replace(",", " ").split() for line in read_text(file).splitlines()]
            ids = [Path(line[0]).stem for line in words if line]
            if unknown := next((id_ for id_ in ids if id_ not in self._videos), None):
                raise UsageError(f'{file}: video "{unknown}" is in neither of the official files of labels.')
            yield from map(self._videos.__getitem__, ids)
        else:
            yield from self._official(split)

    @cached_property
    def _videos(self) -> dict[str, Clip]:
        """Of both official splits, by id."""
        return {clip.video: clip for split in OFFICIAL for clip in self._official(split)}

    def _official(self, split: str) -> Iterator[Clip]:
        file = self._json(split)
        for row in read_json(file):
            try:
                name = row["template"].replace("[", "").replace("]", "")
                yield Clip(str(row["id"]), row["label"], {"class": self._classes[name]})
            except (KeyError, TypeError, AttributeError) as error:
                raise UsageError(f"{file}: {row}: there must be id, label and template of a known class.") from error

    @cached_property
    def _classes(self) -> dict[str, int]:
        return {str(name): int(number) for name, number in read_json(self._json("labels")).items()}

    def _json(self, name: str) -> Path:
        newer = self._root / "labels" / f"{name}.json"
        named = self._root / f"something-something-v2-{name}.json"
        return newer if newer.is_file() else require_file(named, self._layout)


class Step(NamedTuple):
    """Seconds `start` to `end` of a video, and their caption."""

    video_id: str
    start: float
    end: float
    text: str


@register_dataset("youcook2", title="YouCook2", license="research only", download=True)
class YouCook2(Videos):
    """About 10,000 steps of cooking videos to train on and 3,500 to validate, each with a sentence.

    Read from youcookii_annotations_trainval.json and frames/<video>/frame_0000000001.jpg, extracted at `fps` frames a
    second. Where validation_youcook.csv is there too, its 3,350 clips are the validation split.
    """

    _layout: ClassVar = (
        f"{YOUCOOK}, frames/<video>/frame_0000000001.jpg, and {RETRIEVAL} if that is to be the validation split"
    )

    fps: Positive = 1.0
    """Frames a second of the folders; frame 1 is second 0."""

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        files = [self._root / YOUCOOK, self._root / RETRIEVAL]
        return {split: files for split in SUBSETS.values() if self._steps[split]}

    def _clips(self, split: str) -> Iterator[Clip]:
        for step in self._steps[split]:
            first = math.floor(step.start * self.fps) + 1
            yield Clip(step.video_id, step.text, {}, first, max(first, math.floor(step.end * self.fps)))

    @cached_property
    def _steps(self) -> dict[str, list[Step]]:
        retrieval = self._root / RETRIEVAL
        if retrieval.is_file() and not (self._root / YOUCOOK).is_file():
            return {"train": [], "validation": read_clips(retrieval)}
        file = require_file(self._root / YOUCOOK, self._layout)
        steps: dict[str, list[Step]] = {split: [] for split in SUBSETS.values()}
        try:
            for video, entry in read_json(file)["database"].items():
                if entry["subset"] in SUBSETS:
                    own = [
                        _step(f"{file}, {video}", video, start, end, step["sentence"])
                        for step in entry["annotations"]
                        for start, end in [step["segment"]]
                    ]
                    steps[SUBSETS[entry["subset"]]] += own
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            layout = "a database of videos with subset and annotations (segment, sentence)"
            raise UsageError(f"{file}: not YouCook2's annotations, {layout}: {error}.") from error
        return {**steps, "validation": read_clips(retrieval)} if retrieval.is_file() else steps


def read_clips(file: Path | str) -> list[Step]:
    """The clips in the file's order, a caption each. Some captions stand at several clips, and one clip has two."""
    rows = enumerate(read_csv(Path(file), CLIP_COLUMNS, "clips"), start=2)
    return [_step(f"{file}, row {n}", row["video_id"], row["start"], row["end"], row["text"]) for n, row in rows]


def _step(where: str, video: str, start: str | float, end: str | float, text: str) -> Step:
    try:
        first, last = float(start), float(end)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where}: start and end must be seconds: {error}.") from error
    if not 0 <= first < last < math.inf:
        raise UsageError(f"{where}: a clip cannot run from {first:g} to {last:g} seconds.")
    if not (video.strip() and text.strip()):
        raise UsageError(f"{where}: the video or its caption is empty.")
    return Step(video, first, last, text)
