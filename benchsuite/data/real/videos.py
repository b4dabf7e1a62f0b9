"""Clips from folders of frames: a folder a video, a file a frame, a few frames spread over each clip."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.real.listing import Listed, size_of
from benchsuite.data.real.pictures import Fit, LazyArray, LazyClips
from benchsuite.errors import UsageError
from benchsuite.fields import Count

KINDS = (".jpg", ".jpeg", ".png")


class Span(NamedTuple):
    """Frames `first` to `last` of a video, counted as its files are; all of them if there is no last one."""

    video: str
    first: int = 0
    last: int | None = None


@dataclass(frozen=True)
class Frames:
    """Clips whose frames are files: `place` is a video's folder under the root, `pattern` a frame's name in it."""

    root: Path
    place: str
    pattern: str
    spans: Sequence[Span]
    frames: int

    def __len__(self) -> int:
        return len(self.spans)

    def files(self, i: int) -> list[Path]:
        """The frames of clip i that are looked at."""
        span = self.spans[i]
        folder = self.root / placed(self.place, span.video)
        if span.last is not None:
            return [folder / self.pattern.format(n) for n in spread(span.first, span.last, self.frames)]
        try:
            names = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in KINDS)
        except OSError as error:
            raise UsageError(f"{folder}: no such folder of frames, but video {span.video} is listed.") from error
        if not names:
            raise UsageError(f"{folder}: there is no frame of video {span.video} in it.")
        return [folder / names[n] for n in spread(0, len(names) - 1, self.frames)]

    def mark(self, i: int) -> str:
        """Names and sizes of the frames that are looked at, under their video: what is digested of clip i."""
        sizes = [f"{file.name} {size_of(file)}" for file in self.files(i)]
        return "\0".join([self.spans[i].video, *sizes])

    def array(self, size: int, fit: Fit) -> LazyArray:
        """The clips, decoded when asked for."""
        return LazyClips(len(self), self.frames, size, self.files, fit)


class Videos(Listed):
    """Base of datasets of clips."""

    shows: ClassVar = "clips"
    _places: ClassVar[Sequence[str]] = ("frames/{video}", "{video}")
    """Where a video's folder may be."""

    frames: Count = 16
    """How many frames of a clip are looked at: the middles of as many equal stretches."""
    pattern: str = "frame_{:010d}.jpg"
    """Name of a frame's file, with its number from 1 on."""

    def _source(self, spans: Sequence[Span]) -> Frames:
        first = spans[0].video
        place = next((p for p in self._places if (self._root / placed(p, first)).is_dir()), None)
        if place is None:
            tried = " or ".join(str(self._root / placed(p, first)) for p in self._places)
            raise UsageError(f"{tried}: no such folder of frames, but video {first} is listed.")
        return Frames(self._root, place, self.pattern, spans, self.frames)


def placed(place: str, video: str) -> str:
    """A video's folder; EPIC-KITCHENS has it under the participant, P01 of P01_11."""
    return place.format(video=video, participant=video.partition("_")[0])


def spread(first: int, last: int, count: int) -> list[int]:
    """The middles of `count` equal stretches of first..last; where there are fewer frames, some of them again."""
    length = last - first + 1
    return [first + (2 * k + 1) * length // (2 * count) for k in range(count)]
