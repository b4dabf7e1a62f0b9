"""YouCook2: the steps of cooking videos, from frames and the official annotations."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.readers.files import read_json, require_file
from benchsuite.data.readers.tables import read_csv
from benchsuite.data.readers.videos import Clip, Videos
from benchsuite.errors import UsageError
from benchsuite.fields import Positive
from benchsuite.registry import register_dataset

ANNOTATIONS = "youcookii_annotations_trainval.json"
RETRIEVAL = "validation_youcook.csv"
COLUMNS = ("video_id", "start", "end", "text")
"""Of the CSV."""
SUBSETS: Mapping[str, str] = {"training": "train", "validation": "validation"}
"""The split of each subset in the annotations."""


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
        f"{ANNOTATIONS}, frames/<video>/frame_0000000001.jpg, and {RETRIEVAL} if that is to be the validation split"
    )

    fps: Positive = 1.0
    """Frames a second of the folders; frame 1 is second 0."""

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        files = [self._root / ANNOTATIONS, self._root / RETRIEVAL]
        return {split: files for split in SUBSETS.values() if self._steps[split]}

    def _clips(self, split: str) -> Iterator[Clip]:
        for step in self._steps[split]:
            first = math.floor(step.start * self.fps) + 1
            yield Clip(step.video_id, step.text, {}, first, max(first, math.floor(step.end * self.fps)))

    @cached_property
    def _steps(self) -> dict[str, list[Step]]:
        retrieval = self._root / RETRIEVAL
        if retrieval.is_file() and not (self._root / ANNOTATIONS).is_file():
            return {"train": [], "validation": read_clips(retrieval)}
        file = require_file(self._root / ANNOTATIONS, self._layout)
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
    rows = enumerate(read_csv(Path(file), COLUMNS, "clips"), start=2)
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
