"""benchsuite: contrastive-learning methods, trained and judged on identical setups.

The names below are the public Python interface. They load on first use, so that `import benchsuite` stays light.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from benchsuite.analysis.results import load_agreement, load_results, load_table, load_trials
    from benchsuite.data.base import Manifest, PairDataset, Split
    from benchsuite.evaluation.base import Task
    from benchsuite.methods import create_method
    from benchsuite.methods.base import Clock, Loss, Method, ParameterGroup
    from benchsuite.methods.batch import PairBatch
    from benchsuite.methods.heads import Head
    from benchsuite.methods.queue import Queue
    from benchsuite.models.saved import Encoder, load_encoder
    from benchsuite.registry import register_dataset, register_embedding, register_method, register_task

__version__ = "0.3.0"

_PLACES = {
    "analysis.results": ("load_agreement", "load_results", "load_table", "load_trials"),
    "data.base": ("Manifest", "PairDataset", "Split"),
    "evaluation.base": ("Task",),
    "methods": ("create_method",),
    "methods.base": ("Clock", "Loss", "Method", "ParameterGroup"),
    "methods.batch": ("PairBatch",),
    "methods.heads": ("Head",),
    "methods.queue": ("Queue",),
    "models.saved": ("Encoder", "load_encoder"),
    "registry": ("register_dataset", "register_embedding", "register_method", "register_task"),
}
_LAZY = {name: f"benchsuite.{module}" for module, names in _PLACES.items() for name in names}

__all__ = [
    "Clock", "Encoder", "Head", "Loss", "Manifest", "Method", "PairBatch", "PairDataset", "ParameterGroup", "Queue",
    "Split", "Task", "create_method", "load_agreement", "load_encoder", "load_results", "load_table", "load_trials",
    "register_dataset", "register_embedding", "register_method", "register_task",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module benchsuite has no attribute {name!r}")
