import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.streams import derived_seed, numpy_stream

SEEDS = st.integers(0, 2**31)
PURPOSES = st.lists(st.sampled_from(["weights", "order", "captions", "crop"]) | st.integers(0, 99), max_size=3)


@given(SEEDS, PURPOSES, SEEDS, PURPOSES)
def test_another_seed_or_purpose_draws_otherwise(
    seed: int, purpose: list[str | int], other_seed: int, other_purpose: list[str | int]
) -> None:
    same = (seed, *purpose) == (other_seed, *other_purpose)
    assert (derived_seed(seed, *purpose) == derived_seed(other_seed, *other_purpose)) == same


def test_draws_for_one_purpose_never_move_anothers() -> None:
    alone = numpy_stream(0, "order").permutation(9).tolist()
    numpy_stream(0, "captions").random(100)
    assert numpy_stream(0, "order").permutation(9).tolist() == alone


def test_the_global_generator_is_left_alone() -> None:
    np.random.seed(5)
    before = np.random.get_state()[1].tolist()
    numpy_stream(0, "order").random(100)
    assert np.random.get_state()[1].tolist() == before


@pytest.mark.parametrize(("purpose", "expected"), [((), 3456079177858693020), (("captions", 3), 4594167557408084710)])
def test_derived_seeds_are_the_same_on_every_machine(purpose: tuple[str | int, ...], expected: int) -> None:
    assert derived_seed(0, *purpose) == expected
