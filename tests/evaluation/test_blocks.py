"""No evaluation ever makes a tensor much larger than its inputs and one block of similarities."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from benchsuite.evaluation import geometry, ranks
from benchsuite.evaluation.labelled import plain_vote_ranks, vote_ranks
from benchsuite.evaluation.retrieval import rank_both

ROWS, COLUMNS, WIDTH = 120, 300, 4
ALLOWED = 3_000
"""Similarities at a time; all of them would be 36,000, or 90,000 for one side with itself."""


class Largest(TorchDispatchMode):
    """Remembers the most elements that any operation gave back."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else (made,):
            if isinstance(one, torch.Tensor):
                self.elements = max(self.elements, one.numel())
        return made


few, many = (torch.randn(n, WIDTH, generator=torch.Generator().manual_seed(n)).double() for n in (ROWS, COLUMNS))
classes = torch.arange(COLUMNS) % 250
EVALUATIONS = {
    "retrieval": lambda: rank_both(few, many, torch.arange(COLUMNS) % ROWS),
    "retrieval of few captions": lambda: rank_both(many, many, torch.arange(COLUMNS)),
    "knn": lambda: vote_ranks(few, many, classes, classes[:ROWS], 9, 0.1),
    "knn-plain": lambda: plain_vote_ranks(few, many, classes, classes[:ROWS], (1, 9)),
    "geometry": lambda: geometry.score(many, many.flip(0)),
    "classes": lambda: geometry.class_structure(many, classes % 7),
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_similarities_come_in_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranks, "SCORES", ALLOWED)
    monkeypatch.setattr(geometry, "SIDE", 50)
    evaluation: Callable[[], Any] = EVALUATIONS[name]
    with Largest() as largest:
        evaluation()
    assert 1_000 < largest.elements <= ALLOWED
