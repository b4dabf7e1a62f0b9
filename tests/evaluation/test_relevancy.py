from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.epic import relevancies

from benchsuite.errors import UsageError
from benchsuite.evaluation import relevancy as module
from benchsuite.evaluation.relevancy import Actions, relevancy_parts

ITEM = st.tuples(st.integers(0, 2), st.sets(st.integers(0, 5), min_size=1, max_size=4))
ITEMS = st.lists(ITEM, min_size=1, max_size=6)


@given(ITEMS, ITEMS, st.sampled_from([1, 2, 512]))
def test_relevancy_agrees_with_sets(
    rows: list[tuple[int, set[int]]], columns: list[tuple[int, set[int]]], block: int
) -> None:
    one, two = (Actions.of([v for v, _ in some], [sorted(n) for _, n in some]) for some in (rows, columns))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", block)
        parts, whole = relevancy_parts(one, two)
    for i, (verb, nouns) in enumerate(rows):
        for j, (other_verb, other_nouns) in enumerate(columns):
            exactly = Fraction(verb == other_verb) + Fraction(len(nouns & other_nouns), len(nouns | other_nouns))
            assert Fraction(int(parts[i, j]), whole) == exactly / 2


def test_more_nouns_than_exact_sums_allow_are_refused() -> None:
    many = Actions.of([0], [list(range(30))])
    with pytest.raises(UsageError, match="60 noun classes in either, too many for exact sums"):
        relevancy_parts(many, many)


def test_real_files_have_a_full_answer_for_every_query() -> None:
    found = relevancies()
    assert found.shape == (9668, 3842)
    assert (found == 1).any(0).all()
    assert (found == 1).any(1).all()
    assert (found.min(), found.max()) == (0, 1)


@pytest.mark.parametrize("nouns", [[[1], []], [[1], [-1]]])
def test_an_item_without_nouns_is_refused(nouns: list[list[int]]) -> None:
    with pytest.raises(UsageError, match="item 1 has noun classes"):
        Actions.of([0, 0], nouns)
