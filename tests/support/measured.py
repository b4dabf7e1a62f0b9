"""TeMo's Table 1 on two columns, measured as a test wishes: as a side of a comparison, and as a results folder."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchsuite.analysis.building import build_views
from benchsuite.analysis.results import ResultsFolder
from benchsuite.papers import Table, read_table
from benchsuite.papers.reader import read_table_file
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.contents import Contents
from benchsuite.records.requests import Regime, TableRequest
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import Store
from support.planned import method_of, request_of, results_of, setup_of, tuned_of

MakeRecord = Callable[..., tuple[Record, bytes]]
Values = Mapping[str, Sequence[float]]
HIGH, LOW = (0.30, 0.31, 0.33, 0.32), (0.10, 0.12, 0.12, 0.13)
"""Two rows that four seeds tell apart."""
TIED = (0.13, 0.10, 0.12, 0.12)
"""One that they cannot tell from the second."""
CURVES = {"step": [0, 1], "loss": [2.0, None], "temperature": [0.1, 0.1], "temperature_positive": [0.1, 0.2]}
"""With what premises on temperatures look at."""


def measured(
    make: MakeRecord,
    values: Values,
    first: int = 0,
    table: str = "temo/table1",
    scale: str = "small",
    regime: Regime = "printed",
    own: Path | None = None,
    **changes: Any,
) -> tuple[TableRequest, list[tuple[Record, bytes]]]:
    """What was asked for, and its records: each row's R@1 by seed, on RN50; changes are of the request.

    A row that the table does not have is one of an added method of that name. `own`: the folder of table and recipe.
    """
    read = read_table_file(table, own / "papers" / f"{table}.toml") if own else read_table(table)
    name = read.recipes[scale]
    recipe = read_recipe(str(own / "recipes" / f"{name}.toml") if own else name)
    printed = {row.label: row for row in read.rows if row.backbone == "RN50"}
    setup, found, trials = setup_of(recipe, "RN50"), [], 0
    for label, column in values.items():
        method = method_of(printed.get(label, printed["InfoNCE"]), recipe)
        if label not in printed:
            method = method.model_copy(update={"name": label, "title": label, "owner": "us"})
        about = {}
        if recipe.tuning:
            about["tuned"] = tuned_of(read, printed.get(label, printed["InfoNCE"]), recipe, regime)
            rate, trials = recipe.optimizer.lr * (2 if regime == "tuned" else 1), about["tuned"].trials
            method = method.model_copy(update={"learning_rate": rate})
        for seed, value in enumerate(column, first):
            numbers = {"metrics": {"t2i_r1": value, "i2t_r1": value / 2, "t2i_r10": value}, "counts": {"t2i": 100}}
            results = results_of(setup, {"retrieval": Result(task="retrieval", version=1, **numbers)})
            found.append(make(seed, setup=setup, results=results, method=method, curves=CURVES, **about))
    changes = {"regime": regime, "trials": trials, **changes}
    return _request(read, scale, values, first, recipe=recipe, **changes), found


def _request(table: Table, scale: str, values: Values, first: int, **changes: Any) -> TableRequest:
    rows = {row.label: row.name for row in table.rows if row.backbone == "RN50"}
    told = {
        "rows": [rows[label] for label in values if label in rows],
        "added": [{"method": label, "backbone": "RN50"} for label in values if label not in rows],
        "replicates": range(first, first + max(map(len, values.values()))),
    }
    return request_of(table, scale, **{**told, **changes})


def side(make: MakeRecord, values: Values, **changes: Any) -> ResultsFolder:
    """As one side of a comparison."""
    request, found = measured(make, values, **changes)
    records = {record.run_id: record for record, _ in found}
    contents = Contents(records, {}, [request], [], [], [])
    views, _ = build_views(contents)
    return ResultsFolder(Path("results"), contents, views)


def fill(folder: Path, make: MakeRecord, values: Values, **changes: Any) -> Path:
    """As a results folder."""
    store = Store(folder)
    store.require_writable()
    request, found = measured(make, values, **changes)
    for record, ranks in found:
        store.write(record, ranks)
    store.add_request(request)
    return folder
