"""What a command does its runs with: this machine's devices or a cluster's jobs, and the user's plugins."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchsuite.cli.cluster import ChosenCluster
from benchsuite.execution.devices import Devices
from benchsuite.execution.events import Event
from benchsuite.execution.pool import Pool
from benchsuite.execution.preflight import Checked, preflight
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import EVERY, Every, Saving
from benchsuite.records.store import Store


class Executor(Protocol):
    """Does runs: `Pool` on this machine, `Cluster` as jobs."""

    def execute(self, runs: Sequence[Run], planned: Sequence[Run]) -> Generator[Event, None, None]:
        """Do the runs and yield what happens. `planned`: they and those that were done before."""
        ...


@dataclass(frozen=True)
class Means:
    """As the options of `repro`, `run` and `tune` say."""

    devices: Devices
    """This machine's."""
    cluster: ChosenCluster | None = None
    """Where runs are jobs; then this machine's devices are not used."""
    plugins: Sequence[Path] = ()
    every: Every | None = EVERY
    """How often a long training is saved; None: never."""

    def executor(self, store: Store) -> Executor:
        """What does the runs."""
        if self.cluster:
            return self.cluster.executor(store.folder, self.plugins, self.every)
        return Pool(self.devices, store.logs, self.plugins, Saving(store.folder, self.every))

    def jobs_for(self, runs: Sequence[Run]) -> int:
        """How many of these runs are done at a time."""
        return self.cluster.jobs(len(runs)) if self.cluster else self.devices.jobs_for(runs)

    def check(self, runs: Sequence[Run], results: Path) -> Checked:
        """Check the runs before the first one starts."""
        elsewhere = self.cluster is not None
        return preflight(runs, results, self.jobs_for(runs), self.devices, elsewhere, self.every)
