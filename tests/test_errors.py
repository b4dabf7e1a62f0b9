import pytest

from benchsuite.errors import BenchsuiteError, RecordError, RunError, UsageError, unknown


def test_exit_codes_are_those_the_command_promises() -> None:
    kinds = (UsageError, RecordError, RunError)
    assert [kind.exit_code for kind in kinds] == [2, 1, 3]
    assert all(issubclass(kind, BenchsuiteError) for kind in kinds)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tau_aplha", 'x: key "tau_aplha" does not exist (known: rho, tau_alpha, tau_min). Did you mean "tau_alpha"?'),
        ("zzzz", 'x: key "zzzz" does not exist (known: rho, tau_alpha, tau_min).'),
    ],
)
def test_an_unknown_name_gets_all_known_ones_and_the_nearest_if_any_is_near(name: str, says: str) -> None:
    assert str(unknown("key", name, ["tau_min", "rho", "tau_alpha"], where="x: ")) == says


def test_names_equally_near_are_all_offered() -> None:
    assert str(unknown("key", "tau_x", ["tau_a", "tau_b"])).endswith('Did you mean "tau_a" or "tau_b"?')


def test_nothing_known_is_said_so() -> None:
    assert str(unknown("table", "a", [])) == 'table "a" does not exist (known: none).'
