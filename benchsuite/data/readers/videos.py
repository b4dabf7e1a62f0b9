"""Clips from folders of frames: a folder a video, a file a frame, a few frames sampled from each clip."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.readers.images import Fit, LazyArray, LazyClips
from benchsuite.data.readers.listing import Listed, size_of
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
    """Clips whose frames are files: `folder` is a video's folder under the root, `pattern` a frame's name in it."""

    root: Path
    folder: str
    pattern: str
    spans: Sequence[Span]
    frames: int

    def __len__(self) -> int:
        return len(self.spans)

    def files(self, i: int) -> list[Path]:
        """The sampled frames of clip i."""
        span = self.spans[i]
        folder = self.root / folder_of(self.folder, span.video)
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
        """The video, and names and sizes of the sampled frames: what is digested of clip i."""
        sizes = [f"{file.name} {size_of(file)}" for file in self.files(i)]
        return "\0".join([self.spans[i].video, *sizes])

    def array(self, size: int, fit: Fit) -> LazyArray:
        """The clips, decoded when asked for."""
        return LazyClips(len(self), self.frames, size, self.files, fit)


class Videos(Listed):
    """Base of data sets of clips."""

    shows: ClassVar = "clips"
    _folders: ClassVar[Sequence[str]] = ("frames/{video}", "{video}")
    """Where a video's folder may be."""

    frames: Count = 16
    """How many frames of a clip are sampled: the middles of as many equal segments."""
    pattern: str = "frame_{:010d}.jpg"
    """Name of a frame's file, with its number from 1 on."""

    def _source(self, spans: Sequence[Span]) -> Frames:
        first = spans[0].video
        folder = next((folder for folder in self._folders if (self._root / folder_of(folder, first)).is_dir()), None)
        if folder is None:
            tried = " or ".join(str(self._root / folder_of(folder, first)) for folder in self._folders)
            raise UsageError(f"{tried}: no such folder of frames, but video {first} is listed.")
        return Frames(self._root, folder, self.pattern, spans, self.frames)


def folder_of(folder: str, video: str) -> str:
    """A video's folder; EPIC-KITCHENS has it under the participant, P01 of P01_11."""
    return folder.format(video=video, participant=video.partition("_")[0])


def spread(first: int, last: int, count: int) -> list[int]:
    """The middles of `count` equal segments of first..last; where there are fewer frames, some are repeated."""
    length = last - first + 1
    return [first + (2 * k + 1) * length // (2 * count) for k in range(count)]
