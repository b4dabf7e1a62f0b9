"""`benchsuite claims`: what papers claim, and what stored runs say of it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from benchsuite.cli.shared.options import RESULTS, AsJson, Plugins, Regimes, Results, Tables, load_own
from benchsuite.cli.shared.results_folder import ResultsFolder
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.errors import UnknownError, UsageError

if TYPE_CHECKING:
    from benchsuite.analysis.both_regimes import InBothRegimes
    from benchsuite.analysis.judged_claims import JudgedClaim
    from benchsuite.analysis.verdict import Kind


def claims(
    tables: Annotated[
        list[str] | None,
        typer.Argument(help="Papers, or tables as paper/table.", metavar="PAPER...", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    scale: Annotated[str | None, typer.Option(help="Only runs at this scale.")] = None,
    kind: Annotated[
        str | None, typer.Option(help="Only claims with these verdicts, separated by commas.", show_default=False)
    ] = None,
    headline: Annotated[bool, typer.Option("--headline", help="Only headline claims.")] = False,
    added: Annotated[bool, typer.Option("--added", help="Only claims of rows that are not in the table.")] = False,
    regime: Regimes = None,
    as_json: AsJson = False,
    results: Results = RESULTS,
    plugin: Plugins = None,
    table_folders: Tables = None,
) -> None:
    """Judge papers' claims by stored runs.

    A paper's headline claims at a scale are one family, its other claims a second one; table files fix their sizes, for
    which p is corrected. Rows that are not in the table are compared with its reference, the first baseline of their
    backbone; each is a family of its own. --kind, --headline and --added choose what is shown, and change no verdict.
    Where a table was run as printed and tuned, the last lines say what became of each headline claim's gain.
    """
    from benchsuite.analysis.both_regimes import in_both_regimes
    from benchsuite.analysis.judged_claims import judged_added, judged_claims, unrun_claims
    from benchsuite.analysis.results import in_regime
    from benchsuite.papers import named_tables, read_table

    if everything == bool(tables):
        raise UsageError("name papers or tables, or give --all.")
    if headline and added:
        raise UsageError("--headline and --added exclude each other: no added row is in a headline claim.")
    kinds = chosen_kinds(kind)
    load_own(table_folders, plugin)
    read = ResultsFolder.read(results)
    names = named_tables(["all"] if everything else tables or [], stored=read.contents.tables)
    there = in_regime(read.views, regime)
    views = [view for view in there if view.asked.table in names and scale in (None, view.asked.scale)]
    judged = [claim for view in views for claim in (*judged_claims(view), *judged_added(view))]
    run = {view.asked.table for view in views}
    unrun = [read_table(name, read.contents.tables) for name in names if name not in run]
    judged += [claim for table in unrun for claim in unrun_claims(table, scale or "")]
    shown = [claim for claim in judged if claim.claim.headline >= headline and claim.claim.added >= added]
    judged = [claim for claim in shown if claim.verdict.kind in kinds]
    asked = [view for view in read.views if view.asked.table in names and scale in (None, view.asked.scale)]
    both = [] if regime or added else list(in_both_regimes(asked))
    if as_json:
        found = [claim_as_json(claim) for claim in judged]
        say_json({"claims": found, "both_regimes": [both_as_json(one) for one in both]})
    else:
        say(*lines(judged), *map(both_line, both))
    read.require_whole()


def chosen_kinds(names: str | None) -> Sequence[str]:
    """The verdicts that --kind names; all of them without it."""
    from benchsuite.analysis.verdict import Kind

    known: tuple[str, ...] = get_args(Kind)
    chosen = known if names is None else [name.strip() for name in names.split(",")]
    for name in chosen:
        if name not in known:
            raise UnknownError("verdict", name, known, "--kind: ")
    return chosen


def lines(judged: "Sequence[JudgedClaim]") -> Iterator[str]:
    """A line a claim, then how many claims have which verdict; added rows apart, as on pages."""
    from benchsuite.report.numbers import counted

    yield from map(claim_line, judged)
    added = Counter(claim.verdict.kind for claim in judged if claim.claim.added)
    counts = Counter(claim.verdict.kind for claim in judged) - added
    if counts or not added:
        yield f"{counted(counts.total(), 'claim')}: {_listed(counts)}"
    if added:
        yield f"{counted(added.total(), 'comparison')} of added rows: {_listed(added)}"


def _listed(counts: "Counter[Kind]") -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.most_common()) or "none"


def claim_line(judged: "JudgedClaim") -> str:
    """A claim and its verdict in a line."""
    claim = judged.claim
    scale = f" at scale {judged.scale}" if judged.scale else ""
    where = f"{claim.table}{scale}{', on a stand-in' * bool(judged.stand_in)}"
    published = "" if claim.published is None else f" (published by {claim.published:g})"
    note = f"; note: {claim.note}" if claim.note else ""
    text = f" [{claim.locator}, in our words: {claim.statement}{note}]" if claim.locator else ""
    added = " (headline)" * claim.headline + " (added row)" * claim.added
    return f"{where}: {claim.name}{added}{published}: {judged.verdict.kind}: {judged.verdict.reason}{text}"


def both_line(both: "InBothRegimes") -> str:
    """What became of a headline claim's gain, with the difference in each regime."""
    from benchsuite.analysis.both_regimes import MEANING
    from benchsuite.report.numbers import paired

    claim, unit = both.tuned.claim, both.tuned.claim.column.unit
    printed, tuned = (paired(one.gains, unit) for one in (both.printed, both.tuned))
    where = f"{claim.table} at scale {both.tuned.scale}"
    shown = f"as printed {printed}, tuned {tuned}"
    return f"{where}: {claim.name}: {both.outcome} ({MEANING[both.outcome]}): {shown}"


def both_as_json(both: "InBothRegimes") -> dict[str, Any]:
    """Plain data: the outcome, and the claim in each regime."""
    return {
        "outcome": both.outcome,
        "printed": claim_as_json(both.printed),
        "tuned": claim_as_json(both.tuned),
    }


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
        "headline": claim.headline,
        "added": claim.added,
        "stand_in": judged.stand_in or None,
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
        "family": verdict.family and verdict.family.name,
        "family_size": verdict.family and verdict.family.size,
        "confirmable_difference": verdict.confirmable,
        "power_for_published": verdict.power,
        "seeds_for_interest": verdict.seeds_for_interest,
        "fields": list(verdict.fields),
    }
