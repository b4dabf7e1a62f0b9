"""A few damaged files of each kind; `tox -e fuzz` tries thousands."""

from collections.abc import Iterator

import pytest
from damages import Case, cases
from hunt import Hunt, hunting
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from benchsuite.records.names import RERUNS


@pytest.fixture(scope="module")
def hunt(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hunt]:
    with hunting(tmp_path_factory.mktemp("fuzz")) as hunt:
        yield hunt


@settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_damaged_file_ends_no_command_early(hunt: Hunt, data: st.DataObject) -> None:
    case: Case = data.draw(cases(hunt.sound, hunt.sigstore))
    assert hunt.fault(case) == ""


def test_the_sound_folder_is_attested_and_done_again(hunt: Hunt) -> None:
    """Otherwise damages of attestations and of second trainings would be refused early, whatever they are."""
    done = hunt.verified()
    assert (done.fault, done.code) == ("", 0)
    assert "attested" in done.out, done.out
    assert list((hunt.sound / RERUNS).iterdir())


def test_a_fault_is_found(hunt: Hunt) -> None:
    """A folder in the place of results is wrong usage; a command that does not exist would be a fault of the hunt."""
    assert hunt.fault(Case("nothing", {}, pages=True)) == ""
    done = hunt._processes.run(hunt.work, "verify", "absent")
    assert (done.fault, done.code) == ("", 2)
