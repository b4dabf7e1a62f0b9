"""What speaks for a run besides itself: a workflow that signed it, or a second training that gave the same.

The one place that decides the word which pages, data frames and `verify` show.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from pathlib import Path

from benchsuite.analysis.rerun import Again, is_other_seed
from benchsuite.errors import BenchsuiteError
from benchsuite.records.provenance import provenance
from benchsuite.records.record_file import FileError, Finding
from benchsuite.records.reruns import Rerun, read_reruns
from benchsuite.records.schema import Record
from benchsuite.records.sigstore_bundle import Signature, Trust

CODE = ("commit", "benchsuite", "python", "packages")
"""Of the environment: a training with another one of these is not the same training."""


class Kind(StrEnum):
    """Weakest first. What is attested may be verified, too; the stronger word counts."""

    contradicted = "contradicted"
    """Trained again, with the same code, to other numbers."""
    consistent = "consistent"
    """It agrees with itself; nobody else speaks for it."""
    verified = "verified"
    attested = "attested"


ORDER = list(Kind)


@dataclass(frozen=True)
class RowVoucher:
    """What speaks for the runs of a row: the word of the weakest, and how many have a stronger one."""

    kinds: Mapping[Kind, int]
    workflow_runs: Sequence[str] = ()
    """Addresses, each once."""

    @property
    def kind(self) -> Kind:
        """The weakest."""
        return min(self.kinds, key=ORDER.index)

    def __str__(self) -> str:
        total = sum(self.kinds.values())
        stronger = [kind for kind in reversed(ORDER) if kind in self.kinds and kind is not self.kind]
        parts = ", ".join(f"{self.kinds[kind]} of {total} {kind}" for kind in stronger)
        return f"{self.kind} ({parts})" if parts else str(self.kind)


@dataclass(frozen=True)
class Vouchers:
    """By run_id; runs that are absent are consistent."""

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    problems: Sequence[Finding] = ()
    notes: Sequence[Finding] = ()

    def of(self, record: Record) -> Kind:
        """Of one run."""
        return self.kinds.get(record.run_id, Kind.consistent)

    def of_row(self, records: Sequence[Record]) -> RowVoucher | None:
        """Of a row's runs; None if it has none."""
        if not records:
            return None
        signed = [self.signatures[record.run_id] for record in records if record.run_id in self.signatures]
        runs = list(dict.fromkeys(signature.workflow_run for signature in signed))
        return RowVoucher(Counter(map(self.of, records)), runs)


NOBODY = Vouchers()


def vouchers(
    records: Mapping[str, Record], reruns: Mapping[str, Rerun], signatures: Mapping[str, Signature] | None = None
) -> Vouchers:
    """Of records by run_id; second trainings by file name."""
    signatures = signatures or {}
    kinds = dict.fromkeys(signatures, Kind.attested)
    problems: list[Finding] = []
    notes: list[Finding] = []
    for file, rerun in reruns.items():
        record = records.get(rerun.run_id)
        if record is None or record.digest != rerun.record:
            notes.append(Finding(file, f"a second training of a record of run {rerun.run_id} that is not here", ""))
        elif reason := ", ".join(incomparable(record, rerun)):
            notes.append(Finding(file, f"a second training that cannot be compared: {reason}", ""))
        else:
            row = [other for other in records.values() if is_other_seed(other, record)]
            again = Again(file, record, rerun, row)
            found = list(again.problems())
            problems += found
            notes += again.notes()
            if found:
                kinds[record.run_id] = Kind.contradicted
            elif all(isfinite(again.limit(moved.measure)) for moved in again.moved) or not again.moved:
                kinds.setdefault(record.run_id, Kind.verified)
    return Vouchers(kinds, signatures, problems, notes)


def incomparable(record: Record, again: Rerun) -> Iterator[str]:
    """What keeps a second training from being the same: other or unknown code."""
    for key in CODE:
        if record.environment.get(key) != again.environment.get(key):
            yield f"another {key}"
    for what, environment in (("the record", record.environment), ("the second training", again.environment)):
        if not environment.get("commit") or environment.get("dirty") is not False:
            yield f"the code of {what} is not that of a commit"


def vouchers_of(
    folder: Path, records: Mapping[str, Record], trust: Trust | None = None
) -> tuple[Vouchers, list[BenchsuiteError]]:
    """Of a results folder's valid records by run_id, and what in it is not valid.

    Without trust nothing counts as attested.
    """
    reruns, errors = read_reruns(folder)
    signed = provenance(folder, records.values(), trust) if trust else None
    found = vouchers(records, reruns, signed.signatures if signed else None)
    problems = [*found.problems, *(signed.problems if signed else ())]
    refused = [FileError(folder / problem.file, problem.message, problem.fix) for problem in problems]
    return found, [*errors, *refused]
