"""What a table asked for at a scale: which runs fill which row. Kept beside the records, for reports."""

from benchsuite.setup import Part


class AskedRow(Part):
    """One row's runs by seed, or why it has none."""

    label: str
    backbone: str
    method: str | None = None
    title: str = ""
    setup_id: str = ""
    method_id: str = ""
    runs: dict[int, str] = {}
    not_run: str = ""

    def joined_to(self, before: "AskedRow") -> "AskedRow":
        """Also the seeds asked for before, if they were of the same setup and method."""
        same = (self.setup_id, self.method_id) == (before.setup_id, before.method_id)
        return self.model_copy(update={"runs": {**before.runs, **self.runs}}) if same else self


class Asked(Part):
    """A table at a scale, with what the page says of the scale."""

    table: str
    scale: str
    recipe: str
    track: str
    says: str
    tuned: dict[str, str]
    backbones: dict[str, str]
    temperature_factor: float
    setups: dict[str, str] = {}
    """Backbone to the setup_id that was asked for last. Rows of another setup stand on no common board with it."""
    rows: list[AskedRow]

    @property
    def name(self) -> str:
        """File name: `temo-table1-small`."""
        return f"{self.table.replace('/', '-')}-{self.scale}"

    def joined_to(self, before: "Asked") -> "Asked":
        """This request, with the rows and seeds of an earlier one that it does not replace."""
        old = {(row.backbone, row.label): row for row in before.rows}
        new = {(row.backbone, row.label): row for row in self.rows}
        rows = {**old, **{key: row.joined_to(old[key]) if key in old else row for key, row in new.items()}}
        return self.model_copy(update={"rows": list(rows.values()), "setups": {**before.setups, **self.setups}})
