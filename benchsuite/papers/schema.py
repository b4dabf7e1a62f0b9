"""What a table file holds: the published cells, where they are printed, and the runs that reproduce them."""

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from benchsuite.errors import UnknownError, UsageError, quote
from benchsuite.grouping import by_key
from benchsuite.papers.questions import HEADLINES, Premise, TextClaim
from benchsuite.parts import Part
from benchsuite.setup import Setup
from benchsuite.toml_files import MisplacedError


class PublishedCell(Part):
    """A number as printed, and how it was read."""

    value: float
    read: Literal["table", "text", "figure"] = "table"
    note: str = ""
    """What is odd about it: the paper contradicts itself here, or a mean does not fit."""


class Column(Part):
    """One printed column and what measures it."""

    key: str
    group: str
    label: str
    unit: Literal["percent", "number"] = "percent"
    better: Literal["higher", "lower", "neither"] = "higher"
    range: tuple[float, float] | None = None
    """Where published values can lie; 0 to 100 for percentages."""
    mean_of: list[str] = []
    """Columns whose mean this one prints: ours is computed from theirs where the recipe does not measure it."""
    part: str = ""
    """The part of the table that is measured, if columns come from different runs."""
    measure: str | dict[str, str]
    """"protocol.metric" as the paper has it, and the recipe says what stands for that protocol. Or a dictionary by
    track, of recipes' own protocols."""
    stand_in: dict[str, str] = {}
    """With measures by track: the data that replace this column's data there, in words."""

    @property
    def name(self) -> str:
        return f"{self.group} {self.label}".strip()

    def measured_at(self, track: str) -> str | None:
        """The measure on a track, before stand-ins."""
        return self.measure if isinstance(self.measure, str) else self.measure.get(track)


class TablePart(Part):
    """Separate runs for some columns: another variant of the recipe, or other hyper-parameters."""

    variant: str = ""
    hyperparameters: dict[str, Any] = {}


RowKey = tuple[str, str, str]
"""Backbone, variant and label: they identify a row of a table."""


class Row(Part):
    """One printed row: a method on a backbone."""

    label: str
    backbone: str
    variant: str = ""
    """A variant of the recipe under which this row is run: another optimizer, other training data."""
    published: dict[str, PublishedCell] = {}
    method: str | None = None
    hyperparameters: dict[str, Any] = {}
    role: Literal["proposed", "baseline", "step"] = "baseline"
    """Decides which claims follow: the proposed method against each baseline and step, the steps of an ablation
    against each other. See `benchsuite.papers.claim`."""
    quoted: str = ""
    """The source of the numbers, if the paper only quotes them."""
    not_run: str = ""
    """Why no method reproduces this row."""
    note: str = ""

    @property
    def key(self) -> RowKey:
        return self.backbone, self.variant, self.label

    @property
    def name(self) -> str:
        """`backbone/variant/label`, without what is empty."""
        return row_name(self.key)

    @property
    def names(self) -> set[str]:
        """What a user may call it."""
        return {self.label, f"{self.backbone}/{self.label}", row_name(("", self.variant, self.label)), self.name}

    def options(self, part: TablePart) -> dict[str, Any]:
        """The hyper-parameters of the row's runs for a part of the table."""
        return {**self.hyperparameters, **part.hyperparameters}

    @field_validator("published", mode="before")
    @classmethod
    def _cells_from_numbers(cls, cells: dict[str, Any]) -> dict[str, Any]:
        return {key: {"value": cell} if isinstance(cell, int | float) else cell for key, cell in cells.items()}

    @model_validator(mode="after")
    def _runs_or_says_why(self) -> Self:
        if (self.method is None) == (not self.not_run):
            raise ValueError(
                f'row "{self.label}" ({self.backbone}) needs either a method or not_run, the reason for none'
            )
        return self


class Plot(Part):
    """Curves that a figure shows: quantities over the training, or one column against another."""

    title: str
    x: str = "step"
    """`step`, or a column's key: then a point a run."""
    y: list[str] = Field(min_length=1)
    """Names of curves in the records, or columns' keys."""
    x_scale: Literal["linear", "log", "minus-inverse-log-squared"] = "linear"
    """The last is -1 / log(t)^2, of a step t above 1."""

    @property
    def columns(self) -> list[str]:
        """Keys of the columns that it draws; none for curves."""
        return [] if self.x == "step" else [self.x, *self.y]


class Table(Part):
    """One table, or numeric figure, of one paper."""

    file_format: Literal[1]
    paper: str
    table: str
    locator: str
    """Where the paper prints it."""
    title: str
    source: str = ""
    """The paper, as one would cite it."""
    unit: Literal["percent"] = "percent"
    """Of columns that do not say otherwise."""
    notes: list[str] = []
    factors: list[str] = []
    """Settings in which rows differ on purpose, as dotted prefixes. Rows are compared although these differ."""
    printed: list[str] = []
    """Hyper-parameters that stay as printed in all rows where rows are tuned, beside those that differ among rows of
    one method: what the table varies from method to method, such as one fixed temperature against a learned one."""
    searched: list[str] = []
    """Hyper-parameters in which rows of one method differ and that are searched all the same, as where the paper shows
    a second choice of its own. Tuned, those rows are one."""
    recipes: dict[str, str] = Field(min_length=1)
    """Scale to recipe."""
    parts: dict[str, TablePart] = {}
    columns: list[Column] = Field(min_length=1)
    rows: list[Row] = Field(min_length=1)
    claims: list[TextClaim] = []
    premises: list[Premise] = []
    plots: list[Plot] = []

    @property
    def name(self) -> str:
        """`paper/table`, as the command line says it."""
        return f"{self.paper}/{self.table}"

    def at(self, scale: str) -> Self:
        """What of it counts at a scale: what is said of other scales changes nothing there."""

        def own(told: Mapping[str, str]) -> dict[str, str]:
            return {name: text for name, text in told.items() if name == scale}

        premises = [one.model_copy(update={"unmet": own(one.unmet)}) for one in self.premises]
        return self.model_copy(update={"recipes": own(self.recipes), "premises": premises})

    @property
    def all_parts(self) -> Mapping[str, TablePart]:
        """The parts; a table whose columns all come from the same runs has one, without a name."""
        return self.parts or {"": TablePart()}

    def column(self, key: str) -> Column:
        """The column of that key, which the file is known to have."""
        return next(column for column in self.columns if column.key == key)

    def row(self, selector: str) -> Row:
        """The one row that a label, backbone/label or backbone/variant/label names."""
        rows = self._called.get(selector, [])
        if not rows:
            raise UnknownError("row", selector, [row.name for row in self.rows], f"{self.name}: ")
        if len(rows) > 1:
            names = ", ".join(quote(row.name) for row in rows)
            raise UsageError(f'{self.name}: "{selector}" names {len(rows)} rows; say which: {names}.')
        return rows[0]

    @cached_property
    def _called(self) -> Mapping[str, list[Row]]:
        """Rows by what a user may call them, and a whole name is that of one alone."""
        called = by_key((name, row) for row in self.rows for name in row.names)
        return called | by_key((row.name, row) for row in self.rows)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        keys = [column.key for column in self.columns]
        _require_unique("column", "columns", keys)
        _require_unique("row", "rows", [row_name(row.key) for row in self.rows])
        for scale, recipe in self.recipes.items():
            if recipe.endswith(".toml"):
                problem = "name a recipe, not a file. Its file must be recipes/<name>.toml in the table's folder"
                raise MisplacedError(f'scale "{scale}": {recipe}: {problem}', "recipes", scale)
        for number, name in enumerate(self.searched):
            if name in self.printed:
                raise MisplacedError(f'"{name}" is in printed, too: say which of the two it is', "searched", number)
        for number, factor in enumerate(self.factors):
            _require_known("factors", "setting", factor.partition(".")[0], list(Setup.model_fields), "factors", number)
        for number, column in enumerate(self.columns):
            _require_known(f"column {column.key}", "part", column.part, ["", *self.parts], "columns", number, "part")
            for other in column.mean_of:
                _require_known(f"column {column.key}, mean_of", "column", other, keys, "columns", number, "mean_of")
        for number, row in enumerate(self.rows):
            for key, cell in row.published.items():
                place = ("rows", number, "published", key)
                _require_known(f'row "{row.label}"', "column", key, keys, *place)
                _require_in_range(row, self.column(key), cell.value, *place)
        for number, plot in enumerate(self.plots):
            for key in plot.columns:
                _require_known(f'plot "{plot.title}"', "column", key, keys, "plots", number)
        published = any(row.published for row in self.rows)
        if published and sum(bool(claim.headline) for claim in self.claims) > HEADLINES:
            raise MisplacedError(f"more than {HEADLINES} headline claims: choose those of the paper's text", "claims")
        for number, premise in enumerate(self.premises):
            _require_known_parts(premise, self, "premises", number)
        for number, claim in enumerate(self.claims):
            if claim.headline:
                _require_known(f'claim "{claim.statement}"', "column", claim.headline, claim.columns, "claims", number)
            for key in claim.columns:
                _require_known(f'claim "{claim.statement}"', "column", key, keys, "claims", number, "columns")
            for end in ("row", "reference"):
                try:
                    self.row(getattr(claim, end))
                except UsageError as error:
                    raise MisplacedError(f'claim "{claim.statement}": {error}', "claims", number, end) from error
        return self


@lru_cache(maxsize=2**12)
def row_name(key: RowKey) -> str:
    """`backbone/variant/label`, without what is empty."""
    return "/".join(part for part in key if part)


def _require_unique(what: str, where: str, names: Sequence[str]) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            raise MisplacedError(f'{what} "{name}" appears twice', where, number)


def _require_known(where: str, what: str, name: str, known: Sequence[str], *place: str | int) -> None:
    if name not in known:
        raise MisplacedError(str(UnknownError(what, name, known, f"{where}: ")), *place)


def _require_known_parts(premise: Premise, table: Table, *place: str | int) -> None:
    where, columns = f'premise "{premise.statement}"', [column.key for column in table.columns]
    for key in filter(None, (premise.column, *premise.columns)):
        _require_known(where, "column", key, columns, *place)
    for scale in premise.unmet:
        _require_known(where, "scale", scale, list(table.recipes), *place)
    for selector in (*premise.rows, *premise.concerns):
        try:
            table.row(selector)
        except UsageError as error:
            raise MisplacedError(f"{where}: {error}", *place) from error


def _require_in_range(row: Row, column: Column, value: float, *place: str | int) -> None:
    low, high = column.range or ((0.0, 100.0) if column.unit == "percent" else (float("-inf"), float("inf")))
    if not low <= value <= high:
        problem = "not a percentage" if column.unit == "percent" and not column.range else f"not in [{low:g}, {high:g}]"
        raise MisplacedError(f'row "{row.label}", column {column.key}: {value} is {problem}', *place)
