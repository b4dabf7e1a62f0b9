"""Damaged results folders: no traceback, no hang, bounded memory, no file elsewhere.

A few in every run of the tests; `BENCHSUITE_FUZZ=20000 pytest tests/fuzz` tries as many, new ones each time.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from damages import Case, cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.bounded import Bounded
from support.whole_folder import whole_folder

pytestmark = pytest.mark.slow

MANY = int(os.environ.get("BENCHSUITE_FUZZ", 0))
VERIFY = ("verify", "results")
PAGES = ("report", "--results", "results", "--report", "pages")


class Place:
    """A sound folder, a copy of it in which cases are written, and the processes that read it."""

    def __init__(self, folder: Path, processes: Bounded) -> None:
        self.sound, self.work, self.processes = folder / "sound" / "results", folder / "work", processes

    def fault(self, case: Case) -> str:
        """What went wrong with a case: a traceback, a signal, too much time or memory, a file elsewhere; or nothing."""
        results = self.work / "results"
        case.write(results)
        before = set(self.work.rglob("*"))
        try:
            for command in (VERIFY, *((PAGES,) if case.pages else ())):
                done = self.processes.run(self.work, *command)
                shutil.rmtree(self.work / "pages", ignore_errors=True)
                if done.fault:
                    return f"{command[0]}: {done.fault}\n{done.err}"
                if new := set(self.work.rglob("*")) ^ before:
                    return f"{command[0]}: files appeared or vanished: {sorted(map(str, new))}"
        finally:
            case.undo(results, self.sound)
        return ""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "sound" / "results").mkdir(parents=True)
    shutil.copytree(whole_folder(folder / "sound" / "results"), folder / "work" / "results")
    with Bounded(folder / "sound") as processes:
        yield Place(folder, processes)


@settings(
    max_examples=MANY or 40,
    derandomize=not MANY,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_a_damaged_file_ends_no_command_early(place: Place, data: st.DataObject) -> None:
    assert place.fault(data.draw(cases(place.sound))) == ""


def test_the_sound_folder_is_verified(place: Place) -> None:
    """Otherwise damages would be refused early, whatever they are."""
    done = place.processes.run(place.work, *VERIFY)
    assert (done.fault, done.code) == ("", 0), done.out
    assert place.fault(Case("nothing", {}, pages=True)) == ""
