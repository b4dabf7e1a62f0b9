"""What a command computes on, and how its runs share it: GPUs, or processes on the CPU.

A setup for W processes says how many equal shares a batch has. How many real processes compute the shares follows from
the devices: W, or fewer that divide W, each with several shares. Records are equal beyond rounding.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from benchsuite.errors import UsageError
from benchsuite.planning.plan import Run

VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Devices:
    """The devices of a command, and how many runs at a time the user asked for."""

    count: int
    gpus: tuple[str, ...] = ()
    """As CUDA_VISIBLE_DEVICES names them; none where runs compute on the CPU."""
    stated: bool = False
    """Whether the user gave the number."""
    jobs: int | None = None
    """None: as many as have devices of their own."""

    @classmethod
    def here(cls, asked: int | None = None, jobs: int | None = None) -> "Devices":
        """Those of this machine: all GPUs, or a CPU process for each core, unless a number is asked for."""
        found = torch.cuda.device_count() if torch.cuda.is_available() else 0
        named = [name.strip() for name in os.environ.get(VISIBLE, "").split(",") if name.strip()]
        gpus = tuple((named or [str(number) for number in range(found)])[:found])  # as CUDA_VISIBLE_DEVICES names them
        if gpus and asked and asked > len(gpus):
            raise UsageError(f"--devices {asked}: this machine has {len(gpus)} GPU{'s' * (len(gpus) > 1)}.")
        count = asked or len(gpus) or os.cpu_count() or 1
        return cls(count, gpus[:count], asked is not None, jobs)

    @property
    def own(self) -> int:
        """How many devices one run may have."""
        return max(1, self.count // self.jobs) if self.jobs else self.count

    def problem(self, shares: int) -> str:
        """Why runs of a setup for so many processes cannot have the stated devices; "" if they can."""
        if not self.stated or shares % min(self.own, shares) == 0:
            return ""
        able = ", ".join(str(n) for n in range(1, shares + 1) if shares % n == 0)
        return (
            f"the setup is for {shares} processes, and {self.own} devices cannot take equal numbers of their shares of "
            f"a batch. Give --devices one of {able}. (Another training.processes would be another setup.)"
        )

    def processes(self, shares: int) -> int:
        """How many processes do a run of a setup for so many."""
        if problem := self.problem(shares):
            raise UsageError(problem)
        return next(n for n in range(min(self.own, shares), 0, -1) if shares % n == 0)

    def at_a_time(self, processes: int, runs: int) -> int:
        """How many of these runs, each of so many processes, are done at a time."""
        return max(1, min(self.jobs or self.count // processes, runs))

    def jobs_for(self, runs: Iterable[Run]) -> int:
        """How many of these runs are done at a time; the smallest number if they are of several sizes."""
        sizes = [run.setup.training.processes for run in runs]
        able = [self.at_a_time(self.processes(n), sizes.count(n)) for n in set(sizes) if not self.problem(n)]
        return min(able, default=1)

    def environment(self, slot: int, processes: int) -> dict[str, str]:
        """What the processes of a run see: the GPUs of its own, as far as there are enough."""
        if not self.gpus:
            return {}
        first = slot * processes
        return {VISIBLE: ",".join(self.gpus[(first + i) % len(self.gpus)] for i in range(processes))}
