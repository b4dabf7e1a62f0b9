"""Clips from folders of frames: a folder a video, a file a frame, a few frames sampled from each clip."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from benchsuite.data.readers.index import Ids, Item
from benchsuite.data.readers.listing import Listed, listed
from benchsuite.errors import UsageError
from benchsuite.fields import Count

KINDS = (".jpg", ".jpeg", ".png")


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
            names = sorted(file.name for file in folder.iterdir() if file.suffix.lower() in KINDS)
        except OSError as error:
            raise UsageError(f"{folder}: no such folder of frames, but video {clip.video} is listed.") from error
        if not names:
            raise UsageError(f"{folder}: there is no frame of video {clip.video} in it.")
        return [names[n] for n in spread(0, len(names) - 1, self.frames)]


def spread(first: int, last: int, count: int) -> list[int]:
    """The middles of `count` equal segments of first..last; where there are fewer frames, some are repeated."""
    length = last - first + 1
    return [first + (2 * k + 1) * length // (2 * count) for k in range(count)]
