"""A small table of two columns, measured as a test wishes, for its exports."""

from collections.abc import Mapping, Sequence

from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from support.claimed import MakeRecord, view

VALUES = {"Best": (0.40, 0.41, 0.42, 0.43), "Twin_2": (0.405, 0.405, 0.425, 0.425), "Worst": (0.10, 0.12, 0.11, 0.12)}
TABLE = Table.model_validate(
    {
        "file_format": 1, "paper": "p", "table": "t", "locator": "Table 1", "title": "T", "recipes": {"small": "r"},
        "columns": [
            {"key": "a", "group": "A & B", "label": "R@1", "measure": "retrieval.i2t_r1"},
            {"key": "b", "group": "G", "label": "gap", "measure": "retrieval.i2t_r1", "unit": "number",
             "better": "lower"},
        ],
        "rows": [
            {"label": "Best", "backbone": "RN50", "method": "infonce", "published": {"a": 12.5, "b": 0.3}},
            {"label": "Twin_2", "backbone": "RN50", "method": "infonce", "published": {"a": 35}, "quoted": "elsewhere"},
            {"label": "Worst", "backbone": "RN50", "method": "infonce", "published": {"a": 1}},
            {"label": "None", "backbone": "RN50", "not_run": "no code", "published": {"a": 2}},
        ],
    }
)  # fmt: skip


def build(make: MakeRecord, values: Mapping[str, Sequence[float]], table: Table = TABLE) -> TableView:
    """Each row's R@1 by seed, on both columns."""
    return view(make, table, values)
