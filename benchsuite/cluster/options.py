"""What jobs ask of a SLURM cluster: from a TOML file, from options of the command line, or both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from annotated_types import Ge
from pydantic import ValidationError, field_validator

from benchsuite.errors import UnknownError, UsageError
from benchsuite.fields import Count, first_reason
from benchsuite.parts import Part
from benchsuite.setup import Setup
from benchsuite.toml_files import read_toml

OWN = frozenset(
    {"array", "error", "job-name", "nodes", "ntasks", "ntasks-per-node", "open-mode", "output", "signal", "wait"}
)
"""Options of sbatch that follow from the runs."""
SBATCH = "sbatch."


class ClusterOptions(Part):
    """What each job asks for. What is not given is left to the cluster."""

    partition: str | None = None
    """Partition, or several with commas."""
    account: str | None = None
    """Account to charge."""
    qos: str | None = None
    """Quality of service."""
    gpus_per_node: Annotated[int, Ge(0)] = 0
    """GPUs of a node; 0 for processes on CPUs."""
    processes_per_node: Count | None = None
    """Largest number of processes on a node. Default: one per GPU; on CPUs all on one node."""
    cpus_per_task: Count = 1
    """CPUs, and threads, of each process."""
    memory: str | None = None
    """Memory of a node, such as "64G"."""
    time: str | Count | None = None
    """Time limit of a job, as sbatch takes it: minutes, "1:30:00" or "2-12:00:00"."""
    signal_seconds: Count = 90
    """How long before the time limit a job is told to save its checkpoint and asks to be queued again."""
    setup: tuple[str, ...] = ()
    """Shell commands before the processes start, such as "module load cuda"."""
    sbatch: Mapping[str, str | int | bool] = {}
    """Other options of sbatch, by their long names."""

    @field_validator("sbatch")
    @classmethod
    def _not_ours(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        given = {name.replace("_", "-"): option for name, option in value.items()}
        known = {"partition", "account", "qos", "gpus-per-node", "cpus-per-task", "time"} & set(given)
        if known:
            raise ValueError(f"{', '.join(sorted(known))}: give it without sbatch")
        if taken := sorted(OWN & set(given)):
            raise ValueError(f"{', '.join(taken)}: follows from the runs and cannot be set")
        return given

    def notes(self, setups: Sequence[Setup]) -> Iterator[str]:
        """What jobs of these setups lack, though nothing refuses it."""
        if not self.gpus_per_node and any(setup.training.precision == "bf16" for setup in setups):
            yield "jobs compute on CPUs, and these recipes are for GPUs: add --cluster-option gpus_per_node=8"
        if self.gpus_per_node and self.cpus_per_task == 1:
            yield "each process has one CPU, and decodes its pictures itself: add --cluster-option cpus_per_task=12"

    def layout(self, setup: Setup) -> "Layout":
        """Nodes and processes on each of them. All nodes have the same number of processes."""
        processes = setup.training.processes
        largest = self.processes_per_node or self.gpus_per_node or processes
        if self.gpus_per_node:
            largest = min(largest, self.gpus_per_node)
        each = max(n for n in range(1, min(largest, processes) + 1) if processes % n == 0)
        return Layout(processes // each, each)


@dataclass(frozen=True, order=True)
class Layout:
    """How the processes of a run lie on nodes."""

    nodes: int
    processes_per_node: int


def read_options(file: Path | None, given: Sequence[str]) -> ClusterOptions:
    """The file's options, replaced by those given as NAME=VALUE. `setup` adds a command, `sbatch.NAME` an option."""
    options = read_toml(file, ClusterOptions) if file else ClusterOptions()
    content = options.model_dump()
    for text in given:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise UsageError(
                f'--cluster-option "{text}": write NAME=VALUE, for example --cluster-option partition=gpu.'
            )
        if name.startswith(SBATCH):
            content["sbatch"] = {**content["sbatch"], name.removeprefix(SBATCH): value}
        elif name == "setup":
            content["setup"] = (*content["setup"], value)
        elif name in content and name != "sbatch":
            content[name] = value
        else:
            known = {*content, f"{SBATCH}NAME"} - {"sbatch"}
            raise UnknownError("option", name, known, "--cluster-option: ")
        try:
            options = ClusterOptions.model_validate(content)
        except ValidationError as error:
            raise UsageError(f'--cluster-option "{text}": {first_reason(error)}.') from error
    return options
