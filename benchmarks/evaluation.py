"""Evaluation beside clip-benchmark, scikit-learn and literal numpy: the same numbers, and what they cost.

All run in one process on the same arrays, in turns; times are medians, memory is the highest resident size above that
before the call (Linux). Without --full the sizes are small, so that this ends in seconds.

    python benchmarks/evaluation.py [--full] [--repeats 3] [--only retrieval] [--json]
"""

import argparse
import ctypes
import gc
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.neighbors import KNeighborsClassifier
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.evaluation import geometry
from benchsuite.evaluation.knn import plain_vote_ranks, vote_ranks
from benchsuite.evaluation.multi_instance import relevancy, score
from benchsuite.evaluation.rank_metrics import recall
from benchsuite.evaluation.relevancy import Actions, relevancy_between

Numbers = dict[str, float]
Size = dict[str, int]
SIZES: dict[str, Size] = {
    "small": {
        **{"pictures": 500, "captions": 2_500, "queries": 500, "bank": 2_500, "width": 64, "points": 1_000},
        **{"clips": 400, "sentences": 160},
    },
    "full": {
        **{"pictures": 5_000, "captions": 25_000, "queries": 10_000, "bank": 50_000, "width": 512, "points": 10_000},
        **{"clips": 9_668, "sentences": 3_842},
    },
}
CLASSES = 10
EPIC = Path(__file__).parents[2] / "shared" / "data" / "epic100"
"""EPIC-KITCHENS-100's retrieval files, used at full size where they are; without them, random classes."""
VERBS, NOUNS = 97, 289


@dataclass(frozen=True)
class Cost:
    """One implementation's median seconds and highest memory over what was there before."""

    what: str
    by: str
    seconds: float
    times_ours: float
    megabytes: float


def neighbours(size: Size) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Queries, bank, and their classes."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.randint(0, CLASSES, (size["queries"] + size["bank"],), generator=generator)
    centres = torch.randn(CLASSES, size["width"], generator=generator)
    noise = torch.randn(len(labels), size["width"], generator=generator)
    rows = normalize(centres[labels] + 0.5 * size["width"] ** 0.5 * noise, dim=1)
    n = size["queries"]
    return rows[:n].clone(), rows[n:].clone(), labels[n:], labels[:n]


def knn_weighted(size: Size) -> dict[str, Callable[[], Numbers]]:
    """k = 200, votes exp(cos / 0.1)."""
    queries, bank, labels, truth = neighbours(size)

    def ours() -> Numbers:
        return {"top1": recall(vote_ranks(queries, bank, labels, truth, 200, 0.1), 1)}

    def scikit_learn() -> Numbers:
        fitted = KNeighborsClassifier(200, algorithm="brute", weights=lambda d: np.exp((1 - d**2 / 2) / 0.1))
        fitted.fit(bank.numpy(), labels.numpy())
        return {"top1": float((fitted.predict(queries.numpy()) == truth.numpy()).mean())}

    return {"benchsuite": ours, "scikit-learn": scikit_learn}


def knn_plain(size: Size) -> dict[str, Callable[[], Numbers]]:
    """k = 1 and 10. Ties are decided against the model by both."""
    queries, bank, labels, truth = neighbours(size)

    def ours() -> Numbers:
        found = plain_vote_ranks(queries, bank, labels, truth, (1, 10))
        return {f"k{k}_top1": recall(ranks, 1) for k, ranks in found.items()}

    def scikit_learn() -> Numbers:
        found = {}
        for k in (1, 10):
            fitted = KNeighborsClassifier(k, algorithm="brute").fit(bank.numpy(), labels.numpy())
            votes = fitted.predict_proba(queries.numpy())
            right = votes[np.arange(len(votes)), truth.numpy()]
            found[f"k{k}_top1"] = float(((votes >= right[:, None]).sum(1) == 1).mean())
        return found

    return {"benchsuite": ours, "scikit-learn": scikit_learn}


def uniformity(size: Size) -> dict[str, Callable[[], Numbers]]:
    """Wang and Isola's, over all pairs."""
    rows = np.random.default_rng(0).normal(size=(size["points"], size["width"])) + 0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)

    def ours() -> Numbers:
        return {"uniformity": geometry.uniformity(rows)}

    def numpy() -> Numbers:
        squared: NDArray[np.float64] = 2 - 2 * rows @ rows.T
        return {"uniformity": float(np.log(np.exp(-2 * squared[np.triu_indices(len(rows), 1)]).mean()))}

    return {"benchsuite": ours, "numpy, whole matrix": numpy}


def relevancies(size: Size) -> NDArray[np.float64]:
    """Of the official files; or of random sentences with long-tailed classes, of which every clip shows one."""
    files = [EPIC / f"EPIC_100_retrieval_test{end}.csv" for end in ("", "_sentence")]
    if size["clips"] == SIZES["full"]["clips"] and all(file.is_file() for file in files):
        return relevancy(*files)
    rng, count = np.random.default_rng(0), size["sentences"]
    verbs, nouns = ((rng.zipf(1.3, (count, n)) - 1) % top for n, top in ((1, VERBS), (3, NOUNS)))
    sentences = Actions.of(verbs[:, 0].tolist(), [sorted(set(row[: rng.integers(1, 4)])) for row in nouns.tolist()])
    said = np.concatenate([np.arange(count), rng.integers(0, count, size["clips"] - count)])
    return relevancy_between(sentences.take(said.tolist()), sentences)


def multi_instance(size: Size) -> dict[str, Callable[[], Numbers]]:
    """EPIC-KITCHENS-100's soft mAP and nDCG; inputs are similarities and relevancies, both ways are judged."""
    worth = relevancies(size)
    similarity = worth + np.random.default_rng(1).normal(size=worth.shape)

    def ours() -> Numbers:
        return score(similarity, worth)

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

    return {"benchsuite": ours, "numpy, whole matrices": numpy}


CASES = {
    "knn": knn_weighted,
    "knn-plain": knn_plain,
    "uniformity": uniformity,
    "multi-instance": multi_instance,
}
EXACT = {"uniformity": 1e-9, "multi-instance": 1e-9}
"""How far numbers of double precision may lie apart; shares of queries may differ by three queries."""


def peak_megabytes() -> float:
    """The highest resident size since the last reset."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def timed(call: Callable[[], Numbers]) -> tuple[Numbers, float, float]:
    """What it returns, its seconds, and its memory over what was there before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # gives back what earlier calls left, which would hide what this one takes
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_megabytes()
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start, peak_megabytes() - before


def compare(what: str, calls: dict[str, Callable[[], Numbers]], repeats: int, queries: int) -> list[Cost]:
    """Costs, ours first; refused if the numbers differ by more than rounding may do."""
    apart = EXACT.get(what, 3 / queries)
    runs: dict[str, list[tuple[Numbers, float, float]]] = {by: [] for by in calls}
    for _ in range(repeats):
        for by, call in calls.items():
            runs[by].append(timed(call))
    seconds = {by: statistics.median(run[1] for run in found) for by, found in runs.items()}
    reference = runs["benchsuite"][0][0]
    for by, found in runs.items():
        assert found[0][0].keys() == reference.keys(), f"{what}: {by} has other numbers"
        for key, value in found[0][0].items():
            assert abs(value - reference[key]) <= apart, f"{what}: {key} is {reference[key]}, by {by} {value}"
    ours = seconds["benchsuite"]
    return [Cost(what, by, seconds[by], seconds[by] / ours, max(run[2] for run in runs[by])) for by in calls]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--full", action="store_true", help="5,000 x 25,000 x 512, 10,000 in 50,000, 9,668 x 3,842; minutes"
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=CASES, action="append")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    for case in CASES.values():  # loads libraries and their buffers
        for call in case(SIZES["small"]).values():
            call()
    size = SIZES["full" if given.full else "small"]
    costs: list[Cost] = []
    for name in given.only or CASES:
        costs += compare(name, CASES[name](size), given.repeats, min(size["pictures"], size["queries"]))
    if given.json:
        about: dict[str, Any] = {"sizes": size, "threads": torch.get_num_threads(), "repeats": given.repeats}
        print(json.dumps({**about, "costs": [asdict(cost) for cost in costs]}, indent=1))
        return
    print(f"{size}, {torch.get_num_threads()} threads, median of {given.repeats}")
    print("| what | by | seconds | times ours | MB over the inputs |\n|---|---|---|---|---|")
    for c in costs:
        print(f"| {c.what} | {c.by} | {c.seconds:.3g} | {c.times_ours:.2f} | {c.megabytes:.0f} |")


if __name__ == "__main__":
    main()
