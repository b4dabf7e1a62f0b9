"""What the heavy libraries can do here, told a line at a time: run in a process of its own, as any may be broken."""

import importlib
import json
import os
import sys
from typing import Any

from benchsuite.errors import first_line

MARK = "benchsuite-doctor "
"""Before each line, because libraries print too."""
LIBRARIES = ("torch", "deepspeed", "timm", "transformers")
"""In this order; each is told when it was imported."""


def torch_facts(torch: Any) -> dict[str, Any]:
    """Devices, and what can start several processes."""
    import torch.distributed as dist

    devices = []
    if torch.cuda.is_available():
        for number in range(torch.cuda.device_count()):
            about = torch.cuda.get_device_properties(number)
            devices.append({"name": about.name, "bytes": int(about.total_memory)})
    else:
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
    backends = [name for name in ("nccl", "gloo") if dist.is_available() and getattr(dist, f"is_{name}_available")()]
    importlib.import_module("torch.distributed.run")
    return {"devices": devices, "cuda": torch.version.cuda, "backends": backends}


def main() -> None:
    """Import each library and tell what came of it."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    for name in LIBRARIES:
        told: dict[str, Any] = {"library": name}
        try:
            if name == "timm":
                from benchsuite.torchvision_ops import make_importable

                make_importable()
            module = importlib.import_module(name)
            told["version"] = getattr(module, "__version__", "")
            told |= torch_facts(module) if name == "torch" else {}
        except BaseException as error:  # a broken installation may raise anything, SystemExit included
            told["error"] = first_line(error)
        out.write(f"\n{MARK}{json.dumps(told)}\n")
        out.flush()


if __name__ == "__main__":
    main()
