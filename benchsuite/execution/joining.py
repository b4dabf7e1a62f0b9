"""Whether a launcher from outside, torchrun or srun, started this process as one of several."""

import os
import re
from collections.abc import MutableMapping

FIRST_PORT, PORTS = 20000, 20000


def launched(environment: MutableMapping[str, str] = os.environ) -> int:
    """How many processes the launcher started; 1 if there is none. What srun says is told as torchrun tells it."""
    tasks = int(environment.get("SLURM_STEP_NUM_TASKS", "1"))
    if "WORLD_SIZE" not in environment and tasks > 1:
        environment["RANK"], environment["WORLD_SIZE"] = environment["SLURM_PROCID"], str(tasks)
        environment["LOCAL_RANK"] = environment["SLURM_LOCALID"]
        environment.setdefault("MASTER_ADDR", first_host(environment["SLURM_STEP_NODELIST"]))
        step = int(environment["SLURM_JOB_ID"]) * 31 + int(environment.get("SLURM_STEP_ID", "0"))
        environment.setdefault("MASTER_PORT", str(FIRST_PORT + step % PORTS))
    return int(environment.get("WORLD_SIZE", "1"))


def first_host(nodes: str) -> str:
    """Of a list as SLURM writes it: "gpu[03-05,9],big1" starts with gpu03."""
    first = re.match(r"(?:[^,\[]|\[[^\]]*\])+", nodes)
    return re.sub(r"\[(\d+)[^\]]*\]", r"\1", first[0]) if first else nodes
