import math
from collections.abc import Collection, Mapping
from statistics import fmean
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.analysis.stats import Rank, Unpairable, compare, holm, ranking
from benchsuite.errors import RecordError

Values = dict[str, dict[int, float]]
DUELS = st.sampled_from([(a, b) for a in "ABCDE" for b in "ABCDE" if a < b])
UNPAIRABLE = st.dictionaries(DUELS, st.frozensets(st.integers(0, 7), max_size=4), max_size=4)


def ranks_of(
    values: Values, better: Literal["higher", "lower"] = "higher", unpairable: Unpairable | None = None
) -> Mapping[str, Rank]:
    return ranking(values, better, unpairable).ranks


WOBBLE = (0.001, -0.002, 0.0, 0.002, -0.001)


def row(level: float, *wobble: float) -> dict[int, float]:
    return {seed: level + by for seed, by in enumerate(wobble or WOBBLE)}


@st.composite
def columns(draw: st.DrawFn) -> Values:
    """Up to five rows, some far apart and some not, some with fewer seeds or none."""
    names = draw(st.lists(st.sampled_from("ABCDE"), min_size=1, unique=True))
    levels = {name: draw(st.sampled_from([0.0, 0.001, 0.5, 0.9])) for name in names}
    return {
        name: {
            seed: levels[name] + draw(st.integers(-8, 8)) / 4096 for seed in range(draw(st.sampled_from([0, 1, 3, 6])))
        }
        for name in names
    }


def without(row: dict[int, float], seeds: Collection[int]) -> dict[int, float]:
    return {seed: value for seed, value in row.items() if seed not in seeds}


CLEAR = {"low": row(0.1), "top": row(0.9, 0, 0.001, 0, 0.002, 0), "middle": row(0.5, 0.002, 0, 0.001, 0.001, 0)}


def test_rows_far_apart_have_places_of_their_own() -> None:
    ranks = ranks_of(CLEAR)
    assert {name: rank.rank for name, rank in ranks.items()} == {"top": 1, "middle": 2, "low": 3}
    assert all(rank.tied_with == () for rank in ranks.values())
    assert ranking(CLEAR).best == {"top"}


def test_rows_that_cannot_be_told_apart_share_a_place() -> None:
    values = {**CLEAR, "also top": row(0.9, 0.001, 0.001, -0.001, 0.001, 0.001)}
    ranks = ranks_of(values)
    assert {name: rank.rank for name, rank in ranks.items()} == {"top": 1, "also top": 1, "middle": 3, "low": 4}
    assert ranks["top"].tied_with == ("also top",)
    assert ranks["also top"].tied_with == ("top",)
    assert ranking(values).best == {"top", "also top"}


def test_ties_are_not_transitive() -> None:
    """A noisy row is tied with two rows that differ significantly; only the better of these has a star."""
    noisy = row(0.51, 0.3, -0.3, 0.2, -0.2, 0.0)
    values = {"steady": row(0.5), "worse": row(0.4, 0.001, 0.001, 0, 0, 0.001), "noisy": noisy}
    ranks = ranks_of(values)
    assert ranks["noisy"].tied_with == ("steady", "worse")
    assert ranks["steady"].tied_with == ("noisy",)
    assert {name: rank.rank for name, rank in ranks.items()} == {"steady": 1, "noisy": 1, "worse": 2}
    assert ranking(values).best == {"steady", "noisy"}


@given(columns(), st.sampled_from(["higher", "lower"]))
def test_every_row_with_a_better_mean_than_a_star_has_a_star(
    values: Values, better: Literal["higher", "lower"]
) -> None:
    column = ranking(values, better)
    sign = 1 if better == "higher" else -1
    means = {name: sign * fmean(by_seed.values()) for name, by_seed in values.items() if by_seed}
    for name, rank in column.ranks.items():
        better_rows = {other for other in means if means[other] > means[name]}
        deserved = rank.rank == 1 and column.decided and all(column.ranks[other].rank == 1 for other in better_rows)
        assert (name in column.best) == deserved
        assert name not in column.best or better_rows <= column.best


def test_what_is_no_number_is_refused_and_nobody_has_no_place() -> None:
    with pytest.raises(RecordError, match="seed 1 has the value nan"):
        ranks_of({"a": {0: 0.1, 1: math.nan}, "b": {0: 0.2}})
    assert ranks_of({}) == ranks_of({"a": {}}) == {}


@given(columns(), st.sampled_from(["higher", "lower"]), UNPAIRABLE)
def test_places_are_what_the_comparisons_say(
    values: Values, better: Literal["higher", "lower"], unpairable: dict[tuple[str, str], frozenset[int]]
) -> None:
    ranks = ranks_of(values, better, unpairable=unpairable)
    present = [name for name in sorted(values) if values[name]]
    duels = [(a, b) for a in present for b in present if a < b]
    pairs = [compare(without(values[a], unpairable.get((a, b), ())), values[b]) for a, b in duels]
    ps = holm(np.array([math.nan if pair.too_small or pair.p is None else pair.p for pair in pairs])).tolist()
    beats = {
        (a, b) if ((pair.difference or 0) > 0) == (better == "higher") else (b, a)
        for (a, b), pair, p in zip(duels, pairs, ps, strict=True)
        if p <= 0.05
    }
    assert set(ranks) == {name for name in values if values[name]}
    for name, rank in ranks.items():
        assert rank.rank == 1 + sum(loser == name for _, loser in beats)
        others = {other for other in present if other != name}
        assert set(rank.tied_with) == {o for o in others if not {(o, name), (name, o)} & beats}


def test_seeds_that_meant_something_else_do_not_count_between_two_rows() -> None:
    """Without three of five seeds the top row is tied with the middle one, but still beats the low one."""
    ranks = ranks_of(CLEAR, unpairable={("middle", "top"): [0, 1, 2]})
    assert ranks["middle"].rank == ranks["top"].rank == 1
    assert ranks["top"].tied_with == ("middle",)
    assert ranks["low"].rank == 3
    assert ranks_of(CLEAR, unpairable={("middle", "top"): [7]}) == ranks_of(CLEAR)


def test_a_column_that_ranks_nothing_has_no_ranking() -> None:
    assert ranking(CLEAR, "neither").ranks == {}
