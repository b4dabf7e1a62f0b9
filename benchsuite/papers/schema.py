"""What a table file holds: the published cells with their places, and the runs that would fill them."""

from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from benchsuite.setup import Part


class PublishedCell(Part):
    """A number as printed, and how it was read."""

    value: float
    read: Literal["table", "text", "figure"] = "table"
    note: str = ""


class Column(Part):
    """One printed column and where its counterpart is measured."""

    key: str
    group: str
    label: str
    measure: dict[str, str] = {}
    """For each track of recipes, "protocol.metric"."""
    stand_in: dict[str, str] = {}
    """For each track, what stands for this column's data, in words."""


class Row(Part):
    """One printed row: a method on a backbone."""

    label: str
    backbone: str
    published: dict[str, PublishedCell]
    method: str | None = None
    hyperparameters: dict[str, Any] = {}
    not_run: str = ""
    """Why no method reproduces this row."""
    note: str = ""

    @field_validator("published", mode="before")
    @classmethod
    def _numbers_are_cells(cls, cells: dict[str, Any]) -> dict[str, Any]:
        return {key: {"value": cell} if isinstance(cell, int | float) else cell for key, cell in cells.items()}

    @model_validator(mode="after")
    def _runs_or_says_why(self) -> Self:
        if (self.method is None) == (not self.not_run):
            raise ValueError(
                f'row "{self.label}" ({self.backbone}) needs either a method or not_run, the reason for none'
            )
        return self


class Table(Part):
    """One table of one paper."""

    file_format: Literal[1]
    paper: str
    table: str
    locator: str
    """Where it stands in the paper."""
    title: str
    source: str = ""
    """The paper, as one would cite it."""
    unit: Literal["percent"] = "percent"
    notes: list[str] = []
    recipes: dict[str, str] = Field(min_length=1)
    """Scale to recipe."""
    columns: list[Column] = Field(min_length=1)
    rows: list[Row] = Field(min_length=1)

    @property
    def name(self) -> str:
        """`paper/table`, as the command line says it."""
        return f"{self.paper}/{self.table}"

    @model_validator(mode="after")
    def _cells_fit_columns(self) -> Self:
        keys = [column.key for column in self.columns]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise ValueError(f"column {min(twice)} is there twice")
        names = [(row.backbone, row.label) for row in self.rows]
        if again := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"row {' '.join(min(again))} is there twice")
        for row in self.rows:
            if foreign := sorted(set(row.published) - set(keys)):
                raise ValueError(
                    f'row "{row.label}" has a cell for "{foreign[0]}", which is no column ({", ".join(keys)})'
                )
            for key, cell in row.published.items():
                if not 0 <= cell.value <= 100:
                    raise ValueError(f'row "{row.label}", column {key}: {cell.value} is not a percentage')
        return self
