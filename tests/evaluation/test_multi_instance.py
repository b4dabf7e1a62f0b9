import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation import graded
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.multi_instance import relevancy, score

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "epic100"
CLIPS, SENTENCES = DATA / "EPIC_100_retrieval_test.csv", DATA / "EPIC_100_retrieval_test_sentence.csv"
RELEVANCY = [[1, 0.5, 0, 1], [0, 1, 0.5, 0]]
SIMILARITY = [[0.1, 0.9, 0.5, 0.4], [0.2, 0.3, 0.8, 0.1]]


@pytest.fixture(scope="module")
def epic() -> NDArray[np.float64]:
    if not CLIPS.is_file():
        pytest.skip(f"{CLIPS} is not here: the shared data is not part of the repository")
    return relevancy(CLIPS, SENTENCES)


def by_hand(scores: Sequence[float], worth: Sequence[float]) -> tuple[float | None, float | None]:
    """Average precision and nDCG of one query, item by item."""
    order = sorted(range(len(scores)), key=lambda j: (-scores[j], worth[j]))
    gained, precisions = 0.0, []
    for k, j in enumerate(order, start=1):
        gained += worth[j]
        if worth[j] == 1:
            precisions.append(gained / k)
    cut = sum(w > 0 for w in worth)
    found = math.fsum(worth[j] / math.log2(k + 1) for k, j in enumerate(order[:cut], start=1))
    ideal = math.fsum(w / math.log2(k + 1) for k, w in enumerate(sorted(worth, reverse=True)[:cut], start=1))
    return (sum(precisions) / len(precisions) if precisions else None), (found / ideal if cut else None)


def mean(values: Sequence[float | None]) -> float:
    there = [value for value in values if value is not None]
    return math.fsum(there) / len(there)


def naive(similarity: NDArray[np.float64], worth: NDArray[np.float64]) -> dict[str, float]:
    ways = {"v2t": (similarity, worth), "t2v": (similarity.T, worth.T)}
    judged = {way: [by_hand(s, w) for s, w in zip(a.tolist(), b.tolist(), strict=True)] for way, (a, b) in ways.items()}
    found = {f"map_{way}": mean([ap for ap, _ in each]) for way, each in judged.items()}
    found |= {f"ndcg_{way}": mean([gain for _, gain in each]) for way, each in judged.items()}
    return found | {name: (found[f"{name}_v2t"] + found[f"{name}_t2v"]) / 2 for name in ("map", "ndcg")}


def test_the_tiny_golden() -> None:
    found = score(SIMILARITY, RELEVANCY)
    assert found["map_v2t"] == 0.65625
    assert found["ndcg_v2t"] == pytest.approx((0.53165197 + 0.8597187) / 2, abs=1e-8)
    rows = [by_hand(s, w)[1] for s, w in zip(SIMILARITY, RELEVANCY, strict=True)]
    assert rows == pytest.approx([0.53165197, 0.8597187], abs=1e-8)


@pytest.mark.slow
def test_random_scores_on_the_real_files_are_as_known(epic: NDArray[np.float64]) -> None:
    assert epic.shape == (9668, 3842)
    found = score(np.random.default_rng(0).random(epic.shape), epic)
    rounded = [round(100 * found[name], 2) for name in ("map_v2t", "map_t2v", "ndcg_v2t", "ndcg_t2v")]
    assert rounded == [5.69, 5.59, 10.81, 10.96]


def test_a_part_of_the_real_files_agrees_with_counting_by_hand(epic: NDArray[np.float64]) -> None:
    worth = epic[:60, :60]
    similarity = np.random.default_rng(1).integers(0, 40, worth.shape).astype(float)
    assert score(similarity, worth) == pytest.approx(naive(similarity, worth), abs=1e-12)


@st.composite
def judged_pairs(draw: st.DrawFn) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Few different scores, so that ties are many; one fully relevant pair, so that there is a precision."""
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    row = st.lists(st.sampled_from([0.0, 1 / 4, 1 / 2, 3 / 4, 1.0]), min_size=m, max_size=m)
    similarity, worth = (np.array(draw(st.lists(row, min_size=n, max_size=n))) for _ in range(2))
    worth[draw(st.integers(0, n - 1)), draw(st.integers(0, m - 1))] = 1.0
    return similarity, worth


@given(judged_pairs())
def test_scores_agree_with_counting_by_hand(pairs: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    assert score(*pairs) == pytest.approx(naive(*pairs), abs=1e-12)


@given(judged_pairs())
def test_a_perfect_model_scores_one_whatever_the_scale(pairs: tuple[NDArray[np.float64], NDArray[np.float64]]) -> None:
    worth = pairs[1]
    assert set(score(worth, worth).values()) == {1.0}
    assert set(score(10 * worth - 3, worth).values()) == {1.0}


def test_precision_is_soft_but_read_at_full_relevancy_only() -> None:
    """Binary precision at the second place would be 1/2; soft it is (0.5 + 1) / 2."""
    assert score([[2, 1, 0]], [[0.5, 1, 0]])["map_v2t"] == 0.75


def test_gain_behind_the_number_of_relevant_items_does_not_count() -> None:
    assert score([[3, 2, 1]], [[0, 0, 1]])["ndcg_v2t"] == 0.0


@pytest.mark.parametrize("scale", [0.0, 5.0])
def test_a_collapsed_model_is_at_chance_or_below(scale: float) -> None:
    rng = np.random.default_rng(0)
    worth = rng.choice([0, 0, 0, 0.25, 0.5, 1], (60, 50))
    chance, found = score(rng.random(worth.shape), worth), score(np.full(worth.shape, scale), worth)
    assert all(found[name] <= chance[name] for name in found)


def test_blocks_and_precision_of_the_input_do_not_change_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    worth, similarity = rng.choice([0, 0.5, 1], (23, 17)), rng.normal(size=(23, 17)).astype(np.float32)
    whole = score(similarity, worth)
    monkeypatch.setattr(graded, "BLOCK", 40)
    assert score(similarity.astype(np.float64), worth) == whole
    assert score(np.asfortranarray(similarity), worth) == whole


EYE = np.eye(3)
ENDLESS = np.where(np.arange(9).reshape(3, 3) == 5, np.inf, EYE)


@pytest.mark.parametrize(
    ("similarity", "worth", "says"),
    [
        (EYE, np.eye(3, 4), r"similarity is \(3, 3\) and relevancy \(3, 4\)"),
        (EYE[0], EYE[0], r"similarity must be numbers \[clips, sentences\]; given \[3\]"),
        (EYE[:, :0], EYE[:, :0], r"given \[3, 0\]"),
        ([["a"]], [[1]], "must be numbers"),
        (EYE * [1, np.nan, 1], EYE, "similarity of clip 0 and sentence 1 is nan"),
        (ENDLESS, EYE, "similarity of clip 1 and sentence 2 is inf"),
        (EYE, EYE * [1, 1, np.nan], "relevancy of clip 0 and sentence 2 is nan"),
        (EYE, 2 * EYE, "relevancy of clip 0 and sentence 0 is 2.0, not a number from 0 to 1"),
        (EYE, EYE / 2, "no clip has a sentence of relevancy 1"),
    ],
)
def test_what_cannot_be_scored_is_refused(similarity: Any, worth: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        score(similarity, worth)


class Films(PairDataset):
    """Four clips; the first and the last are narrated alike, but labelled differently."""

    card: ClassVar = Card("dataset", "films", __name__, "Films", "tests", __file__, "")
    verb: ClassVar = np.array([0, 1, 0, 1])
    nouns: ClassVar = np.array([[2, -1], [2, 3], [3, 2], [2, -1]])

    def manifest(self) -> Manifest:
        return Manifest("films", 1, {"test": 4}, "0")

    def read(self, split: str) -> Split:
        said = [["take cup", "grab cup"], ["wash cup"], ["take cup and lid"], ["take cup"]]
        labels = {"verb": self.verb, "nouns": self.nouns}
        return Split(split, np.zeros((4, 2, 2, 2, 3), np.uint8), said, labels=labels)


def test_the_task_searches_each_narration_once_by_the_labels(fake: Any) -> None:
    images = [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (1.0, 0.2)]
    texts = {"take cup": (1.0, 0.1), "wash cup": (0.1, 1.0), "take cup and lid": (1.0, 0.8)}
    scores = create_task("multi-instance-retrieval").evaluate(fake(images, texts), Films())
    rows, columns = (np.array(x, float) for x in (images, list(texts.values())))
    similarity = (rows / np.linalg.norm(rows, axis=1)[:, None]) @ (columns / np.linalg.norm(columns, axis=1)[:, None]).T
    worth = np.array([[1, 0.25, 0.75], [0.25, 1, 0.5], [0.75, 0.5, 1], [0.5, 0.75, 0.25]])
    assert scores.metrics == pytest.approx(naive(similarity, worth))
    assert scores.counts == {"v2t": 4, "t2v": 3}
    assert scores.ranks["v2t_ranks"].tolist() == [1, 1, 1], "no narration fits the last clip fully"


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({}, 'set of labels "verb" does not exist'),
        ({"split": "tset"}, 'split "tset" does not exist'),
    ],
)
def test_data_without_the_labels_are_refused(options: dict[str, str], says: str, fake: Any) -> None:
    unlabelled = Films()
    unlabelled.read = lambda split: Split(split, np.zeros((1, 2, 2, 2, 3), np.uint8), [["a"]])  # type: ignore[method-assign]
    with pytest.raises(UsageError, match=says):
        create_task("multi-instance-retrieval", **options).evaluate(fake([], {}), unlabelled)
