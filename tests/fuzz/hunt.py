"""Runs benchsuite on damaged results folders, and finds what must not happen: `Hunt.fault` is empty if nothing did."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from damages import Case
from support.attested import attest, listed
from support.bounded import Bounded, Outcome
from support.signing import REPOSITORY, Sigstore
from support.whole_folder import ENVIRONMENT, whole_folder

VERIFY = ("verify", "results", "--provenance")
PAGES = ("report", "--results", "results", "--single-file", "pages.html")


class Hunt:
    """A sound folder, a copy of it in which cases are written, and the processes that read it."""

    def __init__(self, sound: Path, work: Path, processes: Bounded, sigstore: Sigstore, trust: Sequence[str]) -> None:
        """`trust`: options of `verify` and `report` with which the attestations of `sigstore` count."""
        self.sound, self.work, self.sigstore = sound, work, sigstore
        self._processes, self._trust = processes, trust

    def fault(self, case: Case) -> str:
        """What went wrong with a case: a traceback, a signal, too much time or memory, a file elsewhere; or nothing."""
        results = self.work / "results"
        case.write(results)
        before = set(self.work.rglob("*"))
        try:
            for command in (VERIFY, *((PAGES,) if case.pages else ())):
                done = self._run(*command)
                (self.work / "pages.html").unlink(missing_ok=True)
                if done.fault:
                    return f"{command[0]}: {done.fault}\n{done.err}"
                if new := set(self.work.rglob("*")) ^ before:
                    return f"{command[0]}: files appeared or vanished: {sorted(map(str, new))}"
        finally:
            case.undo(results, self.sound)
        return ""

    def verified(self) -> Outcome:
        """What `verify` says of the folder as it is."""
        return self._run(*VERIFY)

    def _run(self, *command: str) -> Outcome:
        return self._processes.run(self.work, *command, *self._trust)


@contextmanager
def hunting(folder: Path) -> Iterator[Hunt]:
    """A hunt in an empty folder."""
    first, work = folder / "first", folder / "work"
    (first / "results").mkdir(parents=True)
    sigstore, root = Sigstore(), folder / "root.json"
    attest(whole_folder(first / "results"), sigstore, commit=ENVIRONMENT["commit"])
    listed(first / "results")
    root.write_text(sigstore.root())
    trust = ("--repository", REPOSITORY, "--trusted-root", str(root))
    shutil.copytree(first / "results", folder / "sound")
    work.mkdir()
    shutil.copytree(folder / "sound", work / "results")
    with Bounded(first, "--provenance", *trust) as processes:
        yield Hunt(folder / "sound", work, processes, sigstore, trust)
