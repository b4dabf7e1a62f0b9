"""Select rows of a table: all, those a user names, and added methods that the paper does not have."""

from collections.abc import Sequence

from benchsuite.errors import IN_A_PLUGIN, UsageError, unknown
from benchsuite.papers import Row, Table
from benchsuite.papers.schema import names_of
from benchsuite.registry import methods


def select(table: Table, wanted: Sequence[str], extra: Sequence[str]) -> list[Row]:
    """The named rows (all if none is named), and a row under each setup for every added method without rows."""
    rows, own = list(table.rows), {row.method for row in table.rows}
    added = [] if wanted else [name for name in extra if name not in own]
    if wanted:
        matches = {w: [row for row in rows if w == row.method or w in names_of(row)] for w in wanted}
        added += [w for w, matching in matches.items() if not matching and w in methods and w not in added]
        if missing := [w for w, matching in matches.items() if not matching and w not in added]:
            labels = {row.label for row in rows} | set(methods)
            raise unknown("row", missing[0], labels, f"{table.name}: ", IN_A_PLUGIN)
        rows = [row for row in rows if any(row in matching for matching in matches.values())]
    labels = {row.label for row in table.rows}
    for name in added:
        if methods.card(name).title in labels:
            raise UsageError(
                f'{table.name} has a row "{methods.card(name).title}": give method "{name}" another title.'
            )
    setups = dict.fromkeys((row.backbone, row.variant) for row in table.rows if row.method)
    return rows + [
        Row(label=methods.card(name).title, backbone=backbone, variant=variant, method=name)
        for backbone, variant in setups
        for name in added
    ]
