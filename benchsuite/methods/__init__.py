"""Contrastive-learning methods: one family a file, each registered by its decorator."""

from typing import Any, cast

from benchsuite.methods.base import Clock, Loss, Method, PairBatch, ParameterGroup
from benchsuite.registry import methods

__all__ = ["Clock", "Loss", "Method", "PairBatch", "ParameterGroup", "create_method", "method_class"]


def method_class(name: str) -> type[Method]:
    """The class registered under `name`."""
    return cast(type[Method], methods.get(name))


def create_method(name: str, num_samples: int | None = None, **hyperparameters: Any) -> Method:
    """A method by its registered name. `num_samples` sizes the state of methods that remember each sample."""
    return method_class(name)(num_samples=num_samples, **hyperparameters)
