"""Linear probe: logistic regression on frozen features."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.labelled import Classification, LabelledRows
from benchsuite.evaluation.rank_metrics import recall
from benchsuite.fields import Count, Positive
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

GRID = tuple(10.0**power for power in range(-3, 7))
"""Values of c tried under rule "validation"."""


@register_task(
    "linear-probe",
    title="Linear probe",
    version=2,
    metrics=("top1", "top5"),
    measures=("c", "iterations", "converged"),
    headline="top1",
)
class LinearProbe(Classification):
    """Top-1/5 accuracy of multinomial logistic regression with an L2 penalty, fitted on the training split's features.

    Features are the tower's own, before the projection, L2-normalised, in double precision; scikit-learn's L-BFGS. The
    objective is |W|² / 2 + c · (sum of the samples' losses), without the intercept; of two classes, W is one vector.
    The rule that sets c is part of the protocol: "fixed" takes `c`; "validation" tries 10^-3 to 10^6 and takes the c of
    highest accuracy on the split `chosen_on` (the strongest penalty of equals), never on the split to classify. Ties
    count against the model.
    """

    rule: Literal["fixed", "validation"] = "fixed"
    """What sets the penalty."""
    c: Positive = 1.0
    """Inverse strength of the penalty, under rule "fixed"."""
    chosen_on: str = "validation"
    """The split that chooses c, under rule "validation"."""
    max_iterations: Count = 1000
    """Limit for L-BFGS. The measure `converged` says whether it was enough."""

    @property
    def classified(self) -> Sequence[str]:
        return [self.split, *([self.chosen_on] if self.rule == "validation" else [])]

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        bank, queries, *held_out = self.rows(embed, dataset)
        c = choose(bank, held_out[0], self.max_iterations) if held_out else self.c
        ranks, fitted = probe_ranks(bank, queries, c, self.max_iterations)
        return replace(self.from_ranks({"class": ranks}), measures={"c": c, **fitted})


def choose(bank: LabelledRows, held_out: LabelledRows, max_iterations: int) -> float:
    """The c of the grid with the highest accuracy on `held_out`; the smallest of equals."""
    accuracy = {c: recall(probe_ranks(bank, held_out, c, max_iterations)[0], 1) for c in GRID}
    return max(GRID, key=lambda c: (accuracy[c], -c))


def probe_ranks(
    bank: LabelledRows, queries: LabelledRows, c: float, max_iterations: int
) -> tuple[NDArray[np.int32], dict[str, float]]:
    """For each query, the rank of its true class by the fitted scores (1 is best), and statistics of the fit.

    A class that the bank lacks ranks last.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    known = np.unique(bank.labels.numpy())
    classes = int(max(known.max(), int(queries.labels.max()))) + 1
    scores = np.full((len(queries.rows), classes), -np.inf)
    fitted = {"iterations": 0.0, "converged": 1.0}
    if len(known) == 1:
        scores[:, known] = 0.0
    else:
        model = LogisticRegression(C=c, max_iter=max_iterations)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(bank.rows.double().numpy(), bank.labels.numpy())
        decision = model.decision_function(queries.rows.double().numpy())
        scores[:, known] = np.stack([-decision, decision], 1) if decision.ndim == 1 else decision
        iterations = int(np.max(model.n_iter_))
        fitted = {"iterations": float(iterations), "converged": float(iterations < max_iterations)}
    right = scores[np.arange(len(scores)), queries.labels.numpy()]
    return (~(scores < right[:, None])).sum(1).astype(np.int32), fitted
