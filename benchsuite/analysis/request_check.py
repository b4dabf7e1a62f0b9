"""Are the runs that a table lists those of its rows? Requests are files that anyone can edit."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchsuite.papers.schema import Row, Table
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import PARAPHRASES, Record

Configuration = tuple[str, str, str | None]
"""Setup, method and paraphrases: what the seeds of a row share."""


REPAIR = "put it back as it was written, or delete it and run the same `benchsuite repro` again"


@dataclass(frozen=True)
class StoredRuns:
    """The records of a folder, as all its tables are looked at with them."""

    by_run: Mapping[str, Record]
    runs: Mapping[Configuration, Mapping[int, str]]
    """By seed."""

    @classmethod
    def of(cls, records: Iterable[Record]) -> "StoredRuns":
        """All of a results folder."""
        by_run = {record.run_id: record for record in records}
        runs: defaultdict[Configuration, dict[int, str]] = defaultdict(dict)
        for record in by_run.values():
            configuration = record.setup_id, record.row_id, record.digests.get(PARAPHRASES)
            runs[configuration][record.seed] = record.run_id
        return cls(by_run, runs)

    def of_the_row(self, runs: RequestedRuns) -> Mapping[int, str]:
        """Every stored run with the setup, the method and the paraphrases of these, by seed."""
        return self.runs.get((runs.setup_id, runs.row_id, runs.paraphrases), {})


def with_stored_seeds(request: TableRequest, stored: StoredRuns) -> TableRequest:
    """With the stored seeds of its rows that other tables asked for, so that it leaves none out."""
    rows = []
    for row in request.rows:
        parts = {}
        for part, runs in row.parts.items():
            more = {seed: run for seed, run in stored.of_the_row(runs).items() if seed not in runs.runs}
            parts[part] = runs.model_copy(update={"runs": {**runs.runs, **more}}) if more else runs
        rows.append(row.model_copy(update={"parts": parts}))
    return request.model_copy(update={"rows": rows})


def problems(table: Table, request: TableRequest, stored: StoredRuns) -> Iterator[str]:
    """Every row's runs have its method, hyper-parameters, setup and seed, and no stored seed of them is left out."""
    by_run = stored.by_run
    printed = {row.key: row for row in table.rows}
    for row in request.rows:
        for part, runs in row.parts.items():
            label = " ".join(filter(None, (row.backbone, row.variant, row.label, part)))
            found = [*_of_the_row(row, printed.get(row.key), table, part, runs, request, by_run)]
            for seed, run in sorted(runs.runs.items()):
                if run in by_run:
                    found += _of_the_seed(seed, runs, by_run[run])
            if left_out := stored.of_the_row(runs).keys() - runs.runs.keys():
                seeds = ", ".join(map(str, sorted(left_out)))
                again = f"benchsuite repro {request.table} --scale {request.scale}"
                found.append(f"seed {seeds} is stored but left out; `{again}` adds it")
            yield from (f"{label}: {problem}" for problem in dict.fromkeys(found))


def _of_the_seed(seed: int, runs: RequestedRuns, record: Record) -> Iterator[str]:
    for what, listed, own in (
        ("seed", seed, record.seed),
        ("setup", runs.setup_id, record.setup_id),
        ("method with its hyper-parameters and its search", runs.row_id, record.row_id),
        ("paraphrases", runs.paraphrases, record.digests.get(PARAPHRASES)),
    ):
        if listed != own:
            yield f"run {record.run_id} is listed for seed {seed}, but its {what} is {own}, not {listed}"


def _of_the_row(
    row: RequestedRow,
    printed: Row | None,
    table: Table,
    part: str,
    runs: RequestedRuns,
    request: TableRequest,
    by_run: Mapping[str, Record],
) -> Iterator[str]:
    """The table's file says which method a row has, and what stays as printed of it."""
    method = printed.method if printed else row.method
    options: Mapping[str, Any] = printed.options(table.all_parts[part]) if printed and part in table.all_parts else {}
    for record in (by_run[run] for run in runs.runs.values() if run in by_run):
        if record.method.name != method:
            yield f"run {record.run_id} is one of {record.method.name}, not of {method}"
            continue
        if printed and record.method.longer != 1:
            yield f"run {record.run_id} trained {record.method.longer:g} times the setup's steps"
        for name, value in options.items():
            if record.tuned is not None and name in record.tuned.searched:
                continue
            used = record.method.hyperparameters.get(name)
            if not _same(used, value, request.temperature_factor):
                yield f"run {record.run_id} has {name} = {used}, but the row has {value}"


def _same(used: Any, printed: Any, factor: float) -> bool:
    """A temperature was multiplied by the recipe's factor."""
    if used == printed:
        return True
    numbers = isinstance(used, int | float) and isinstance(printed, int | float)
    return numbers and any(math.isclose(used, printed * times, rel_tol=1e-9) for times in (1.0, factor))
