"""How runs are carried out on this machine: nothing here is part of a setup or of any identity.

The command line sets these once; every process that it starts, here or on a cluster, finds them in its environment.
"""

import os
import sys
from dataclasses import dataclass
from typing import Literal, get_args

from benchsuite.errors import UsageError

WORKERS = "BENCHSUITE_WORKERS"
SKIP_BAD_PICTURES = "BENCHSUITE_SKIP_BAD_PICTURES"
ACTIVATIONS = "BENCHSUITE_ACTIVATIONS"
TRACK = "BENCHSUITE_TRACK"
TRACK_FOLDER = "BENCHSUITE_TRACK_DIR"
Way = Literal["tensorboard", "wandb", "trackio", "csv"]
"""Where the curves of runs can be watched."""
Activations = Literal["kept", "blocks"]
"""What a forward pass keeps for the backward pass: everything, or the inputs of the towers' blocks."""


@dataclass(frozen=True)
class Running:
    """Choices of a machine, or of whoever runs on it."""

    workers: int | None = None
    """Processes that read the next batches ahead, for each training process; none: as the data ask for."""
    skip_bad_pictures: bool = False
    """Whether a training pair whose picture cannot be decoded is replaced, and counted in the record."""
    activations: str = ""
    """What forward passes keep; empty: everything, but of several shares on a GPU, or three on a CPU, nothing."""
    track: str = ""
    """In which way the curves of runs can be watched; in none if empty."""
    track_folder: str = "tracking"
    """Where the folders of the watched runs are."""

    def environment(self) -> dict[str, str]:
        """As variables; what is not chosen has none."""
        chosen = {} if self.workers is None else {WORKERS: str(self.workers)}
        chosen |= {SKIP_BAD_PICTURES: "1"} if self.skip_bad_pictures else {}
        chosen |= {ACTIVATIONS: self.activations} if self.activations else {}
        return chosen | ({TRACK: self.track, TRACK_FOLDER: self.track_folder} if self.track else {})

    def set(self) -> None:
        """For this process and all that it starts."""
        os.environ.update(self.environment())


def running() -> Running:
    """What the environment says."""
    given = os.environ
    workers = given.get(WORKERS, "")
    if workers and not workers.isdecimal():
        raise UsageError(f'{WORKERS}="{workers}": it must be a number of processes, 0 or more.')
    for name, known in ((TRACK, get_args(Way)), (ACTIVATIONS, get_args(Activations))):
        if (chosen := given.get(name)) and chosen not in known:
            raise UsageError(f'{name}="{chosen}": it must be one of {", ".join(known)}.')
    return Running(
        int(workers) if workers else None,
        given.get(SKIP_BAD_PICTURES, "") == "1",
        given.get(ACTIVATIONS, ""),
        given.get(TRACK, ""),
        given.get(TRACK_FOLDER, Running.track_folder),
    )


def require_trainable_here() -> None:
    """Refuse training where signals, file locks and DeepSpeed are not what it needs: on Windows."""
    if sys.platform == "win32":
        raise UsageError(
            "training needs Linux or macOS: on Windows, use WSL (https://learn.microsoft.com/windows/wsl). Commands "
            "that read results work here: list, verify, report, export, claims, diff."
        )
