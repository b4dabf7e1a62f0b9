"""What was asked of a table at a scale, stored beside the records. It says nothing of what came of it."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge

from benchsuite.canonical import short_digest
from benchsuite.fields import Positive
from benchsuite.parts import Part
from benchsuite.tower_settings import MODEL

Regime = Literal["printed", "tuned"]
"""Whether rows have the paper's hyper-parameters as printed, or those that an equal search chose."""
REGIMES: Mapping[Regime, str] = {"printed": "as printed", "tuned": "tuned"}
"""In words, in the order in which they are shown."""
Number = Annotated[int, Ge(0)]


def regimes(asked: str) -> list[Regime]:
    """Those that a word asks for: one by its name, or "both"."""
    return [regime for regime in REGIMES if asked in (regime, "both")]


def file_digest(content: Part) -> str:
    """Of a table or a recipe as it is read: comments, blanks and new keys at their defaults do not count."""
    return short_digest(content.model_dump(mode="json", exclude_defaults=True))


class AddedRow(Part):
    """A row that the table's file does not have: an added method, or the reference trained longer."""

    method: str
    backbone: str
    variant: str = ""
    longer: Positive = 1.0


class TableRequest(Part):
    """A table at a scale in a regime: which rows and replicates."""

    request_format: Literal[2] = 2
    table: str
    scale: str
    regime: Regime = "printed"
    trials: Number = 0
    """Of each row's search in each replicate; 0 without searches."""
    replicates: list[Number]
    rows: list[str]
    """Rows of the table's file, as `backbone/variant/label`."""
    added: list[AddedRow] = []
    options: dict[str, dict[str, Any]] = {}
    """Options by dataset that were given in place of the recipe's; under `model` weights by backbone and side."""
    table_digest: str
    recipe_digest: str
    """Of the table and the recipe, as their files were: see `file_digest`."""

    @property
    def name(self) -> str:
        """File name: `temo-table1-small`, or `temo-table1-latents-tuned`."""
        return f"{self.table.replace('/', '-')}-{self.scale}{'-tuned' * (self.regime == 'tuned')}"

    @property
    def place(self) -> tuple[str, str]:
        """Table and scale, whose regimes stand side by side."""
        return self.table, self.scale

    @property
    def at(self) -> str:
        """The scale, with the regime where it is not as printed."""
        return self.scale + ", tuned" * (self.regime == "tuned")

    @property
    def shown(self) -> str:
        """The scale and the regime, for titles."""
        return f"{self.scale}, {REGIMES[self.regime]}"

    def with_earlier(self, before: Self) -> Self:
        """With the rows and replicates that were asked for earlier, and the models of the other backbones."""
        lists = {
            name: [*dict.fromkeys([*getattr(before, name), *getattr(self, name)])]
            for name in ("rows", "added", "replicates")
        }
        models = before.options.get(MODEL, {}) | self.options.get(MODEL, {})
        options = {**self.options, MODEL: models} if models else self.options
        return self.model_copy(update={**lists, "options": options})
