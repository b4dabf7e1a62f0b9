"""YouCook2: the steps of cooking videos, from frames and the official annotations."""

import json
import math
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

from benchsuite.data.real.files import read_text, require_file
from benchsuite.data.real.listing import Listing
from benchsuite.data.real.videos import Span, Videos
from benchsuite.data.youcook2 import Clip, read_clips
from benchsuite.errors import UsageError
from benchsuite.fields import Positive
from benchsuite.registry import register_dataset

ANNOTATIONS = "youcookii_annotations_trainval.json"
RETRIEVAL = "validation_youcook.csv"
SUBSETS: Mapping[str, str] = {"train": "training", "validation": "validation"}


@register_dataset("youcook2", title="YouCook2", license="research only", download=True)
class YouCook2(Videos):
    """About 10,000 steps of cooking videos to train on and 3,500 to validate, each said in a sentence.

    Read from youcookii_annotations_trainval.json and frames/<video>/frame_0000000001.jpg, extracted at `fps` frames a
    second. Where validation_youcook.csv is there too, its 3,350 clips are the validation split.
    """

    _layout: ClassVar = (
        f"{ANNOTATIONS}, frames/<video>/frame_0000000001.jpg, and {RETRIEVAL} if that is to be the validation split"
    )

    fps: Positive = 1.0
    """Frames a second of the folders; frame 1 is second 0."""

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SUBSETS if self._clips(split)}

    def _read_from(self) -> Mapping[str, Path]:
        return {name: file for name in (ANNOTATIONS, RETRIEVAL) if (file := self._root / name).is_file()}

    def _list(self, split: str) -> Listing:
        clips = self._clips(split)
        return Listing(self._source([self._span(clip) for clip in clips]), [[clip.text] for clip in clips])

    def _span(self, clip: Clip) -> Span:
        first = math.floor(clip.start * self.fps) + 1
        return Span(clip.video_id, first, max(first, math.floor(clip.end * self.fps)))

    def _clips(self, split: str) -> list[Clip]:
        return self._all[split]

    @cached_property
    def _all(self) -> dict[str, list[Clip]]:
        there = self._root / RETRIEVAL
        if there.is_file() and not (self._root / ANNOTATIONS).is_file():
            return {"train": [], "validation": read_clips(there)}
        file = require_file(self._root / ANNOTATIONS, self._layout)
        found: dict[str, list[Clip]] = {split: [] for split in SUBSETS}
        names = {subset: split for split, subset in SUBSETS.items()}
        try:
            for video, told in json.loads(read_text(file))["database"].items():
                if told["subset"] in names:
                    clips = [_clip(video, step["segment"], step["sentence"]) for step in told["annotations"]]
                    found[names[told["subset"]]] += clips
        except (json.JSONDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
            what = "a database of videos with subset and annotations (segment, sentence)"
            raise UsageError(f"{file}: not YouCook2's annotations, {what}: {error}.") from error
        return {**found, "validation": read_clips(there)} if there.is_file() else found


def _clip(video: str, segment: list[float], sentence: str) -> Clip:
    start, end = segment
    if not (0 <= start < end and sentence.strip()):
        raise ValueError(f"{video}: a step from {start} to {end} seconds that says {sentence!r}")
    return Clip(video, float(start), float(end), sentence)
