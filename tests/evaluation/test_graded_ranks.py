"""What is stored of graded rankings gives their metrics again, and nothing else than what was stored does."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import RecordError
from benchsuite.evaluation import graded
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.multi_instance import (
    Actions,
    MultiInstanceRetrieval,
    relevancy,
    relevancy_between,
    relevancy_parts,
    score,
)

EPIC = Path(__file__).parents[2].parent / "shared" / "data" / "epic100"
Kept = dict[str, NDArray[np.integer[Any]]]


class Films(PairDataset):
    """Clips with random classes; every third has the narration of the one before."""

    card: ClassVar = Card("dataset", "films", __name__, "Films", "tests", __file__, "")
    clips: ClassVar = 12

    def manifest(self) -> Manifest:
        return Manifest("films", 1, {"test": self.clips}, "0")

    def read(self, split: str) -> Split:
        rng = np.random.default_rng(self.clips)
        nouns = np.where(rng.random((self.clips, 3)) < [0, 0.5, 0.5], -1, rng.integers(0, 4, (self.clips, 3)))
        labels = {"verb": rng.integers(0, 3, self.clips), "nouns": nouns}
        said = [[f"narration {i - (i % 3 == 2)}"] for i in range(self.clips)]
        return Split(split, np.zeros((self.clips, 1, 1, 1, 3), np.uint8), said, labels=labels)


class Random:
    """Embeddings on a coarse grid, so that some similarities are tied."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def images(self, split: Split) -> Any:
        return self._rows(len(split))

    def texts(self, texts: list[str]) -> Any:
        return self._rows(len(texts))

    def _rows(self, count: int) -> Any:
        import torch

        return torch.from_numpy(self._rng.integers(-2, 3, (count, 3)).astype(np.float32))


def evaluated(seed: int = 0) -> tuple[MultiInstanceRetrieval, Any]:
    task = create_task("multi-instance-retrieval")
    assert isinstance(task, MultiInstanceRetrieval)
    return task, task.evaluate(Random(seed), Films())  # type: ignore[arg-type]


def shuffled(similarity: NDArray[np.float64], parts: NDArray[Any], whole: int) -> dict[str, float]:
    """Metrics by way of what is stored."""
    found: Kept = {"levels": np.unique(parts[parts > 0]).astype(np.int64)}
    for way, a, b in (("v2t", similarity, parts), ("t2v", similarity.T, parts.T)):
        found |= graded.pack(way, graded.rank(a, b, whole, way), found["levels"])
    return dict(create_task("multi-instance-retrieval").from_ranks(found).metrics)


@given(st.integers(0, 10**6))
def test_what_is_stored_gives_the_metrics_to_the_last_bit(seed: int) -> None:
    task, scores = evaluated(seed)
    again = task.from_ranks({name: rows.copy() for name, rows in scores.ranks.items()})
    assert again.metrics == scores.metrics
    assert again.counts == scores.counts == {"v2t": 12, "t2v": 8}
    assert all(rows.ndim == 1 and rows.dtype.kind in "iu" for rows in scores.ranks.values())


@given(st.integers(0, 10**6))
def test_the_task_agrees_with_scoring_the_whole_matrix(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sets = [rng.choice(5, rng.integers(1, 4), replace=False).tolist() for _ in range(9)]
    actions = Actions.of(rng.integers(0, 3, 9).tolist(), sets)
    columns = actions.take([0, 2, 3, 7])
    parts, whole = relevancy_parts(actions, columns)
    assert np.allclose(parts / whole, relevancy_between(actions, columns), rtol=0, atol=1e-15)
    similarity = rng.integers(0, 6, parts.shape).astype(float)
    assert shuffled(similarity, parts, whole) == pytest.approx(score(similarity, parts / whole), abs=1e-14)


def test_blocks_of_queries_do_not_change_the_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    task, scores = evaluated()
    monkeypatch.setattr(graded, "READ", 5)
    monkeypatch.setattr(graded, "BLOCK", 16)
    assert task.from_ranks(scores.ranks).metrics == scores.metrics
    assert evaluated()[1].metrics == scores.metrics


def test_no_stored_number_may_be_another() -> None:
    task, scores = evaluated()
    for name, rows in scores.ranks.items():
        for i in range(len(rows)):
            edited = rows.astype(np.int64)
            edited[i] += 1
            try:
                found = task.from_ranks({**scores.ranks, name: edited})
            except RecordError:
                continue
            assert found.metrics != scores.metrics, f"{name}[{i}]"


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("levels", lambda rows: rows[::-1], "levels do not rise"),
        ("levels", lambda rows: rows[:0], "levels do not rise"),
        ("levels", lambda rows: rows * 0, "levels do not rise"),
        ("v2t_relevant", lambda rows: rows[:-1], "v2t_relevant has .* a query"),
        ("t2v_relevant", lambda rows: rows[:0], "t2v_relevant has 0 numbers"),
        ("t2v_gains", lambda rows: rows[:-1], "t2v_gains has .* where t2v_relevant counts"),
        ("v2t_ranks", lambda rows: np.repeat(rows, 2), "v2t_ranks has"),
        ("v2t_sums", lambda rows: rows[1:], "v2t_sums has"),
        ("v2t_gains", lambda rows: rows + 100, "cannot be"),
        ("t2v_ranks", lambda rows: rows * 0, "t2v_ranks are below 1"),
    ],
)
def test_arrays_that_contradict_each_other_are_refused(name: str, change: Any, says: str) -> None:
    task, scores = evaluated()
    with pytest.raises(RecordError, match=says):
        task.from_ranks({**scores.ranks, name: change(scores.ranks[name])})


def test_levels_and_counts_are_those_of_the_relevancies() -> None:
    kept: Kept = {"levels": np.array([1, 2])}
    similarity, parts = np.array([[9.0, 8, 7, 6]]), np.array([[1, 0, 2, 2]])
    kept |= graded.pack("v2t", graded.rank(similarity, parts, 2, "v2t"), kept["levels"])
    told = {name: rows.tolist() for name, rows in kept.items()}
    assert told == {
        "levels": [1, 2],
        "v2t_relevant": [1, 2],
        "v2t_gains": [1, 0, 2],
        "v2t_ranks": [3, 4],
        "v2t_sums": [3, 5],
    }


def test_real_relevancies_are_kept_exactly_and_small() -> None:
    clips, sentences = (EPIC / f"EPIC_100_retrieval_test{end}.csv" for end in ("", "_sentence"))
    if not clips.is_file():
        pytest.skip(f"{clips} is not here: the shared data is not part of the repository")
    worth = relevancy(clips, sentences)[:800]
    whole = 5040
    parts = np.rint(worth * whole).astype(np.uint16)
    assert np.abs(parts / whole - worth).max() < 1e-15
    similarity = np.random.default_rng(0).random(worth.shape) + worth
    assert shuffled(similarity, parts, whole) == pytest.approx(score(similarity, worth), abs=1e-13)
