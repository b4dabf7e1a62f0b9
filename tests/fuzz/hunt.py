"""Runs benchsuite on damaged results folders, and finds what must not happen: `Hunt.fault` is empty if nothing did."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bounded import Bounded
from damages import Case
from whole_folder import whole_folder

PAGES = ("report", "--results", "results", "--single-file", "pages.html")


class Hunt:
    """A sound folder, a copy of it in which cases are written, and the processes that read it."""

    def __init__(self, sound: Path, work: Path, processes: Bounded) -> None:
        self.sound, self.work, self._processes = sound, work, processes

    def fault(self, case: Case) -> str:
        """What went wrong with a case: a traceback, a signal, too much time or memory, a file elsewhere; or nothing."""
        results = self.work / "results"
        case.write(results)
        before = set(self.work.rglob("*"))
        try:
            for command in (("verify", "results"), *((PAGES,) if case.pages else ())):
                done = self._processes.run(self.work, *command)
                (self.work / "pages.html").unlink(missing_ok=True)
                if done.fault:
                    return f"{command[0]}: {done.fault}\n{done.err}"
                if new := set(self.work.rglob("*")) ^ before:
                    return f"{command[0]}: files appeared or vanished: {sorted(map(str, new))}"
        finally:
            case.undo(results, self.sound)
        return ""


@contextmanager
def hunting(folder: Path) -> Iterator[Hunt]:
    """A hunt in an empty folder."""
    first, work = folder / "first", folder / "work"
    (first / "results").mkdir(parents=True)
    whole_folder(first / "results")
    shutil.copytree(first / "results", folder / "sound")
    work.mkdir()
    shutil.copytree(folder / "sound", work / "results")
    with Bounded(first) as processes:
        yield Hunt(folder / "sound", work, processes)
