"""`benchsuite verify --rerun N`: do stored runs again and hold what comes out against their records."""

import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from random import Random

from benchsuite.analysis.rerun import Again, is_other_seed
from benchsuite.analysis.vouchers import incomparable
from benchsuite.cli.shared.progress import progress
from benchsuite.execution.events import Failed, Finished
from benchsuite.execution.pool import Pool
from benchsuite.records.names import RERUNS
from benchsuite.records.record_file import Finding
from benchsuite.records.reruns import Rerun, write_rerun
from benchsuite.records.schema import Record
from benchsuite.verify.audit import Audit
from benchsuite.verify.rerun import devices_of, draw
from benchsuite.work.session import signals_raised


def rerun(audit: Audit, count: int, folders: Mapping[str, str], plugins: list[Path], store: bool) -> None:
    """Do that many of the valid records again, drawn at random, and add what was found. They stay as they are."""
    with tempfile.TemporaryDirectory(prefix="benchsuite-rerun-") as folder:
        count = min(count, len(audit.records))
        drawn = draw(audit.records, count, Random(), folders, Path(folder))
        for name, reason in drawn.left_out.items():
            audit.notes.append(Finding(name, f"cannot be run again here: {reason}", ""))
        if len(drawn.runs) < count:
            message = f"{len(drawn.runs)} of {count} records to run again could be drawn"
            audit.problems.append(Finding(str(audit.path), message, "the notes say why"))
        with progress(len(drawn.runs)) as shown, signals_raised():
            for name, run in drawn.runs.items():
                record = audit.records[name]
                with closing(pool(record, Path(folder), plugins).execute([run], [run])) as events:
                    for event in events:
                        shown.show(event)
                        judge(audit, name, record, event, store)


def pool(record: Record, folder: Path, plugins: list[Path]) -> Pool:
    """Processes and threads as they were."""
    return Pool(devices_of(record), folder / "logs", plugins, threads=record.environment.get("threads"))


def judge(audit: Audit, name: str, record: Record, event: object, store: bool) -> None:
    """Add what the end of a run says of its record."""
    if isinstance(event, Failed):
        audit.problems.append(Finding(name, f"run again: it fails: {event.reason}", "measure it again"))
    if isinstance(event, Finished):
        row = [other for other in audit.records.values() if is_other_seed(other, record)]
        again = Again(name, record, event.record, row)
        audit.problems += again.problems()
        audit.notes += again.notes()
        if store:
            keep(audit, record, Rerun.of(record, event.record))


def keep(audit: Audit, record: Record, rerun: Rerun) -> None:
    """Store the second training beside the records, and say whether it can verify the record."""
    folder = audit.path if audit.path.is_dir() else audit.path.parent
    path = write_rerun(folder, rerun)
    reasons = ", ".join(incomparable(record, rerun))
    says = f"stored; it verifies nothing, because it cannot be compared: {reasons}" if reasons else "stored"
    audit.notes.append(Finding(f"{RERUNS}/{path.name}", says, ""))
