"""Ranks are those of the definition, to the last one, whatever a matrix product says."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.evaluation import ranks
from benchsuite.evaluation.ranks import ExactSide, both_ways, radius, ranks_of_columns, row_scores

Matrix = NDArray[np.float64]


def defined(a: Tensor, b: Tensor) -> Matrix:
    """Scores of all rows of `a` with all rows of `b`, by the definition, in plain Python numbers."""

    def one(x: list[float], y: list[float]) -> float:
        terms = [np.float64(p) * np.float64(q) for p, q in zip(x, y, strict=True)]
        while len(terms) > 1:
            half = (len(terms) + 1) // 2
            terms = [terms[k] + terms[k + half] if k + half < len(terms) else terms[k] for k in range(half)]
        return float(terms[0])

    with np.errstate(all="ignore"):
        return np.array([[one(x, y) for y in b.double().tolist()] for x in a.double().tolist()])


def ranks_both_ways(image: Tensor, text: Tensor, group: Tensor) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    first, second = both_ways(image, text, group)
    return first.ranks(), second.ranks()


def expected(scores: Matrix, group: list[int]) -> tuple[list[int], list[int]]:
    """Best ranks of rows, and of each column the rank of its row."""
    first = []
    for i, row in enumerate(scores):
        own = [j for j, g in enumerate(group) if g == i]
        best = max((row[j] for j in own), default=-np.inf)
        if any(np.isnan(row[j]) for j in own):
            best = np.nan
        first.append(1 + sum(not row[j] < best for j in range(len(row)) if j not in own))
    second = [
        1 + sum(not scores[i, j] < scores[g, j] for i in range(len(scores)) if i != g) for j, g in enumerate(group)
    ]
    return first, second


KINDS = ("noise", "near", "duplicates", "zeros", "whole numbers", "lengths", "outlier", "collapsed", "ulp")


def rows(kind: str, count: int, width: int, rng: np.random.Generator) -> Matrix:
    """Embeddings that make comparisons hard."""
    noise = rng.normal(size=(count, width))
    one = np.ones((count, 1)) * rng.normal(size=width)
    if kind == "near":
        return one + noise * 10.0 ** rng.integers(-17, -4)
    if kind == "duplicates":
        return noise[rng.integers(0, max(1, count // 3), count)]
    if kind == "zeros":
        return noise * (rng.random((count, 1)) < 0.5)
    if kind == "whole numbers":
        return rng.integers(-1, 2, (count, width)).astype(float)
    if kind == "lengths":
        return noise * 10.0 ** rng.integers(-8, 8, (count, 1))
    if kind == "outlier":
        noise[rng.integers(count)] *= 1e9
        return noise
    if kind == "collapsed":
        return one
    if kind == "ulp":
        return np.where(rng.random(one.shape) < 0.2, np.nextafter(one, np.inf), one)
    return noise


TYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


@st.composite
def hard(draw: st.DrawFn) -> tuple[Tensor, Tensor, list[int]]:
    """Two sides, and the row that each column belongs to."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    group = rng.permutation([*range(n), *rng.integers(0, n, draw(st.integers(0, 9)))])
    sides = []
    for count in (n, len(group)):
        values = rows(draw(st.sampled_from(KINDS)), count, width, rng) * 10.0 ** draw(
            st.sampled_from((0, 0, 0, 12, -12, -25, 30, -42, 150, -150, -170, 300))
        )
        sides.append(torch.from_numpy(values).to(draw(st.sampled_from(TYPES))))
    if draw(st.booleans()) and sides[0].dtype == sides[1].dtype:  # the right pairs are equal vectors, or nearly
        sides[1] = sides[0][torch.from_numpy(group)].clone()
    return sides[0], sides[1], group.tolist()


@settings(max_examples=60, deadline=None)
@given(hard(), st.sampled_from([1, 3, 1024]), st.booleans(), st.integers(0, 10**6))
def test_ranks_are_those_of_the_definition(
    given_: tuple[Tensor, Tensor, list[int]], block: int, broken: bool, seed: int
) -> None:
    """Also where coordinates are not finite."""
    image, text, group = given_
    rng = np.random.default_rng(seed)
    for side in (image, text):
        for _ in range(rng.integers(0, 4) * broken):
            side[rng.integers(len(side)), rng.integers(side.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "BLOCK", block)
        found = ranks_both_ways(image, text, torch.tensor(group))
        alone = ranks_of_columns(text, image, torch.tensor(group))
    wanted = expected(defined(image, text), group)
    assert [way.tolist() for way in found] == list(wanted)
    assert alone.tolist() == wanted[1]


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["noise", "near", "lengths", "zeros"]), st.sampled_from([1, 3, 1024]))
def test_the_nearest_wrong_candidate_is_no_own_one_and_none_is_nearer(seed: int, kind: str, block: int) -> None:
    rng = np.random.default_rng(seed)
    image, text = (torch.from_numpy(rows(kind, n, 8, rng)) for n in (5, 10))
    group = torch.from_numpy(rng.permutation(10) % 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranks, "BLOCK", block)
        found = both_ways(image, text, group)
    scores, own = defined(image, text), group.numpy()[None] == np.arange(5)[:, None]
    errors = 1e-14 * image.norm(dim=1).numpy()[:, None] * text.norm(dim=1).numpy()
    others = np.where(own, -np.inf, scores)
    for way, wrong, error in ((found[0], others, errors), (found[1], others.T, errors.T)):
        chosen = wrong[np.arange(len(wrong)), way.nearest]
        assert (chosen >= wrong.max(1) - 2 * error.max(1)).all()


def drifting(seed: int) -> Any:
    """A product that errs as much as one in double precision may, up or down as it likes."""
    generator = torch.Generator().manual_seed(seed)

    def product(a: Tensor, b: Tensor) -> Tensor:
        exact, width = a @ b, a.shape[1]
        most = 0.9 * width * 2.0**-53 * a.norm(dim=1)[:, None] * b.norm(dim=0)
        return exact + most * (2 * torch.randint(0, 2, exact.shape, generator=generator) - 1)

    return product


@settings(max_examples=50, deadline=None)
@given(
    st.integers(0, 10**6), st.sampled_from(["near", "noise", "ulp", "lengths", "outlier"]), st.sampled_from(TYPES[:2])
)
def test_ranks_do_not_depend_on_the_product(seed: int, kind: str, dtype: torch.dtype) -> None:
    rng = np.random.default_rng(seed)
    image, text = (torch.from_numpy(rows(kind, n, 48, rng)).to(dtype) for n in (6, 12))
    text = torch.where(torch.rand(12, 1) < 0.5, image.repeat(2, 1) * (1 + 1e-15), text)
    group = torch.arange(6).repeat(2)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "mm", drifting(seed))
        found = ranks_both_ways(image, text, group)
    assert [way.tolist() for way in found] == list(expected(defined(image, text), group.tolist()))


def test_scores_that_the_definition_rounds_to_few_numbers_are_ties() -> None:
    generator = torch.Generator().manual_seed(0)
    image, text = 1e-162 * torch.randn(2, 40, 3, generator=generator, dtype=torch.float64)
    found = ranks_both_ways(image, text, torch.arange(40))
    assert [way.tolist() for way in found] == list(expected(defined(image, text), list(range(40))))


@pytest.mark.parametrize("width", [1, 2, 3, 7, 64, 100, 512, 777])
@pytest.mark.parametrize("dtype", TYPES)
def test_a_score_is_that_of_the_definition_alone_or_among_others(width: int, dtype: torch.dtype) -> None:
    a, b = torch.randn(2, 5, width, generator=torch.Generator().manual_seed(width)).to(dtype)
    scores = row_scores(a, b)
    assert scores.tolist() == [defined(a[i : i + 1], b[i : i + 1])[0, 0] for i in range(5)]
    assert scores.tolist() == row_scores(b, a).tolist()
    assert scores[3:4].tolist() == row_scores(a.T.contiguous().T[3:4], b[3:4]).tolist()


@pytest.mark.parametrize("shift", [0.0, 1.0])
@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e145])
def test_no_product_is_further_from_the_score_than_the_radius(shift: float, scale: float) -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(2, 4, 300, generator=generator, dtype=torch.float64)
    a, b = scale * (values[0] + shift), (values[1] + shift) / scale
    sides = [ExactSide(part, 10**6) for part in (a, b)]
    one_by_one = torch.zeros(4, 4, dtype=torch.float64)
    for k in range(300):
        one_by_one += a[:, k, None] * b[:, k]
    for product in (a @ b.T, one_by_one):
        for i, j in np.ndindex(4, 4):
            pairs = zip(a[i].tolist(), b[j].tolist(), strict=True)
            exact = sum(Fraction(x) * Fraction(y) for x, y in pairs)
            most = float(radius(sides[0].lengths[i], sides[1].lengths[j], 300))
            assert abs(Fraction(float(product[i, j])) - exact) <= most
            assert most < 1e-12 * float(sides[0].lengths[i] * sides[1].lengths[j])


def test_nothing_is_certain_where_a_product_could_overflow() -> None:
    large = ExactSide(torch.full((1, 4), 1e154, dtype=torch.float64), 10)
    for side in (large, ExactSide(torch.tensor([[1.0, torch.inf]]), 10)):
        assert radius(side.lengths[0], side.lengths[0], 4) == torch.inf


@pytest.mark.parametrize("block", [1, 3, 6, 7, 20, 1000])
def test_lengths_are_the_same_however_many_coordinates_are_converted_at_a_time(block: int) -> None:
    values = torch.randn(11, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(ExactSide(values, block).lengths, values.double().norm(dim=1), atol=0, rtol=1e-15)


def test_both_ways_take_one_product(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def product(a: Tensor, b: Tensor) -> Tensor:
        sizes.append(len(a) * b.shape[1])
        return a @ b

    monkeypatch.setattr(torch, "mm", product)
    monkeypatch.setattr(ranks, "BLOCK", 16)
    ranks_both_ways(torch.randn(50, 8), torch.randn(100, 8), torch.arange(100) // 2)
    assert sum(sizes) == 50 * 100
    assert max(sizes) == 16 * 16


ONE = torch.randn(1, 16, generator=torch.Generator().manual_seed(0))
LAST = torch.eye(16)[15]
COLLAPSED = {
    "all equal": (ONE.repeat(60, 1), ONE.repeat(300, 1)),
    "nearly equal": (ONE + 1e-6 * torch.rand(60, 16), ONE + 1e-6 * torch.rand(300, 16)),
    "few different": (torch.randn(60, 16), ONE.repeat(300, 1) * (1 + torch.arange(300)[:, None] % 3)),
    "zeros": (torch.randn(60, 16), torch.zeros(300, 16) * torch.randn(300, 1)),
    "nothing but zeros": (torch.zeros(60, 16), torch.zeros(300, 16)),
    "one outlier": (torch.randn(60, 16), torch.randn(300, 16) * (1 + 1e9 * (torch.arange(300)[:, None] == 7))),
    "not a number": (torch.full((60, 16), torch.nan), torch.randn(300, 16)),
}


@pytest.mark.parametrize("name", COLLAPSED)
def test_few_pairs_are_scored_one_by_one_when_a_model_collapses(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    scored: list[int] = []
    sound = ranks.pair_scores

    def counted(a: Tensor, b: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        scored.append(len(rows))
        return sound(a, b, rows, columns)

    monkeypatch.setattr(ranks, "pair_scores", counted)
    image, text = COLLAPSED[name]
    group = torch.arange(300) // 5
    found = ranks_both_ways(image, text, group)
    assert sum(scored) <= 300 + 0.02 * image.shape[0] * text.shape[0]
    assert [way.tolist() for way in found] == list(expected(defined(image, text), group.tolist()))


def test_equal_scores_of_different_vectors_are_ties() -> None:
    text = ONE * (1 - LAST) + LAST * torch.arange(300)[:, None]
    i2t, t2i = ranks_both_ways((ONE * (1 - LAST)).repeat(60, 1), text, torch.arange(300) // 5)
    assert set(i2t.tolist()) == {296}
    assert set(t2i.tolist()) == {60}


def test_a_query_without_candidates_of_its_own_ranks_last() -> None:
    assert ranks_both_ways(torch.eye(3), torch.eye(3), torch.tensor([0, 0, 7]))[0].tolist() == [1, 4, 4]


def test_no_queries_have_no_ranks() -> None:
    assert ranks_of_columns(torch.zeros(0, 4), torch.eye(4), torch.zeros(0)).tolist() == []


def test_embeddings_may_want_gradients_or_be_views() -> None:
    image = torch.eye(8, requires_grad=True)
    with torch.inference_mode():
        text = torch.eye(8).T.flip(0).flip(0)
    assert ranks_of_columns(image, text, torch.arange(8, dtype=torch.int32)).tolist() == [1] * 8
    assert ranks_of_columns(image[:, ::2], text[:, ::2], torch.arange(8)).tolist() == [1, 8] * 4


def test_pairs_are_scored_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = torch.randn(2, 30, 6)
    rows_, columns = torch.randint(0, 30, (2, 100))
    whole = ranks.pair_scores(a, b, rows_, columns)
    monkeypatch.setattr(ranks, "PAIR_VALUES", 20)
    assert ranks.pair_scores(a, b, rows_, columns).tolist() == whole.tolist()


@pytest.mark.parametrize("seed", range(5))
def test_one_long_candidate_does_not_hide_behind_a_short_first_one(seed: int) -> None:
    """Its product is wrong by far more than that of the others; its exact score is a little below the right one's."""
    rng = np.random.default_rng(seed)
    query = rng.normal(size=64)
    query /= np.linalg.norm(query)
    across = rng.normal(size=(40, 64))
    across -= np.outer(across @ query, query)
    long = 0.5 * query * (1 - 1e-6 * rng.uniform(-1, 1, (40, 1))) + 1e5 * across
    candidates = torch.tensor(np.concatenate([[0.5 * query], long]), dtype=torch.float32)
    queries = torch.tensor(query[None], dtype=torch.float32)
    scores = defined(queries, candidates)
    right = torch.zeros(1, dtype=torch.long)
    assert ranks_of_columns(queries, candidates, right).tolist() == [1 + int((scores[0, 1:] >= scores[0, 0]).sum())]


def test_many_candidates_come_in_smaller_blocks() -> None:
    assert [ranks.block_rows(columns) for columns in (1, 5_000, 25_000, 50_000)] == [1024, 1024, 320, 160]
    assert ranks.block_rows(10**9) == 1
