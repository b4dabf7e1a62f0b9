"""When a training is saved, and from where it goes on."""

import json
import math
import shutil
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from benchsuite.errors import Interrupted, UsageError
from benchsuite.files import BusyError, locked, reason_of, write_whole
from benchsuite.records.checkpoints import (
    EVERY,
    Every,
    Marker,
    StoredCheckpoint,
    checkpoints_in,
    complete,
    damage,
    draft,
    keep_only,
    place,
    read_marker,
)
from benchsuite.records.schema import Resumption
from benchsuite.training.checkpoint_files import read_files, write_files
from benchsuite.training.curves import Curves, Meter
from benchsuite.training.distributed import gathered, largest, rank, same, world_size
from benchsuite.training.stopping import Asked

PROGRESS = "progress.json"
LOCK = "lock"
LOCK_SECONDS = 10
"""How long to wait for a process that trains the same run: a killed one takes a moment to die."""
WORTH_SECONDS = 10
"""A shorter training is not saved when it is asked to stop, unless a number of steps was given."""
LIBRARIES = ("torch", "deepspeed", "timm", "transformers", "numpy")
PACKAGE = Path(__file__).parents[1]
CODE = ("training/*.py", "models/*.py", "data/**/*.py", "methods/*.py", "objectives/*.py", "streams.py")
"""What trains, beside a plugin's own file. A run's identity has its method's version and no code, since an edit that
changes no value outdates no record; half a training does not go on with edited code."""
NOTHING, SAVE, STOP = range(3)


@dataclass(frozen=True)
class Checkpoints:
    """Where a training is saved, whose it is, how often, and who hears of what goes wrong with it."""

    folder: Path
    run: str
    every: Every = EVERY
    note: Callable[[str], None] = lambda text: None


class Saver:
    """Saves a training now and then and when it is asked to stop, and goes on from the last checkpoint.

    Entered for the time of the training. All processes call it alike.
    """

    def __init__(
        self,
        checkpoints: Checkpoints,
        engine: Any,
        curves: Curves,
        meter: Meter,
        steps: int,
        digests: Mapping[str, str],
        skipped: dict[int, str],
    ) -> None:
        """`skipped`: rows whose pictures are bad, as this process met them so far; those of before are added to it."""
        self._to, self._engine, self._curves, self._meter, self._steps = checkpoints, engine, curves, meter, steps
        self._digests, self._skipped = dict(digests), skipped
        self._asked, self._stack = Asked(), ExitStack()
        self._locked = False
        self._good: Path | None = None
        """The last checkpoint that was written or read."""
        self._full = False
        """Whether the last one could not be written, and that was said."""
        self._last = time.monotonic()
        self.resumptions: list[Resumption] = []

    def __enter__(self) -> Self:
        self._stack.enter_context(self._asked.listening())
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def resume(self) -> int:
        """The step to begin with: that of the last checkpoint that is sound and of this training, or 0."""
        if not same(self._to.folder.is_dir()):
            return 0
        if problem := same(self._take_lock(LOCK_SECONDS) if rank() == 0 else ""):
            self._note(f"its checkpoints are left alone: {problem}; starts at step 0")
            return 0
        problems: list[str] = []
        for checkpoint in same(checkpoints_in(self._to.folder)):
            marker, problem = self._read(checkpoint)
            if marker:
                self._restore(checkpoint, marker)
                where = f"goes on from step {marker.step} of {self._steps}"
                self._note("; ".join([*problems, where]))
                return marker.step
            problems.append(f"checkpoint {checkpoint.name} {problem}")
        if problems:
            self._note("; ".join([*problems, "starts at step 0"]))
        return 0

    def after(self, done: int) -> None:
        """Called after each step: save if it is time, stop if that was asked for."""
        wanted = largest(self._wanted(done), self._engine.device)
        if wanted == SAVE:
            self._try_to_save(done)
        elif wanted == STOP:
            self._stop(done)

    def finish(self) -> None:
        """Called after the last step: a training that has checkpoints need not be repeated if its evaluation fails."""
        if self._good and self._good != place(self._to.folder, self._steps):
            self._try_to_save(self._steps)

    def _wanted(self, done: int) -> int:
        if self._asked.by:
            return STOP
        every = self._to.every
        timed = every.minutes is not None and rank() == 0
        due = timed and time.monotonic() - self._last >= 60 * (every.minutes or 0)
        return SAVE if done < self._steps and (due or (every.steps and done % every.steps == 0)) else NOTHING

    def _stop(self, done: int) -> None:
        seconds = time.monotonic() - self._last
        worth = largest(seconds >= WORTH_SECONDS or self._to.every.steps is not None, self._engine.device)
        problem = self._save(done) if worth else f"the last {math.ceil(seconds)} s of training are not worth it"
        state = f"is not saved: {problem}" if problem else "is saved"
        by = f" by {self._asked.by}" if self._asked.by else ""
        raise Interrupted(f"stopped{by} after step {done} of {self._steps}; it {state}. The same command continues.")

    def _try_to_save(self, done: int) -> None:
        problem = self._save(done)
        self._last = time.monotonic()
        if problem and not self._full:
            kept = f"the last good one, {self._good.name}, stays" if self._good else "there is none yet"
            self._note(f"checkpoint of step {done} not written: {problem}; {kept}, the training goes on")
        self._full = bool(problem)

    def _save(self, done: int) -> str:
        """Write a checkpoint; returns why it could not be, or nothing."""
        folder = self._to.folder
        if problem := same(self._prepare(done) if rank() == 0 else ""):
            return problem
        written = gathered(write_files(self._engine, draft(folder, done)))
        files = {name: stored for part, _ in written for name, stored in part.items()}
        problem = next((problem for _, problem in written if problem), "")
        skipped = {row: why for part in gathered(dict(self._skipped)) for row, why in part.items()}
        if rank() == 0:
            try:
                if not problem:
                    files[PROGRESS] = self._write_progress(draft(folder, done) / PROGRESS, skipped)
                    marker = Marker(step=done, processes=world_size(), identity=self._identity(), files=files)
                    final = complete(folder, marker)
                    keep_only(folder, {final, self._good} - {None})  # type: ignore[arg-type]
            except OSError as error:
                problem = reason_of(error)
            if problem:
                shutil.rmtree(draft(folder, done), ignore_errors=True)
        problem = same(problem)
        if not problem:
            self._good = place(folder, done)
        return problem

    def _prepare(self, done: int) -> str:
        """An empty folder for the draft; what a killed process left in it would become part of the checkpoint."""
        try:
            self._to.folder.mkdir(parents=True, exist_ok=True)
            if problem := self._take_lock(0):
                return problem
            shutil.rmtree(draft(self._to.folder, done), ignore_errors=True)
            draft(self._to.folder, done).mkdir()
        except OSError as error:
            return reason_of(error)
        return ""

    def _write_progress(self, file: Path, skipped: Mapping[int, str]) -> StoredCheckpoint:
        content = json.dumps(
            {
                "curves": self._curves.points,
                "cost": self._meter.spent(),
                "skipped": list(skipped.items()),
                "resumptions": [resumption.model_dump() for resumption in self.resumptions],
            }
        ).encode()
        write_whole(file, content)
        return StoredCheckpoint(size=len(content), sha256=sha256(content).hexdigest())

    def _read(self, checkpoint: Path) -> tuple[Marker | None, str]:
        """The marker of a checkpoint that can be used, or what is wrong with it."""
        found: Marker | str = ""
        if rank() == 0:
            try:
                found = read_marker(checkpoint)
                identity = self._identity()
                if other := [
                    name for name in {**identity, **found.identity} if found.identity.get(name) != identity.get(name)
                ]:
                    found = f"is ignored: its {', '.join(other)} is another"
            except ValueError as error:
                found = f"is damaged: {error}"
        found = same(found)
        if isinstance(found, str):
            return None, found
        mine = dict(list(found.files.items())[rank() :: world_size()])
        if broken := next(filter(None, gathered(damage(checkpoint, mine))), ""):
            return None, f"is damaged: {broken}"
        return found, ""

    def _restore(self, checkpoint: Path, marker: Marker) -> None:
        read_files(self._engine, checkpoint, marker.processes)
        progress = json.loads((checkpoint / PROGRESS).read_text("utf-8"))
        self._curves.points = progress["curves"]
        self._meter.add(progress["cost"])
        self._skipped.update((int(row), str(why)) for row, why in progress["skipped"])
        before = [Resumption.model_validate(resumption) for resumption in progress["resumptions"]]
        now = Resumption(step=marker.step, from_processes=marker.processes, to_processes=world_size())
        self.resumptions = [*before, now]
        self._good = checkpoint
        self._last = time.monotonic()

    def _identity(self) -> dict[str, str]:
        code = code_of(file for pattern in CODE for file in PACKAGE.glob(pattern))
        libraries = {name: version(name) for name in LIBRARIES}
        return {"run": self._to.run, "training code": code, **libraries, **self._digests}

    def _take_lock(self, seconds: float) -> str:
        """Why this run cannot be saved here, or nothing: another process saves it. Held until this one ends."""
        if not self._locked:
            try:
                self._stack.enter_context(locked(self._to.folder / LOCK, seconds))
            except BusyError:
                return "another process is training this run"
            except UsageError as error:
                return str(error)
            self._locked = True
        return ""

    def _note(self, text: str) -> None:
        if rank() == 0:
            self._to.note(text)


def code_of(files: Iterable[Path]) -> str:
    """Digest of the files' bytes."""
    return sha256(b"\0".join(file.read_bytes() for file in sorted(files))).hexdigest()[:16]
