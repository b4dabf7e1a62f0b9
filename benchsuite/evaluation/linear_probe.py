"""Linear probe: logistic regression on frozen features."""

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.base import PairDataset
from benchsuite.evaluation.base import Embedder
from benchsuite.evaluation.labelled import Classification, LabelledRows
from benchsuite.fields import Count, Positive
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task


@register_task(
    "linear-probe",
    title="Linear probe",
    version=2,
    metrics=("top1", "top5"),
    measures=("iterations", "converged"),
    headline="top1",
)
class LinearProbe(Classification):
    """Top-1/5 accuracy of multinomial logistic regression with an L2 penalty, fitted on the training split's features.

    Features are the tower's own, before the projection, L2-normalised, in double precision; scikit-learn's L-BFGS. The
    objective is |W|² / 2 + c · (sum of the samples' losses), without the intercept; of two classes, W is one vector.
    Ties count against the model.
    """

    c: Positive = 1.0
    """Inverse strength of the penalty."""
    max_iterations: Count = 1000
    """Limit for L-BFGS. The measure `converged` says whether it was enough."""

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        bank, queries = self.rows(embed, dataset)
        ranks, fitted = probe_ranks(bank, queries, self.c, self.max_iterations)
        return replace(self.from_ranks({"class": ranks}), measures=fitted)


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
