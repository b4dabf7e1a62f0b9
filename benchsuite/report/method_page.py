"""What a method's page shows: how it does against the reference, and all that was measured of it."""

from collections import Counter
from collections.abc import Container, Mapping
from typing import Any

from benchsuite.analysis.against import outcomes, reference
from benchsuite.grouping import by_key
from benchsuite.papers.questions import acts_of
from benchsuite.papers.reader import bibliography
from benchsuite.planning.search_space import ranges
from benchsuite.report.figures.from_table import sensitivity_figures
from benchsuite.report.leaderboard import Leaderboard, MethodSummary
from benchsuite.report.links import slug
from benchsuite.report.method_lines import OUTCOMES, by_gain, by_role, cost_range, first_measures, forests, unequal
from benchsuite.report.overview import headlines_at


def values(leaderboard: Leaderboard, method: MethodSummary) -> Mapping[str, Any]:
    """By name in the template."""
    found = leaderboard.against(method.name)
    own, variants = by_role(found)
    first = first_measures(own)
    costs = [
        (board, row, leaderboard.costs[board.setup_id][row.label])
        for board in leaderboard.boards
        for row in board.rows
        if row.method == method.name
    ]
    by_reference = by_key((one.reference.record.method.title, one) for one in own)
    cost_ranges = {title: cost_range(leaderboard.costs, several) for title, several in by_reference.items()}
    variants = by_gain(first_measures(variants))
    drawn = ranges(method.card) if method.card else {}
    return {
        "method": method,
        "ranges": drawn,
        "contained": contained(method.card.about, drawn) if method.card else [],
        "acts": acts_of(method.card.about) if method.card else [],
        "found": found,
        "first": first,
        "variants": variants,
        "unequal": unequal(variants),
        "forests": forests,
        "outcomes": OUTCOMES,
        "counts": outcomes(own),
        "own": own,
        "first_counts": outcomes(first),
        "references": ", ".join(dict.fromkeys(one.reference.record.method.title for one in found)),
        "cost_ranges": {title: known for title, known in cost_ranges.items() if known},
        "claims": headline_claims(leaderboard, method.name),
        "beside": [
            board
            for board in leaderboard.boards
            if len(board.rows) > 1 and (base := reference(board)) and base.method == method.name
        ],
        "file_name": slug(method.name),
        "paper": bibliography().get(str(method.card.about.get("paper"))) if method.card else None,
        "costs": costs,
        "figures": sensitivity_figures(method.name, leaderboard.contents.trials, leaderboard.views),
    }


def contained(about: Mapping[str, Any], drawn: Container[str]) -> list[tuple[str, Mapping[str, Any], list[str]]]:
    """Methods that it is at some values: each with these, and those of them that no search comes near.

    What is drawn comes near another temperature, but never to zero.
    """
    found = about.get("contains", {}).items()
    return [(of, at, [key for key, v in at.items() if key not in drawn or not isinstance(v, str)]) for of, at in found]


def headline_claims(leaderboard: Leaderboard, method: str) -> Mapping[tuple[str, str], Counter[str]]:
    """By paper and scale: how many headline claims that a row of the method is ahead came to what."""
    found = {}
    for (paper, scale), views in leaderboard.by_paper.items():
        if own := {(view.asked.table, row.key) for view in views for row in view.rows if row.method == method}:
            answers = headlines_at(leaderboard, scale, views).answers
            found[paper, scale] = Counter(outcome for claim, outcome in answers if (claim.table, claim.row) in own)
    return {place: counts for place, counts in found.items() if counts}
