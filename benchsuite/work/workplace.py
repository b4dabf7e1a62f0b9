"""Where a command's runs are done: on this machine's devices or as jobs of a cluster, with the user's plugins."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchsuite.cluster.options import ClusterOptions
from benchsuite.execution.devices import Devices
from benchsuite.execution.pool import Pool
from benchsuite.execution.preflight import Checked, preflight
from benchsuite.planning.plan import Run
from benchsuite.records.checkpoints import EVERY, Every, Saving
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.cluster.jobs import Cluster


@dataclass(frozen=True)
class Workplace:
    """As the options of a command say."""

    devices: Devices
    """This machine's."""
    cluster: ClusterOptions | None = None
    """What jobs ask of a cluster, where runs are jobs; then this machine's devices are not used."""
    max_jobs: int | None = None
    """Jobs of the cluster at a time; none: the cluster decides."""
    plugins: Sequence[Path] = ()
    every: Every | None = EVERY
    """How often a long training is saved; None: never."""

    def executor(self, store: Store) -> "Pool | Cluster":
        if self.cluster:
            from benchsuite.cluster.jobs import Cluster

            return Cluster(self.cluster, store.folder, self.plugins, self.max_jobs, self.every)
        return Pool(self.devices, store.logs, self.plugins, Saving(store.folder, self.every))

    def jobs_for(self, runs: Sequence[Run]) -> int:
        """How many of these runs are done at a time."""
        if self.cluster:
            return max(1, min(self.max_jobs or len(runs), len(runs)))
        return self.devices.jobs_for(runs)

    def check(self, runs: Sequence[Run], results: Path) -> Checked:
        """Check the runs before the first one starts."""
        elsewhere = self.cluster is not None
        return preflight(runs, results, self.jobs_for(runs), self.devices, elsewhere)
