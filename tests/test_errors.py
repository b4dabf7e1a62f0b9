import pickle

import pytest

from benchsuite.errors import BenchsuiteError, RecordError, RunError, SeveralError, UnknownError, UsageError


def test_exit_codes_are_those_the_command_promises() -> None:
    kinds = (UsageError, RecordError, RunError)
    assert [kind.exit_code for kind in kinds] == [2, 1, 3]
    assert all(issubclass(kind, BenchsuiteError) for kind in kinds)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("tau_aplha", 'x: key "tau_aplha" does not exist (known: rho, tau_alpha, tau_min). Did you mean "tau_alpha"?'),
        ("TauAlpha", 'x: key "TauAlpha" does not exist (known: rho, tau_alpha, tau_min). Did you mean "tau_alpha"?'),
        ("zzzz", 'x: key "zzzz" does not exist (known: rho, tau_alpha, tau_min).'),
    ],
)
def test_an_unknown_name_gets_all_known_ones_and_the_nearest_if_any_is_near(name: str, says: str) -> None:
    assert str(UnknownError("key", name, ["tau_min", "rho", "tau_alpha"], where="x: ")) == says


def test_names_equally_near_are_all_offered() -> None:
    assert str(UnknownError("key", "tau_x", ["tau_a", "tau_b"])).endswith('Did you mean "tau_a" or "tau_b"?')


def test_nothing_known_is_said_so() -> None:
    assert str(UnknownError("table", "a", [])) == 'table "a" does not exist (known: none).'


def test_of_many_names_only_the_nearest_are_listed() -> None:
    names = [f"retrieval.t2i_r{k}" for k in range(1, 40)] + ["geometry.gap"]
    said = str(UnknownError("measure", "geometry.gpa", names))
    listed = said.partition("(known: ")[2].partition(")")[0]
    assert listed.startswith("geometry.gap, ")
    assert listed.endswith(" and 37 others")
    assert said.endswith('Did you mean "geometry.gap"?')
    assert "others" not in str(UnknownError("measure", "geometry.gpa", names[:5]))


def test_a_message_has_the_lines_that_it_was_given() -> None:
    error = RunError("2 of 3 failed.", more=["  a", "  b\nc"])
    assert error.lines == ["2 of 3 failed.", "  a", "  b\nc"]
    assert str(error) == "2 of 3 failed.\n  a\n  b\nc"
    assert SeveralError(["one", "two"]).lines == ["one", "  two"]
    assert BenchsuiteError("a\nb").lines == ["a\nb"]


def test_an_error_comes_whole_from_another_process() -> None:
    for error in (
        RunError("first", more=["second"]),
        SeveralError(["first", "second"]),
        UnknownError("key", "a", ["b"], where="x: "),
    ):
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), copy.lines) == (type(error), error.lines)
        assert copy.__dict__ == error.__dict__


def test_a_name_like_no_other_leads_to_the_list() -> None:
    said = str(UnknownError("recipe", "zzz", ["scenes-small", "latents-pairs"]))
    assert said.endswith("(known: latents-pairs, scenes-small). `benchsuite list recipes` shows all.")
    assert "benchsuite list" not in str(UnknownError("recipe", "scenes-smal", ["scenes-small"]))
    assert "benchsuite list" not in str(UnknownError("split", "zzz", ["train"]))
