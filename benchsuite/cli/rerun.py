"""`benchsuite verify --rerun N`: do stored runs again and hold what comes out against their records."""

import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from random import Random

from benchsuite.analysis.rerun import Again
from benchsuite.cli.execute import signals_raised
from benchsuite.cli.progress import progress
from benchsuite.experiments.events import Failed, Finished
from benchsuite.experiments.pool import Pool
from benchsuite.experiments.rerun import devices_of, draw
from benchsuite.records.audit import Audit
from benchsuite.records.contents import Finding
from benchsuite.records.schema import Record


def rerun(audit: Audit, count: int, folders: Mapping[str, str], plugins: list[Path]) -> None:
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
                        judge(audit, name, record, event)


def pool(record: Record, folder: Path, plugins: list[Path]) -> Pool:
    """Processes and threads as they were."""
    return Pool(devices_of(record), folder / "logs", plugins, threads=record.environment.get("threads"))


def judge(audit: Audit, name: str, record: Record, event: object) -> None:
    """Add what the end of a run says of its record."""
    if isinstance(event, Failed):
        audit.problems.append(Finding(name, f"run again: it fails: {event.reason}", "measure it again"))
    if isinstance(event, Finished):
        row = [other for other in audit.records.values() if is_other_seed(other, record)]
        again = Again(name, record, event.record, row)
        audit.problems += again.problems()
        audit.notes += again.notes()


def is_other_seed(other: Record, record: Record) -> bool:
    """Whether it is of the same row under the same setup."""
    mine, its = ((each.setup_id, each.configuration) for each in (record, other))
    return mine == its and other.seed != record.seed
