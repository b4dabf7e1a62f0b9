"""Contrastive-learning methods: one family a file, each registered by its decorator."""

from typing import Any, cast

from benchsuite.methods.base import Clock, Loss, Method, ParameterGroup
from benchsuite.methods.batch import PairBatch
from benchsuite.registry import methods

__all__ = ["Clock", "Loss", "Method", "PairBatch", "ParameterGroup", "create_method", "method_class"]


def method_class(name: str) -> type[Method]:
    """The class registered under `name`."""
    return cast(type[Method], methods.get(name))


def create_method(
    name: str, num_samples: int | None = None, width: int | None = None, **hyperparameters: Any
) -> Method:
    """A method by its registered name.

    `num_samples`, the size of the training set, sizes the state of methods that remember each sample; `width`, that
    of the embeddings, sizes the heads of those that have one (without it, they take the first batch's).
    """
    return method_class(name)(num_samples=num_samples, width=width, **hyperparameters)
