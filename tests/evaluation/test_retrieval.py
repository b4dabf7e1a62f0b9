from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data import create_dataset
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import Embedder, create_task
from benchsuite.evaluation.rank_metrics import RULES, medians, recalls
from benchsuite.evaluation.retrieval import rank_both, score
from benchsuite.models.sides import Sides

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def features(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    file = DATA / "features" / f"{name}.npy"
    if not file.is_file():
        pytest.skip(f"{file} is not here: the shared data is not part of the repository")
    image, text = np.load(file).astype(np.float64)
    return tuple(rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (image, text))


@pytest.mark.parametrize(
    ("name", "i2t", "t2i"),
    [
        ("clip", (0.552, 0.808, 0.892), (0.506, 0.766, 0.862)),
        ("clip_random", (0.002, 0.008, 0.026), (0.002, 0.008, 0.012)),
    ],
)
def test_golden_features_score_as_known(name: str, i2t: tuple[float, ...], t2i: tuple[float, ...]) -> None:
    image, text = features(name)
    found = score(image, text, np.arange(len(image)))
    assert [found[f"i2t_r{k}"] for k in (1, 5, 10)] == pytest.approx(i2t)
    assert [found[f"t2i_r{k}"] for k in (1, 5, 10)] == pytest.approx(t2i)
    assert found["r_mean"] == pytest.approx(sum((*i2t, *t2i)) / 6)


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 4))
def test_recalls_agree_with_sorting_by_hand(seed: int, n: int, captions: int) -> None:
    rng = np.random.default_rng(seed)
    owner = rng.permutation(np.repeat(np.arange(n), captions))
    image, text = rng.normal(size=(n, 4)), rng.normal(size=(n * captions, 4))
    similarity = (image / np.linalg.norm(image, axis=1, keepdims=True)) @ (
        text / np.linalg.norm(text, axis=1, keepdims=True)
    ).T
    found = score(image, text, owner)
    for k in (1, 5, 10):
        first_texts = np.argsort(-similarity, axis=1)[:, :k]
        first_images = np.argsort(-similarity, axis=0)[:k].T
        assert found[f"i2t_r{k}"] == pytest.approx(np.mean([i in owner[row] for i, row in enumerate(first_texts)]))
        assert found[f"t2i_r{k}"] == pytest.approx(np.mean([owner[j] in row for j, row in enumerate(first_images)]))
    assert found["r_mean"] == pytest.approx(np.mean([v for key, v in found.items() if key != "r_mean"]))


def test_median_rank_is_the_middle_one_or_the_mean_of_two() -> None:
    ranks = {"i2t": np.array([9, 1, 2], np.int32), "t2i": np.array([1, 4, 30, 7], np.int32)}
    assert medians(ranks) == {"i2t_median_rank": 2, "t2i_median_rank": 5.5}


def test_one_good_caption_of_several_is_enough_for_the_picture() -> None:
    image = np.eye(2)
    text = np.array([[1.0, 0.0], [0.0, 1.0], [0.1, 0.9], [0.0, 1.0]])
    found = score(image, text, [0, 0, 1, 1])
    assert found["i2t_r1"] == 0.5
    assert found["t2i_r1"] == 0.75


def test_a_collapsed_model_is_at_chance_or_below() -> None:
    found = score(np.ones((100, 4)), np.ones((500, 4)), np.repeat(np.arange(100), 5))
    assert all(found[f"{way}_r{k}"] <= k / 100 for way in ("i2t", "t2i") for k in (1, 5, 10))


def test_plain_lists_of_whole_numbers_will_do() -> None:
    assert score([[1, 0], [0, 1]], [[1, 0], [0, 1]], [0, 1])["r_mean"] == 1.0


def test_sides_may_differ_in_precision() -> None:
    assert score(np.eye(2, dtype=np.float32), np.eye(2), np.arange(2, dtype=np.int32))["r_mean"] == 1.0


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("image", "text", "owner", "says"),
    [
        (EYE, np.eye(4), [0, 1, 2, 2], "one D"),
        (EYE[0], EYE, [0, 1, 2], "must be"),
        (EYE, EYE[None], [0, 1, 2], "must be"),
        (EYE, EYE, [0, 1], "3 captions need as many picture numbers"),
        (EYE, EYE, [[0, 1, 2]], "3 captions need as many picture numbers"),
        (EYE, EYE, [0, 1, 3], "belongs to picture 3, but there are 3 pictures"),
        (EYE, EYE, [0, 1, -1], "belongs to picture -1"),
        (EYE, EYE, [0, 1, 1], "picture 2 has no caption"),
        (EYE * np.array([[1], [np.nan], [1]]), EYE, [0, 1, 2], "image embedding 1 is not finite"),
        (EYE, EYE + np.array([[0], [0], [np.inf]]), [0, 1, 2], "text embedding 2 is not finite"),
        (EYE[:0], EYE[:0], np.zeros(0, int), "no pictures"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    image: NDArray[np.float64], text: NDArray[np.float64], owner: list[int], says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        score(image, text, owner)


def test_of_one_picture_no_other_is_nearest() -> None:
    eye = torch.eye(2, dtype=torch.float64)
    alone = create_task("retrieval").ranks(eye[:1], eye, torch.tensor([0, 0]))  # type: ignore[attr-defined]
    assert alone.keys() == {"i2t", "t2i"}
    single = create_task("gallery-retrieval", gallery=1).ranks(eye, eye, torch.arange(2))  # type: ignore[attr-defined]
    assert single.keys() == {"i2t", "t2i"}
    both = create_task("retrieval").ranks(eye, eye, torch.arange(2))  # type: ignore[attr-defined]
    assert both["i2t_nearest"].tolist() == [2, 1]
    assert recalls(both) == recalls({way: both[way] for way in ("i2t", "t2i")}), "whoever counts all that was found"


class Asis(Sides):
    """Vectors, embedded as they are."""

    def pictures(self, pictures: Any, features: bool = False) -> Tensor:
        return normalize(torch.tensor(np.asarray(pictures)).flatten(1), dim=1)

    def texts(self, texts: Any, features: bool = False) -> Tensor:
        return normalize(torch.from_numpy(np.stack(texts)), dim=1)


def test_galleries_have_the_numbers_of_what_was_found() -> None:
    dataset = create_dataset("latents", train=1, validation=1, test=1, galleries=60)
    task = create_task("gallery-retrieval", split="galleries", gallery=20)
    scores = task.evaluate(Embedder(Asis()), dataset)
    found = task.searched(Embedder(Asis()), dataset)  # type: ignore[attr-defined]
    assert (scores.metrics, scores.measures) == (recalls(found), medians(found))
    assert scores.counts == {"i2t": 60, "t2i": 120}
    way = scores.ranks["t2i"]
    assert len(way) == 120
    assert (np.diff(way) < 0).any(), "query by query"
    kept = {"i2t", "t2i", "i2t_nearest", "t2i_nearest"}
    plain = create_task("retrieval", split="galleries").evaluate(Embedder(Asis()), dataset).ranks
    assert scores.ranks.keys() == plain.keys() == kept
    assert (np.diff(plain["t2i"]) < 0).any(), "query by query"
    again = RULES["gallery-retrieval"](scores.ranks, {})
    assert (again.metrics, again.counts, again.measures) == (scores.metrics, scores.counts, scores.measures)


def test_galleries_are_searched_alone() -> None:
    rng = np.random.default_rng(0)
    image, text = (torch.from_numpy(rng.normal(size=(n, 4))) for n in (12, 24))
    owner = torch.arange(12).repeat_interleave(2)
    found = create_task("gallery-retrieval", gallery=4).ranks(image, text, owner)  # type: ignore[attr-defined]
    for i, start in enumerate((0, 4, 8)):
        alone = rank_both(image[start : start + 4], text[2 * start : 2 * start + 8], owner[:8])
        assert found["i2t"][4 * i : 4 * i + 4].tolist() == alone["i2t"].tolist()
        assert found["t2i"][8 * i : 8 * i + 8].tolist() == alone["t2i"].tolist()
    for way, queries, wrong in (("i2t", 12, image @ text.T), ("t2i", 24, text @ image.T)):
        pictures = found[f"{way}_nearest"] - 1
        assert len(pictures) == queries
        of = np.arange(queries) * 12 // queries
        assert (pictures // 4 == of // 4).all(), "of its own gallery"
        assert (pictures != of).all()
        best = wrong.reshape(queries, 12, -1).amax(2)
        galleries = torch.from_numpy(
            (np.arange(12)[None] // 4 == of[:, None] // 4) & (np.arange(12)[None] != of[:, None])
        )
        assert pictures.tolist() == best.where(galleries, -torch.inf).argmax(1).tolist()
    with pytest.raises(UsageError, match="has 12 images, no multiple of a gallery of 5"):
        create_task("gallery-retrieval", gallery=5).ranks(image, text, owner)  # type: ignore[attr-defined]
