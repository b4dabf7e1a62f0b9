"""`benchsuite claims`: what papers claim, and what stored runs say of it."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.options import RESULTS, Plugins, Regimes, Results, Tables, load_own
from benchsuite.errors import UsageError
from benchsuite.records.store import Store

if TYPE_CHECKING:
    from benchsuite.analysis.claims import ColumnAgreement, JudgedClaim
    from benchsuite.analysis.tables import TableView


def claims(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="Papers, or tables as paper/table.", metavar="PAPER...", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    scale: Annotated[str | None, typer.Option(help="Only runs at this scale.")] = None,
    regime: Regimes = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    results: Results = RESULTS,
    plugin: Plugins = None,
    table_folders: Tables = None,
) -> None:
    """Judge papers' claims by stored runs.

    Each table's claims are one family for Holm's correction. Rows that are not in the table are compared with its
    reference, the first baseline of their backbone; they are another family.
    """
    from benchsuite.analysis.claims import agreements, judged_added, judged_claims, unrun_claims
    from benchsuite.analysis.results import in_regime
    from benchsuite.analysis.tables import build_views
    from benchsuite.cli.report import require_all, tell_outdated
    from benchsuite.papers import named_tables, read_table

    if everything == bool(tables):
        raise UsageError("name papers or tables, or give --all.")
    load_own(table_folders, plugin)
    contents = Store(results).read()
    names = named_tables(["all"] if everything else tables or [], stored=contents.tables)
    built, skipped = build_views(contents)
    views = [
        view for view in in_regime(built, regime) if view.request.table in names and scale in (None, view.request.scale)
    ]
    judged = [claim for view in views for claim in (*judged_claims(view), *judged_added(view))]
    orders = [(view, order) for view in views for order in agreements(view)]
    run = {view.request.table for view in views}
    judged += [claim for name in names if name not in run for claim in unrun_claims(read_table(name, contents.tables))]
    if as_json:
        content = {
            "claims": [claim_as_json(claim) for claim in judged],
            "orders": [
                {"table": view.request.table, "scale": view.request.scale, **order_as_json(order)}
                for view, order in orders
            ],
        }
        print(json.dumps(content, indent=2, ensure_ascii=False))
    else:
        print("\n".join(lines(judged, orders)))
    tell_outdated(contents)
    require_all(skipped)


def lines(judged: "Sequence[JudgedClaim]", orders: "Sequence[tuple[TableView, ColumnAgreement]]") -> Iterator[str]:
    """A line a claim and a line a column, then how many claims have which verdict."""
    yield from map(claim_line, judged)
    for view, order in orders:
        yield f"{view.request.table} at scale {view.request.scale}, order on {order_line(order)}"
    from benchsuite.report.numbers import counted

    counts = Counter(claim.verdict.kind for claim in judged)
    yield f"{counted(len(judged), 'claim')}: {', '.join(f'{n} {kind}' for kind, n in counts.most_common()) or 'none'}"


def claim_line(judged: "JudgedClaim") -> str:
    """A claim and its verdict in a line."""
    claim = judged.claim
    where = claim.table + (f" at scale {judged.scale}" if judged.scale else "")
    published = "" if claim.published is None else f" (published by {claim.published:g})"
    note = f"; note: {claim.note}" if claim.note else ""
    text = f" [{claim.locator}, in our words: {claim.statement}{note}]" if claim.locator else ""
    added = " (added row)" * claim.added
    return f"{where}: {claim.name}{added}{published}: {judged.verdict.kind}: {judged.verdict.reason}{text}"


def claim_as_json(judged: "JudgedClaim") -> dict[str, Any]:
    """Plain data."""
    claim, verdict = judged.claim, judged.verdict
    paired = verdict.paired
    return {
        "table": claim.table,
        "scale": judged.scale or None,
        "row": "/".join(filter(None, claim.row)),
        "reference": "/".join(filter(None, claim.reference)),
        "column": claim.column.key,
        "added": claim.added,
        "published_difference": claim.published,
        "description": claim.statement or None,
        "locator": claim.locator or None,
        "stated_difference": claim.by,
        "note": claim.note or None,
        "verdict": verdict.kind,
        "reason": verdict.reason,
        "gain": judged.gain,
        "difference": paired and paired.difference,
        "interval": [paired.low, paired.high] if paired else None,
        "seeds": list(paired.seeds) if paired else [],
        "p_adjusted": verdict.p_adjusted,
        "seeds_needed": verdict.seeds_needed,
        "fields": list(verdict.fields),
    }


def order_as_json(order: "ColumnAgreement") -> dict[str, Any]:
    """Plain data."""
    agreement = order.agreement
    return {
        "backbone": order.backbone,
        "variant": order.variant or None,
        "column": order.column.key,
        "tau_b": agreement.tau,
        "interval": [agreement.low, agreement.high],
        "rows": agreement.rows,
        "seeds": list(agreement.seeds),
        "reason": agreement.reason or None,
    }


def order_line(order: "ColumnAgreement") -> str:
    """Kendall's tau-b with its interval, or why there is none."""
    agreement = order.agreement
    where = " ".join(filter(None, (order.backbone, order.variant, order.column.group, order.column.label)))
    if agreement.tau is None:
        return f"{where}: {agreement.reason}"
    interval = "" if agreement.low is None else f", 95% CI over seeds {agreement.low:.2f} to {agreement.high:.2f}"
    return f"{where}: Kendall's tau-b {agreement.tau:.2f} over {agreement.rows} rows{interval}"
