"""Results as pandas data frames: a row for each run and metric, and tables as their pages show them.

The numbers are those of the pages: both read them from `Record.numbers` and from the same table object.
"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

from benchsuite.analysis.building import build_views
from benchsuite.analysis.labels import recipes_of, titles
from benchsuite.analysis.table_view import TableView
from benchsuite.analysis.tracks import TrackAgreement, track_agreements
from benchsuite.errors import BenchsuiteError, RecordError, UsageError, did_you_mean
from benchsuite.papers.reader import USUAL
from benchsuite.records.contents import Contents, read_contents
from benchsuite.records.names import SECOND
from benchsuite.records.schema import Record, StoredNumber
from benchsuite.records.store import Store
from benchsuite.records.trials import best, by_subject
from benchsuite.workers import without_garbage_collection

if TYPE_CHECKING:
    from pandas import DataFrame

ROW = ("paper", "table", "scale", "regime", "track", "recipe", "backbone", "variant", "row", "part")
"""Columns that say in which row of which table a run stands."""
COSTS = ("seconds", "cpu_seconds", "peak_memory_bytes", "trainable_parameters")
ENVIRONMENT = ("device", "processor", "threads", "processes", "benchsuite", "commit")
DIGESTS = ("initial_weights", "batches")
"""Digests of what a seed fixes: runs of one setup and seed may be paired where these are equal."""
IDENTITY = ("run_id", "seed", "method", "method_title", "method_id", "setup", "setup_id", "created")


def load_results(folder: str | Path = "runs") -> "DataFrame":
    """A results folder as a data frame: a row for each run, metric, and row of a table that the run stands in.

    Values are fractions. A run that several tables share has as many rows for each metric; one that no table shows has
    one, with `paper` to `part` missing, but for the recipe. To count each number once:
    `.drop_duplicates(["run_id", "protocol", "metric"])`. Invalid files are skipped with a warning.

        results = benchsuite.load_results("results")
        recall = results.query("table == 'temo/table1' and metric == 't2i_r1'")
        recall.groupby("method").value.agg(["mean", "std", "count"])
    """
    read = _read(folder)
    return results_frame(read.contents, read.views)


def load_table(
    name: str, scale: str | None = None, results: str | Path = "runs", regime: str | None = None
) -> "DataFrame":
    """A table as its page shows it: a row for each cell, published beside ours, with ranks and the values by seed.

    By default at scale "features", or "small", or the one that there is. `regime` is "tuned" or "printed"; by default
    the tuned table, if there is one.

    Numbers in percent are fractions here, published ones too. `seed_0`, `seed_1`, ... are ours by seed.

        table = benchsuite.load_table("temo/table1", "small", "results")
        table.pivot(index="row", columns="column", values="mean")
    """
    from pandas import DataFrame

    cells = []
    for cell in table_cells(find_view(_read(results).views, name, scale, results, regime)):
        values, _ = cell.pop("values"), cell.pop("tied_with")
        cells.append({**cell, **{f"seed_{seed}": value for seed, value in values.items()}})
    return DataFrame(cells)


def load_agreement(folder: str | Path = "runs") -> "DataFrame":
    """How far scales order the methods alike that they share: Kendall's tau with its interval, for each two scales.

    A row for each regime, backbone and measure that is primary at both, with the titles of the methods.
    """
    from pandas import DataFrame

    found = track_agreements(_read(folder).views)
    return DataFrame([asdict(one) for one in found], columns=[f.name for f in fields(TrackAgreement)])


def in_regime(views: Sequence[TableView], regime: str | None) -> list[TableView]:
    """Those of a regime; without one, of each table and scale the tuned one if it is there."""
    tuned = {(view.asked.table, view.asked.scale) for view in views if view.asked.regime == "tuned"}
    return [
        view
        for view in views
        if view.asked.regime == (regime or ("tuned" if (view.asked.table, view.asked.scale) in tuned else "printed"))
    ]


def find_view(
    views: Sequence[TableView], name: str, scale: str | None, folder: str | Path, regime: str | None = None
) -> TableView:
    """The table at a scale in a regime, tuned if it is there; an error says what the folder has instead.

    Without a scale: the usual one, if it is there, or else the first.
    """
    every = [view for view in views if view.asked.table == name]
    scales = {view.asked.scale: view for view in in_regime(every, regime)}
    asked = f" at scale {scale}" if scale else ""
    scale = scale or next((usual for usual in USUAL if usual in scales), next(iter(scales), ""))
    if regime and scale not in scales and (others := [v.asked.at for v in every if scale in ("", v.asked.scale)]):
        raise UsageError(f"{name} is not {regime}{asked} in {folder}, only {', '.join(others)}.")
    if not scales:
        at = f" --scale {scale}" if scale else ""
        raise UsageError(f"{name} is not in {folder}. Run `benchsuite repro {name}{at}{_into(folder)}` first.")
    if scale not in scales:
        there = ", ".join(scales)
        hint = did_you_mean(scale, scales) or " Choose one of these scales."
        raise UsageError(f"{name} has no results{asked} in {folder}, only at {there}.{hint}")
    return scales[scale]


def table_cells(view: TableView) -> Iterator[dict[str, Any]]:
    """Everything of each cell, as files and data frames have it; numbers in percent as fractions."""
    for row in view.rows:
        for cell in row.cells:
            rank = view.rank(row, cell)
            yield {
                "table": view.asked.table,
                "scale": view.asked.scale,
                "regime": view.asked.regime,
                "backbone": row.backbone,
                "variant": row.variant,
                "row": row.label,
                "column": cell.column.key,
                "measure": cell.measure,
                "measured_on": view.setting.stand_ins.get(cell.column.key, ""),
                "unit": cell.column.unit,
                "published": cell.published,
                "mean": cell.mean,
                "sd": cell.sd,
                "low": cell.low,
                "high": cell.high,
                "n": cell.n,
                "rank": rank.rank if rank else None,
                "best": view.is_best(row, cell),
                "tied_with": list(rank.tied_with) if rank else [],
                "method": row.method,
                "setup_id": next((record.setup_id for record in cell.records.values()), ""),
                "values": dict(cell.values),
            }


def results_frame(contents: Contents, views: Sequence[TableView]) -> "DataFrame":
    """The data frame of `load_results`, from what was read."""
    from pandas import DataFrame

    records = contents.records.values()
    numbers = [(record.run_id, *number) for record in records for number in record.numbers()]
    setups = titles({record.setup_id: record.setup for record in records}, views, recipes_of(records))
    runs = DataFrame(
        [_run(record, setups[record.setup_id]) for record in records],
        columns=[*IDENTITY, *COSTS, *ENVIRONMENT, *DIGESTS],
    )
    rows = DataFrame([*dict.fromkeys(_rows(views))], columns=["run_id", *ROW])
    runs = runs.join(_hyperparameters([record.method.hyperparameters for record in records]))
    frame = DataFrame(numbers, columns=["run_id", *StoredNumber._fields]).merge(rows, on="run_id", how="left")
    recipes = frame.run_id.map({record.run_id: record.recipe or None for record in records})
    frame["recipe"] = frame.recipe.where(frame.recipe.notna(), recipes)
    return frame.merge(runs, on="run_id")


def _run(record: Record, setup: str) -> tuple[Any, ...]:
    """In the order of `IDENTITY`, costs, environment and digests."""
    method, ids = record.method, (record.run_id, record.seed)
    identity = (*ids, method.name, method.title, record.method_id, setup, record.setup_id, record.created)
    parts = ((record.cost, COSTS), (record.environment, ENVIRONMENT), (record.digests, DIGESTS))
    return *identity, *(part.get(name) for part, names in parts for name in names)


def _rows(views: Sequence[TableView]) -> Iterator[tuple[str, ...]]:
    """Each run's id with the rows of tables that show it, in the order of `ROW`."""
    for view in views:
        about, setting = view.asked, view.setting
        for row in view.rows:
            for cell in row.cells:
                what = (about.scale, about.regime, setting.recipe.track, setting.name)
                where = (row.backbone, row.variant, row.label, cell.column.part)
                for record in cell.records.values():
                    yield record.run_id, view.table.paper, about.table, *what, *where


def _hyperparameters(of_runs: Sequence[Mapping[str, Any]]) -> "DataFrame":
    """A column each, `hp_tau`: numbers and switches as such, anything else as text, lists as JSON."""
    from pandas import DataFrame, Series

    columns = {}
    for name in sorted({name for hyperparameters in of_runs for name in hyperparameters}):
        values = [hyperparameters.get(name) for hyperparameters in of_runs]
        kinds = {type(value) for value in values if value is not None}
        if kinds <= {int, float}:
            columns[f"hp_{name}"] = Series(values, dtype="float64")
        elif kinds == {bool}:
            columns[f"hp_{name}"] = Series(values, dtype="boolean")
        else:
            texts = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
            columns[f"hp_{name}"] = Series(texts)
    return DataFrame(columns)


def _into(folder: str | Path) -> str:
    """The option that fills a folder other than the usual one."""
    return "" if str(folder) == "runs" else f" --results {quote(str(folder))}"


@dataclass(frozen=True)
class ResultsFolder:
    """A results folder: its records, its tables, and what was skipped."""

    path: Path
    contents: Contents
    views: Sequence[TableView]
    left_out: Sequence[BenchsuiteError] = ()

    @classmethod
    @without_garbage_collection()
    def read(cls, path: Path, contents: Contents | None = None) -> Self:
        """The folder, read now unless its contents are given."""
        contents = contents or Store(path).read()
        return cls(path, contents, *build_views(contents))

    @classmethod
    def existing(cls, path: Path, table: str = "temo/table1") -> Self:
        """The same of a folder that must be there: an error names what fills it."""
        if not path.is_dir():
            what = "is no folder" if path.exists() else "does not exist"
            first = f"Run `benchsuite repro {table}{_into(path)}` first."
            raise UsageError(f"results folder {path} {what}. {first}")
        return cls.read(path)

    @cached_property
    def second(self) -> "ResultsFolder | None":
        """The second laboratory's without its trials, if there is one; it is read when it is asked for."""
        folder = self.path / SECOND
        return ResultsFolder.read(folder, read_contents(folder, with_trials=False)) if folder.is_dir() else None

    @property
    def skipped(self) -> list[BenchsuiteError]:
        """What was left out here, and there if that was read."""
        second = vars(self).get("second")
        return [*self.left_out, *(second.left_out if second else ())]

    def require_whole(self) -> None:
        """End with exit code 1 if files were skipped: what shows the others calls it at the end."""
        if self.skipped:
            lines = [line for error in self.skipped for line in error.lines]
            raise RecordError("skipped invalid files:", more=[f"  {line}" for line in lines])


def _read(folder: str | Path) -> ResultsFolder:
    read = ResultsFolder.existing(Path(folder))
    for error in read.left_out:
        warnings.warn(f"skipped: {error}", stacklevel=3)
    return read


TRIAL = (
    "recipe", "label", "longer", "regime", "replicate", "method", "method_title", "number", "seed", "measure",
    "score", "chosen", "error", "learning_rate", "fixed", "run_id", "setup_id", "method_version", "created",
)  # fmt: skip
"""Columns of a trial, before costs and hyper-parameters."""


def load_trials(folder: str | Path = "runs") -> "DataFrame":
    """The tuning trials of a results folder as a data frame: a row for each trial, failed ones without a score.

    Hyper-parameters are columns, as in `load_results`. Damaged files are skipped with a warning.

        trials = benchsuite.load_trials("results")
        trials.groupby(["label", "method", "replicate"]).score.agg(["max", "count"])
    """
    from pandas import DataFrame

    if not Path(folder).is_dir():
        raise UsageError(f"results folder {folder} does not exist. Run `benchsuite tune` first.")
    contents = Store(Path(folder)).read()
    for error in contents.errors:
        warnings.warn(f"skipped: {error}", stacklevel=2)
    trials = [(recipe, file, trial) for recipe, file in sorted(contents.trials.items()) for trial in file.trials]
    # by identity: searches of both regimes may share a run
    chosen = {id(best(one)) for file in contents.trials.values() for one in by_subject([file]).values()}
    rows = [
        (recipe, t.label, t.method.longer, t.regime, t.replicate, t.method.name, t.method.title, t.number, t.seed,
         file.rule.get("measure"), t.score, id(t) in chosen, t.error, t.method.learning_rate,
         json.dumps(t.fixed, sort_keys=True), t.run_id, t.setup_id, t.method.version, t.created,
         *map(t.cost.get, COSTS))
        for recipe, file, t in trials
    ]  # fmt: skip
    frame = DataFrame(rows, columns=[*TRIAL, *COSTS]).astype({"score": "float64", "learning_rate": "float64"})
    return frame.join(_hyperparameters([trial.method.hyperparameters for _, _, trial in trials]))
