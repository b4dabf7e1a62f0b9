"""Nearest neighbours, linear probe, geometry and multi-instance retrieval beside scikit-learn and literal numpy.

python benchmarks/bench.py --only evaluation
"""

from collections.abc import Iterator

import numpy as np
import torch
from cases import OURS, Case, Numbers
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.evaluation import geometry, multi_instance
from benchsuite.evaluation.labelled import LabelledRows, plain_vote_ranks, probe_ranks, vote_ranks
from benchsuite.evaluation.multi_instance import Actions, relevancy_between
from benchsuite.evaluation.rank_metrics import recall

QUERIES = {"small": (500, 2_500, 64), "full": (10_000, 50_000, 512)}
"""Queries, bank, width: for neighbours and for the linear probe."""
POINTS = {"small": (1_000, 64), "full": (10_000, 512)}
"""Rows, width."""
CLIPS = {"small": (400, 160), "full": (9_668, 3_842)}
"""Clips, sentences."""
CLASSES = 10
VERBS, NOUNS = 97, 289
ROUNDING = 1e-9
"""How far numbers of double precision may lie apart."""


def cases(size: str) -> Iterator[Case]:
    """What is judged other than by ranks of pairs."""
    yield from neighbour_cases(size)
    yield probe(size)
    yield from geometry_cases(size)
    yield graded(size)


def neighbours(queries: int, bank: int, width: int, noise: float) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, bank, and their classes."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, CLASSES, (queries + bank,), generator=generator)
    centres = torch.randn(CLASSES, width, generator=generator)
    moved = torch.randn(len(labels), width, generator=generator)
    rows = normalize(centres[labels] + noise * width**0.5 * moved, dim=1)
    return rows[:queries].clone(), rows[queries:].clone(), labels[queries:], labels[:queries]


def neighbour_cases(size: str) -> Iterator[Case]:
    """Ties are decided against the model by both. Shares may differ by three queries."""
    queries, bank, labels, truth = neighbours(*QUERIES[size], 0.5)
    what = "{:,} in {:,} × {}".format(*QUERIES[size])

    def product() -> Numbers:
        for part in queries.split(500):
            _ = part @ bank.T
        return {}

    def weighted() -> Numbers:
        return {"top1": recall(vote_ranks(queries, bank, labels, truth, 200, 0.1), 1)}

    def weighted_scikit_learn() -> Numbers:
        fitted = KNeighborsClassifier(200, algorithm="brute", weights=lambda d: np.exp((1 - d**2 / 2) / 0.1))
        fitted.fit(bank.numpy(), labels.numpy())
        return {"top1": float((fitted.predict(queries.numpy()) == truth.numpy()).mean())}

    yield Case(
        "knn",
        f"Weighted votes of 200 neighbours, {what}, single precision",
        {OURS: weighted, "scikit-learn": weighted_scikit_learn, "one float32 product": product},
        {"scikit-learn": 5} if size == "full" else {},
        apart=3 / len(queries),
    )

    def plain() -> Numbers:
        found = plain_vote_ranks(queries, bank, labels, truth, (1, 10))
        return {f"k{k}_top1": recall(ranks, 1) for k, ranks in found.items()}

    def plain_scikit_learn() -> Numbers:
        found = {}
        for k in (1, 10):
            fitted = KNeighborsClassifier(k, algorithm="brute").fit(bank.numpy(), labels.numpy())
            votes = fitted.predict_proba(queries.numpy())
            right = votes[np.arange(len(votes)), truth.numpy()]
            found[f"k{k}_top1"] = float(((votes >= right[:, None]).sum(1) == 1).mean())
        return found

    yield Case(
        "knn-plain",
        f"Votes of 1 and of 10 neighbours, {what}, single precision",
        {OURS: plain, "scikit-learn": plain_scikit_learn},
        apart=3 / len(queries),
    )


def probe(size: str) -> Case:
    """Logistic regression of as many rows as the bank of neighbours has."""
    queries, bank, labels, truth = neighbours(*QUERIES[size], 0.12)
    known, asked = LabelledRows(bank, labels), LabelledRows(queries, truth)

    def ours() -> Numbers:
        return {"top1": recall(probe_ranks(known, asked, 1.0, 1000)[0], 1)}

    def scikit_learn() -> Numbers:
        fitted = LogisticRegression(C=1.0, max_iter=1000).fit(bank.double().numpy(), labels.numpy())
        return {"top1": float(fitted.score(queries.double().numpy(), truth.numpy()))}

    return Case(
        "linear-probe",
        "Logistic regression, {1:,} × {2}, {0:,} to classify, 10 classes".format(*QUERIES[size]),
        {OURS: ours, "scikit-learn": scikit_learn},
        {"scikit-learn": 2} if size == "full" else {},
        apart=3 / len(queries),
    )


def geometry_cases(size: str) -> Iterator[Case]:
    """Of points around a centre, and of pairs of them."""
    rng = np.random.default_rng(0)
    image = rng.normal(size=POINTS[size]) + 0.5
    text = image + rng.normal(size=POINTS[size])
    what = "{:,} × {}, double precision".format(*POINTS[size])
    aims = {"numpy, whole matrix": 5.0} if size == "full" else {}
    yield Case(
        "uniformity",
        f"Uniformity of {what}",
        {
            OURS: lambda: {"uniformity": geometry.uniformity(image)},
            "numpy, whole matrix": lambda: {"uniformity": whole_uniformity(unit(image))},
        },
        aims,
        apart=ROUNDING,
    )

    yield Case(
        "geometry",
        f"All measures, {what}",
        {
            OURS: lambda: geometry.score(image, text),
            "numpy, whole matrix": lambda: whole_geometry(unit(image), unit(text)),
        },
        aims,
        apart=ROUNDING,
    )


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length 1."""
    lengths: NDArray[np.float64] = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / lengths


def whole_uniformity(rows: NDArray[np.float64]) -> float:
    """Wang and Isola's, over all pairs."""
    squared: NDArray[np.float64] = 2 - 2 * rows @ rows.T
    return float(np.log(np.exp(-2 * squared[np.triu_indices(len(rows), 1)]).mean()))


def whole_w2(rows: NDArray[np.float64]) -> float:
    """Fang et al.'s, from the covariance's eigenvalues."""
    mean = rows.mean(0)
    values = np.linalg.svd(rows - mean, compute_uv=False) / len(rows) ** 0.5
    squared = mean @ mean + 1 + (values**2).sum() - 2 / rows.shape[1] ** 0.5 * values.sum()
    return -float(max(squared, 0.0) ** 0.5)


def whole_geometry(image: NDArray[np.float64], text: NDArray[np.float64]) -> Numbers:
    """The definitions, on whole matrices."""
    cosines: NDArray[np.float64] = image @ text.T
    own = np.diag(cosines)
    others = cosines[~np.eye(len(image), dtype=bool)]
    return {
        "gap": float(np.linalg.norm(image.mean(0) - text.mean(0))),
        "alignment": float(((image - text) ** 2).sum(1).mean()),
        "uniformity_image": whole_uniformity(image),
        "uniformity_text": whole_uniformity(text),
        "uniformity_w2": whole_w2(np.concatenate([image, text])),
        "uniformity_w2_image": whole_w2(image),
        "uniformity_w2_text": whole_w2(text),
        "positive_mean": float(own.mean()),
        "negative_mean": float(others.mean()),
    }


def relevancies(size: str) -> NDArray[np.float64]:
    """Of random sentences with long-tailed classes, of which every clip shows one."""
    rng, (clips, count) = np.random.default_rng(0), CLIPS[size]
    verbs, nouns = ((rng.zipf(1.3, (count, n)) - 1) % top for n, top in ((1, VERBS), (3, NOUNS)))
    sentences = Actions.of(verbs[:, 0].tolist(), [sorted(set(row[: rng.integers(1, 4)])) for row in nouns.tolist()])
    said = np.concatenate([np.arange(count), rng.integers(0, count, clips - count)])
    return relevancy_between(sentences.take(said.tolist()), sentences)


def graded(size: str) -> Case:
    """EPIC-KITCHENS-100's soft mAP and nDCG; inputs are similarities and relevancies, both ways are judged."""
    worth = relevancies(size)
    similarity = worth + np.random.default_rng(1).normal(size=worth.shape)

    def numpy() -> Numbers:
        """The definition, on whole matrices."""
        found = {}
        for way, s, r in (("v2t", similarity, worth), ("t2v", similarity.T, worth.T)):
            rank = np.arange(1, s.shape[1] + 1)
            ranked = np.take_along_axis(r, np.argsort(-s, axis=1), axis=1)
            full = ranked == 1
            precision = np.cumsum(ranked, axis=1) / rank
            found[f"map_{way}"] = float(np.mean((precision * full).sum(axis=1) / full.sum(axis=1)))
            discount = np.where(rank <= (r > 0).sum(axis=1)[:, None], 1 / np.log2(rank + 1), 0)
            ideal = -np.sort(-r, axis=1)
            found[f"ndcg_{way}"] = float(np.mean((ranked * discount).sum(axis=1) / (ideal * discount).sum(axis=1)))
        return found | {name: (found[f"{name}_v2t"] + found[f"{name}_t2v"]) / 2 for name in ("map", "ndcg")}

    return Case(
        "multi-instance",
        "EPIC's soft mAP and nDCG, both ways, {:,} × {:,}".format(*worth.shape),
        {OURS: lambda: multi_instance.score(similarity, worth), "numpy, whole matrices": numpy},
        {"numpy, whole matrices": 10} if size == "full" else {},
        apart=ROUNDING,
    )
