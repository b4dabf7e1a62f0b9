"""A page in a sentence, for search engines and previews of links; and a table as schema.org describes datasets."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from benchsuite.analysis.table_view import TableView
from benchsuite.report.method_lines import OUTCOMES, MethodLine
from benchsuite.report.numbers import counted, units

LONGEST = 300
"""Letters of a sentence; previews show about half of them."""
MEDIA = {"csv": "text/csv", "json": "application/json", "latex": "application/x-tex", "md": "text/markdown"}


def summary(template: str, title: str, values: Mapping[str, Any]) -> str:
    """The page's answer, as far as it has one; else what it shows."""
    said = {
        "home.html": _home,
        "table.html": _table,
        "method.html": _method,
        "claims.html": _claims,
        "compare.html": _compare,
        "run.html": _runs,
    }
    text = said[template](title, values) if template in said else f"{title}."
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def dataset(template: str, title: str, values: Mapping[str, Any], about: str) -> dict[str, Any] | None:
    """JSON-LD of a table's page: what was measured, from where, and the files that have it; none for other pages."""
    if template != "table.html":
        return None
    view: TableView = values["view"]
    records = [record for row in view.rows for record in row.records]
    page = view.request.name
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": title,
        "description": f"{about} {units(view.columns)}. {view.request.description}".strip(),
        "keywords": ["contrastive learning", "benchmark", *sorted({row.method for row in view.rows if row.method})],
        "variableMeasured": [column.name for column in view.columns],
        "measurementTechnique": "mean over seeds with 95% CI; differences paired by seed",
        "citation": view.table.source or view.table.paper,
        **({"dateModified": max(record.created for record in records)[:10]} if records else {}),
        "distribution": [
            {"@type": "DataDownload", "encodingFormat": MEDIA[kind], "contentUrl": f"{page}.{values['suffixes'][kind]}"}
            for kind in values["exports"]
        ],
    }


def _home(_: str, values: Mapping[str, Any]) -> str:
    counts: Counter[str] = values["headline_counts"]
    tested = f" Headline claims: {_listed(counts)}." if counts else ""
    runs = counted(len(values["leaderboard"].records), "run")
    return f"Does one contrastive method really beat another? {runs}, paired by seed.{tested}"


def _table(title: str, values: Mapping[str, Any]) -> str:
    view: TableView = values["view"]
    seeds = max((row.seeds for row in view.rows), default=0)
    where = f" {view.on_stand_ins}" if view.on_stand_ins else ""
    claims = _listed(values["counts"]) or "none"
    return f"{title}: {counted(seeds, 'seed')}. Claims, tested{where}: {claims}."


def _method(title: str, values: Mapping[str, Any]) -> str:
    first = values["first"]
    if not first:
        return f"{title}: what was measured of it, its tuning and its curves."
    if len(first) == 1:
        return MethodLine(first[0]).sentence
    boards = counted(len(first), "board")
    return f"{title} against {values['references']} on {boards}, first measure: {_outcomes(values['first_counts'])}."


def _claims(title: str, values: Mapping[str, Any]) -> str:
    return f"{title}: {_listed(values['counts']) or 'none was tested'}."


def _compare(title: str, values: Mapping[str, Any]) -> str:
    first = values["first"]
    if len(first) == 1:
        return MethodLine(first[0]).sentence
    if not first:
        return f"{title}, seed by seed."
    return f"{title}, against {first[0].reference.label}: {_outcomes(values['counts'])}."


def _runs(title: str, _: Mapping[str, Any]) -> str:
    return f"{title}. Results, curves, cost, environment and digests of each seed."


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _outcomes(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{counts[kind]} {kind}" for kind in OUTCOMES if counts[kind])
