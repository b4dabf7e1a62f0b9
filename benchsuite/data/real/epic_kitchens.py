"""EPIC-KITCHENS-100 as its multi-instance retrieval has it: narrated actions with classes of verbs and nouns."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from benchsuite.data.readers.csv_files import read_csv
from benchsuite.data.readers.listing import Listing
from benchsuite.data.readers.videos import Span, Videos
from benchsuite.errors import UsageError
from benchsuite.registry import register_dataset

SPLITS = ("train", "test")
FOLDERS = ("", "annotations", "retrieval_annotations", "epic-kitchens-100-annotations/retrieval_annotations")
NUMBERS = ("start_frame", "stop_frame", "verb_class", "noun_class")
FIELDS = ("narration_id", "video_id", "narration", "all_noun_classes", *NUMBERS)
NOUNS = 300
"""Classes of nouns: verb and noun as one class is verb * 300 + noun."""


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
    _folders: ClassVar = ("frames/{video}", "{participant}/rgb_frames/{video}", "rgb_frames/{video}", "{video}")

    def _splits(self) -> Mapping[str, Callable[[], Listing]]:
        return {split: partial(self._list, split) for split in SPLITS if self._file(split)}

    def _sources(self) -> Mapping[str, Path]:
        return {split: file for split in self._chosen if (file := self._file(split))}

    def _list(self, split: str) -> Listing:
        file = self._file(split)
        assert file is not None, "only splits that are there are listed"
        rows = read_csv(file, FIELDS, "clips")
        start, stop, verb, noun = (_numbers(file, rows, field) for field in NUMBERS)
        if (wrong := np.flatnonzero((start < 1) | (stop < start))).size:
            i = int(wrong[0])
            raise UsageError(f"{file}, row {i + 2}: a clip cannot run from frame {start[i]} to {stop[i]}.")
        spans = [Span(row["video_id"], int(a), int(b)) for row, a, b in zip(rows, start, stop, strict=True)]
        sets = [_noun_classes(file, i, row["all_noun_classes"]) for i, row in enumerate(rows)]
        nouns = np.full((len(rows), max(map(len, sets))), -1, np.int64)
        for i, classes in enumerate(sets):
            nouns[i, : len(classes)] = classes
        labels = {"verb": verb, "noun": noun, "verb_noun": verb * NOUNS + noun, "nouns": nouns}
        return Listing(self._source(spans), [[row["narration"]] for row in rows], labels=labels)

    def _file(self, split: str) -> Path | None:
        files = (self._root / folder / f"EPIC_100_retrieval_{split}.csv" for folder in FOLDERS)
        return next((file for file in files if file.is_file()), None)


def _numbers(file: Path, rows: list[dict[str, str]], field: str) -> np.ndarray:
    for i, row in enumerate(rows):
        if not (row[field] or "").strip().isdigit():
            raise UsageError(f'{file}, row {i + 2}: {field} "{row[field]}" is not a whole number.')
    return np.array([int(row[field]) for row in rows], np.int64)


def _noun_classes(file: Path, row: int, text: str) -> list[int]:
    try:
        classes = json.loads(text or "")
    except json.JSONDecodeError:
        classes = None
    if not (isinstance(classes, list) and classes and all(type(n) is int and n >= 0 for n in classes)):
        raise UsageError(f'{file}, row {row + 2}: all_noun_classes "{text}" is not a list of classes such as [2, 13].')
    return sorted(set(classes))
