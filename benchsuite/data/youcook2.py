"""YouCook2's validation clips and captions, from the CSV that text-to-video retrieval is measured on."""

from pathlib import Path
from typing import NamedTuple

from benchsuite.data.csv_files import read_csv
from benchsuite.errors import UsageError

FIELDS = ("video_id", "start", "end", "text")


class Clip(NamedTuple):
    """Seconds `start` to `end` of a video, and what is said of them."""

    video_id: str
    start: float
    end: float
    text: str


def read_clips(file: Path | str) -> list[Clip]:
    """The clips in the file's order, a caption each. Some captions stand at several clips, and one clip has two."""
    path = Path(file)
    rows = read_csv(path, FIELDS, "clips")
    clips = [_clip(path, number, row) for number, row in enumerate(rows, start=2)]
    seen: dict[Clip, int] = {}
    for number, clip in enumerate(clips, start=2):
        if (before := seen.setdefault(clip, number)) != number:
            raise UsageError(f"{path}, row {number}: the clip of row {before} again.")
    return clips


def _clip(path: Path, number: int, row: dict[str, str]) -> Clip:
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
