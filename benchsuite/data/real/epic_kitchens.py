"""EPIC-KITCHENS-100 as its multi-instance retrieval has it: narrated actions with classes of verbs and nouns."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from benchsuite.data.readers.index import Ids
from benchsuite.data.readers.tables import read_csv, whole_number, whole_numbers
from benchsuite.data.readers.videos import Clip, Videos
from benchsuite.errors import UsageError
from benchsuite.registry import register_dataset

SPLITS = ("train", "test")
FOLDERS = ("epic-kitchens-100-annotations/retrieval_annotations", "retrieval_annotations", "annotations", "")
"""Where annotations may be. The last one that has a file counts."""
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
    _folders: ClassVar = ("frames", "{participant}/rgb_frames", "rgb_frames", "")

    def _splits(self) -> Mapping[str, Sequence[Path]]:
        names = {split: f"EPIC_100_retrieval_{split}.csv" for split in SPLITS}
        places = ((split, self._root / folder / name) for split, name in names.items() for folder in FOLDERS)
        return {split: [file] for split, file in places if file.is_file()}

    def _clips(self, split: str) -> Iterator[Clip]:
        (file,) = self._chosen[split]
        for line, row in enumerate(read_csv(file, FIELDS, "clips"), start=2):
            where = f"{file}, row {line}"
            start, stop, verb, noun = (whole_number(where, field, row) for field in NUMBERS)
            if start < 1 or stop < start:
                raise UsageError(f"{where}: a clip cannot run from frame {start} to {stop}.")
            nouns = sorted(set(whole_numbers(where, "all_noun_classes", row)))
            labels: dict[str, Ids] = {"verb": verb, "noun": noun, "verb_noun": verb * NOUNS + noun, "nouns": nouns}
            yield Clip(row["video_id"], row["narration"], labels, start, stop)
