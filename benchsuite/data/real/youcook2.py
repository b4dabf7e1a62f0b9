"""YouCook2: the steps of cooking videos, from frames and the official annotations."""

import json
import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.readers.csv_files import read_csv
from benchsuite.data.readers.files import read_text, require_file
from benchsuite.data.readers.listing import Listing
from benchsuite.data.readers.videos import Span, Videos
from benchsuite.errors import UsageError
from benchsuite.fields import Positive
from benchsuite.registry import register_dataset

ANNOTATIONS = "youcookii_annotations_trainval.json"
RETRIEVAL = "validation_youcook.csv"
COLUMNS = ("video_id", "start", "end", "text")
"""Of the CSV."""
SUBSETS: Mapping[str, str] = {"training": "train", "validation": "validation"}
"""The split of each subset in the annotations."""


class Clip(NamedTuple):
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

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SUBSETS.values() if self._clips[split]}

    def _sources(self) -> Mapping[str, Path]:
        return {name: file for name in (ANNOTATIONS, RETRIEVAL) if (file := self._root / name).is_file()}

    def _list(self, split: str) -> Listing:
        clips = self._clips[split]
        return Listing(self._source([self._span(clip) for clip in clips]), [[clip.text] for clip in clips])

    def _span(self, clip: Clip) -> Span:
        first = math.floor(clip.start * self.fps) + 1
        return Span(clip.video_id, first, max(first, math.floor(clip.end * self.fps)))

    @cached_property
    def _clips(self) -> dict[str, list[Clip]]:
        retrieval = self._root / RETRIEVAL
        if retrieval.is_file() and not (self._root / ANNOTATIONS).is_file():
            return {"train": [], "validation": read_clips(retrieval)}
        file = require_file(self._root / ANNOTATIONS, self._layout)
        clips: dict[str, list[Clip]] = {split: [] for split in SUBSETS.values()}
        try:
            for video, entry in json.loads(read_text(file))["database"].items():
                if entry["subset"] in SUBSETS:
                    steps = [_clip(video, step["segment"], step["sentence"]) for step in entry["annotations"]]
                    clips[SUBSETS[entry["subset"]]] += steps
        except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            layout = "a database of videos with subset and annotations (segment, sentence)"
            raise UsageError(f"{file}: not YouCook2's annotations, {layout}: {error}.") from error
        return {**clips, "validation": read_clips(retrieval)} if retrieval.is_file() else clips


def read_clips(file: Path | str) -> list[Clip]:
    """The clips in the file's order, a caption each. Some captions stand at several clips, and one clip has two."""
    path = Path(file)
    rows = read_csv(path, COLUMNS, "clips")
    clips = [_clip_in_row(path, number, row) for number, row in enumerate(rows, start=2)]
    seen: dict[Clip, int] = {}
    for number, clip in enumerate(clips, start=2):
        if (before := seen.setdefault(clip, number)) != number:
            raise UsageError(f"{path}, row {number}: the clip of row {before} again.")
    return clips


def _clip_in_row(path: Path, number: int, row: dict[str, str]) -> Clip:
    for field in ("video_id", "text"):
        if not (row[field] or "").strip():
            raise UsageError(f'{path}, row {number}: "{field}" is empty.')
    try:
        start, end = float(row["start"]), float(row["end"])
    except (TypeError, ValueError) as error:
        raise UsageError(f"{path}, row {number}: start and end must be seconds: {error}.") from error
    if not 0 <= start < end < float("inf"):
        raise UsageError(f"{path}, row {number}: a clip cannot run from {start:g} to {end:g} seconds.")
    return Clip(row["video_id"], start, end, row["text"])


def _clip(video: str, segment: list[float], sentence: str) -> Clip:
    start, end = segment
    if not (0 <= start < end and sentence.strip()):
        raise ValueError(f"{video}: a step from {start} to {end} seconds with the sentence {sentence!r}")
    return Clip(video, float(start), float(end), sentence)
