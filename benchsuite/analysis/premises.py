"""What must hold in a table's runs for its claims to be tested at all, and what was found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from benchsuite.analysis.rows import Cell, TableRow
from benchsuite.errors import UnknownError
from benchsuite.grouping import by_key
from benchsuite.papers import Table
from benchsuite.papers.claim import Claim
from benchsuite.papers.questions import Premise, acts_of
from benchsuite.papers.schema import RowKey, row_name
from benchsuite.registry import methods


@dataclass(frozen=True)
class PremiseFinding:
    """A premise at a scale, and the numbers of the rows whose runs must have it."""

    premise: Premise
    concerned: frozenset[RowKey]
    """Rows of which claims depend on it; empty: all."""
    values: Mapping[RowKey, float | None]
    """Of rows with runs, in the premise's unit. None where the runs have no such number, as of 0 / 0."""
    missing: Mapping[RowKey, str]
    """Why nothing can be said of a row."""
    unmet: str = ""
    """Why it is known not to hold at this scale; then nothing is looked at."""
    column: str = ""
    """As the paper names it."""
    of_method: bool = False
    """Whether it is that a method's mechanism acts, which its decorator states: claims on its rows depend on it."""

    @property
    def state(self) -> str:
        """In a word or two, over all rows that it looks at."""
        if self.unmet or any(not self.premise.admits(value) for value in self.values.values()):
            return "not met"
        return "not checked" if self.missing or not self.values else "holds"

    @property
    def needed(self) -> str:
        """What is looked at, and its bounds."""
        named = self.premise.model_copy(update={"column": self.column})
        return named.needed

    def concerns(self, claim: Claim) -> bool:
        """Whether a claim may depend on it."""
        return claim.depends_on(self.premise, self.concerned)

    def refuted_for(self, claim: Claim) -> str:
        """Why it does not hold for a claim, with the numbers; "" where it does."""
        if self.unmet:
            return f'"{self.premise.statement}" does not hold at this scale: {self.unmet}'
        looked_at = [(key, self.values[key]) for key in self._rows_for(claim) if key in self.values]
        found = [f"{row_name(key)} has {shown(value)}" for key, value in looked_at if not self.premise.admits(value)]
        wrong = f"needs {self.needed}, but {', '.join(found)}"
        return f'"{self.premise.statement}" does not hold: {wrong}' if found else ""

    def idle_for(self, key: RowKey) -> str:
        """Why the mechanism of a row's method did not act, if so, with its number."""
        if not self.of_method or key not in self.values or self.premise.admits(self.values[key]):
            return ""
        return f'"{self.premise.statement}" does not hold: needs {self.needed}, but has {shown(self.values[key])}'

    def unknown_for(self, claim: Claim) -> str:
        """Why nothing can be said for a claim, if so."""
        reasons = [self.missing[key] for key in self._rows_for(claim) if key in self.missing]
        return f'"{self.premise.statement}" is not checked: {reasons[0]}' if reasons else ""

    def _rows_for(self, claim: Claim) -> list[RowKey]:
        named = [*self.values, *self.missing]
        if self.of_method:
            return [claim.row]
        return named if self.premise.rows else [key for key in (claim.row, claim.reference) if key in named]


def shown(value: float | None) -> str:
    """A premise's number."""
    return "no number" if value is None else f"{value:.4g}"


def findings(table: Table, claims: Sequence[Claim], scale: str, rows: Sequence[TableRow]) -> list[PremiseFinding]:
    """What the runs at a scale say of each premise of the table, and of those of its rows' methods.

    A gauge that no run of its rows has is an error.
    """
    by_key = {row.key: row for row in rows}
    return [*(_finding(premise, table, scale, claims, by_key) for premise in table.premises), *_acting(table, rows)]


def _finding(
    premise: Premise, table: Table, scale: str, claims: Sequence[Claim], rows: Mapping[RowKey, TableRow]
) -> PremiseFinding:
    concerned = frozenset(table.row(name).key for name in premise.concerns)
    column = table.column(premise.column).name if premise.column else ""
    found = PremiseFinding(premise, concerned, {}, {}, premise.unmet.get(scale, ""), column)
    if found.unmet or not (premise.column or premise.gauge):
        return found
    depend = [key for claim in claims if found.concerns(claim) for key in (claim.row, claim.reference)]
    looked_at = [table.row(name).key for name in premise.rows] or list(dict.fromkeys(depend))
    known = {name for key in looked_at if key in rows for record in rows[key].records for name in record.curves}
    for gauge in premise.gauges if known - {"step"} else ():
        if gauge not in known:
            raise UnknownError("gauge", gauge, known - {"step"}, f'{table.name}, premise "{premise.statement}": ')
    values: dict[RowKey, float | None] = {}
    missing: dict[RowKey, str] = {}
    for key in looked_at:
        if why := _missing(premise, rows.get(key), key):
            missing[key] = why
        else:
            cell = _cell(premise, rows[key]) if premise.column else None
            factor = 100 if cell and cell.column.unit == "percent" else 1
            values[key] = cell.mean and cell.mean * factor if cell else _gauge(premise, rows[key])
    return replace(found, values=values, missing=missing)


def _acting(table: Table, rows: Sequence[TableRow]) -> Iterator[PremiseFinding]:
    """Whether the mechanism of each method acted in its rows' runs, but for rows that turn it off."""
    known, fixed = methods.cards(), {row.key: row.hyperparameters for row in table.rows}
    of_method = by_key((row.method, row) for row in rows if row.records and row.method in known)
    for card, own in ((known[name], own) for name, own in of_method.items()):
        defaults = {field.name: field.default for field in card.fields}
        for act in acts_of(card.about):
            premise = act.premise.model_copy(update={"statement": f"{card.title}: {act.premise.statement}"})
            on = [row for row in own if not act.is_off({**defaults, **fixed.get(row.key, {})})]
            missing = {row.key: why for row in on if (why := _missing(premise, row, row.key))}
            values = {row.key: _gauge(premise, row) for row in on if row.key not in missing}
            if on:
                yield PremiseFinding(premise, frozenset(row.key for row in on), values, missing, of_method=True)


def _missing(premise: Premise, row: TableRow | None, key: RowKey) -> str:
    if row is None:
        return f"{row_name(key)} was not selected"
    if premise.column and _cell(premise, row).measure is None:
        return f"{_cell(premise, row).column.name} is not measured at this scale"
    if not (_cell(premise, row).n if premise.column else row.records):
        return f"{row_name(key)} has no runs"
    without = next((name for name in premise.gauges if not any(name in r.curves for r in row.records)), "")
    return f"no run of {row_name(key)} has the gauge {without}" if without else ""


def _cell(premise: Premise, row: TableRow) -> Cell:
    return next(cell for cell in row.cells if cell.column.key == premise.column)


def _gauge(premise: Premise, row: TableRow) -> float | None:
    """The mean over all of the row's runs."""
    values = [value for record in row.records if (value := premise.shown(record.curves)) is not None]
    return fmean(values) if values else None
