"""Contrastive-learning methods: one family a file, each registered by its decorator."""

from typing import Any

from torch.overrides import TorchFunctionMode

from benchsuite.errors import UsageError
from benchsuite.methods.base import Clock, Loss, Method, ParameterGroup
from benchsuite.methods.batch import PairBatch
from benchsuite.registry import methods

__all__ = [
    "Clock", "Loss", "Method", "PairBatch", "ParameterGroup", "create_method", "described_method", "method_class",
]  # fmt: skip


def method_class(name: str) -> type[Method]:
    """The class registered under `name`."""
    cls = methods.get(name)
    if not issubclass(cls, Method):
        raise UsageError(f'method "{name}": write class {cls.__name__}(Method), with Method from benchsuite.')
    return cls


def create_method(
    name: str, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any
) -> Method:
    """A method by its registered name.

    `num_samples`, the size of the training set, sizes the state of methods that remember each sample; `width`, that
    of the embeddings, sizes the heads of those that have one (without it, they take the first batch's).
    """
    return method_class(name)(num_samples=num_samples, width=width, **hyperparameters)


def described_method(name: str, **hyperparameters: Any) -> Method:
    """A method to be asked what it has and needs, and not to be trained: its weights are not drawn.

    A plan makes several for each trial. Those of one with wide heads would take most of its time.
    """
    with _Undrawn():
        return create_method(name, num_samples=1, **hyperparameters)


class _Undrawn(TorchFunctionMode):
    """Inside, what torch.nn.init is to fill stays as the memory is."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__module__", "") == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return func(*args, **(kwargs or {}))
