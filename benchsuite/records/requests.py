"""A table's request at a scale: the runs of each row. Stored beside the records, for reports."""

from typing import Literal

from benchsuite.setup import Part

Regime = Literal["printed", "tuned"]
"""Whether rows have the paper's hyper-parameters as printed, or those that an equal search chose."""
REGIMES: tuple[Regime, ...] = ("printed", "tuned")


def regimes(asked: str) -> list[Regime]:
    """Those that a word asks for: one by its name, or "both"."""
    return [regime for regime in REGIMES if asked in (regime, "both")]


class SmallestDifference(Part):
    """What a protocol of the recipe is judged by."""

    metric: str
    difference: float
    """The smallest difference of interest, in its unit."""


class RequestedRuns(Part):
    """The runs of one row for one part of the table, by seed."""

    setup_id: str
    row_id: str
    paraphrases: str | None = None
    """Digest of the paraphrases that the runs read, if the setup does not cover them."""
    runs: dict[int, str]

    def merged_with(self, before: "RequestedRuns | None") -> "RequestedRuns":
        """With the earlier seeds, if setup, method and paraphrases are the same."""
        if before is None or self.model_copy(update={"runs": before.runs}) != before:
            return self
        return self.model_copy(update={"runs": {**before.runs, **self.runs}})


class RequestedRow(Part):
    """One row's runs by part of the table, or why it has none."""

    label: str
    backbone: str
    variant: str = ""
    method: str | None = None
    title: str = ""
    parts: dict[str, RequestedRuns] = {}
    not_run: str = ""
    missing: dict[str, str] = {}
    """Parts that this scale has nothing for, with the reason."""

    @property
    def key(self) -> tuple[str, str, str]:
        """Backbone, variant and label, as in the table's file."""
        return self.backbone, self.variant, self.label

    def setup_key(self, part: str) -> str:
        """Rows with the same key are on one board, so they must have one setup."""
        return "/".join(filter(None, (self.backbone, self.variant, part)))

    def merged_with(self, before: "RequestedRow") -> "RequestedRow":
        """With the earlier seeds."""
        return self.model_copy(
            update={"parts": {part: runs.merged_with(before.parts.get(part)) for part, runs in self.parts.items()}}
        )


class TableRequest(Part):
    """A table at a scale, with the texts about the scale for its page."""

    table: str
    scale: str
    recipe: str
    track: str
    description: str
    assumptions: list[str] = []
    """What the recipe had to decide because the paper's text leaves it open."""
    tuned: dict[str, str]
    backbones: dict[str, str]
    variants: dict[str, str] = {}
    """What the variants in use change here, in words."""
    measures: dict[str, str] = {}
    """Column key to "protocol.metric" as measured at this scale."""
    stand_ins: dict[str, str] = {}
    """Column key to what stands for its data, in words."""
    missing: dict[str, str] = {}
    """Column key to why nothing measures it at this scale."""
    temperature_factor: float
    regime: Regime = "printed"
    primary: dict[str, SmallestDifference] = {}
    """By protocol: its primary metric and the smallest difference of interest, as the recipe states them."""
    setups: dict[str, str] = {}
    """`RequestedRow.setup_key` to the setup_id of the last request. Rows of another setup share no board with it."""
    rows: list[RequestedRow]

    @property
    def name(self) -> str:
        """File name: `temo-table1-small`, or `temo-table1-latents-tuned`."""
        return f"{self.table.replace('/', '-')}-{self.scale}{'-tuned' * (self.regime == 'tuned')}"

    @property
    def at(self) -> str:
        """The scale, with the regime where it is not as printed."""
        return self.scale + ", tuned" * (self.regime == "tuned")

    @property
    def shown(self) -> str:
        """The scale and the regime, for titles."""
        return f"{self.scale}, {'tuned' if self.regime == 'tuned' else 'as printed'}"

    def merged_with(self, before: "TableRequest") -> "TableRequest":
        """This request, with the rows and seeds of an earlier one that it does not replace."""
        old = {row.key: row for row in before.rows}
        new = {row.key: row for row in self.rows}
        rows = {**old, **{key: row.merged_with(old[key]) if key in old else row for key, row in new.items()}}
        return self.model_copy(
            update={
                "rows": list(rows.values()),
                "setups": {**before.setups, **self.setups},
                "variants": {**before.variants, **self.variants},
            }
        )
