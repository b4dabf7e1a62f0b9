"""`benchsuite claims`: what papers claim, and what stored runs say of it."""

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from benchsuite.cli.shared.claims_told import beside, both_line, claim_as_json, gains_of
from benchsuite.cli.shared.options import RESULTS, AsJson, Plugins, Regimes, Results, Tables, load_own
from benchsuite.cli.shared.terminal import say, say_json
from benchsuite.errors import UsageError, require_known

if TYPE_CHECKING:
    from benchsuite.analysis.both_regimes import InBothRegimes
    from benchsuite.analysis.judged_claims import JudgedClaim
    from benchsuite.analysis.second_laboratory import Again
    from benchsuite.analysis.stats import Paired
    from benchsuite.analysis.tracks import TrackAgreement


def claims(
    tables: Annotated[
        list[str] | None, typer.Argument(help="Papers, or tables as paper/table.", metavar="PAPER...")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All papers.")] = False,
    scale: Annotated[str | None, typer.Option(help="Only runs at this scale.")] = None,
    all_scales: Annotated[
        bool, typer.Option("--all-scales", help="A line a headline claim: what became of it at each scale.")
    ] = False,
    exploratory: Annotated[
        bool, typer.Option("--exploratory", help="Also comparisons that have no verdict: difference and interval.")
    ] = False,
    regime: Regimes = None,
    as_json: AsJson = False,
    results: Results = RESULTS,
    plugin: Plugins = None,
    table_folders: Tables = None,
) -> None:
    """Judge papers' claims by stored runs.

    A paper's headline claims at a scale are one family, for which p is corrected; table files fix its size. All other
    comparisons are exploratory: a difference with its interval and a false-discovery rate, no verdict, and no count.
    Rows that are not in the table are compared with its reference, the first baseline of their backbone, and have
    verdicts on the columns of its headline claims.

    Where a table was run as printed and tuned, each headline claim has one line that says what became of its gain;
    --regime shows the reasons of the verdicts in one of the two. Then a second laboratory, in the folder `second` of
    the results, agrees or not with each difference that decided. --all-scales sets the scales beside each other, and
    ends with how far the orders of methods agree between each two of them.
    """
    from benchsuite.analysis.both_regimes import in_both_regimes
    from benchsuite.analysis.judged_claims import judged_added, judged_claims, unrun_claims
    from benchsuite.analysis.results import ResultsFolder, in_regime
    from benchsuite.analysis.second_laboratory import replicated
    from benchsuite.analysis.tracks import across_scales, track_agreements
    from benchsuite.papers import named_tables, read_table
    from benchsuite.papers.claim import reference_of

    if everything == bool(tables):
        raise UsageError("name papers or tables, or give --all.")
    if scale and all_scales:
        raise UsageError("--scale and --all-scales exclude each other.")
    if all_scales and (regime or exploratory):
        raise UsageError("--all-scales has headline claims in both regimes: leave out --regime and --exploratory.")
    own = load_own(table_folders, plugin)
    read = ResultsFolder.read(results)
    names = named_tables(["all"] if everything else tables or [], stored=read.contents.tables)
    if scale:
        known = {name for table in names for name in read_table(table, read.contents.tables).recipes}
        require_known("scale", scale, known)
    asked = [view for view in read.views if view.asked.table in names and scale in (None, view.asked.scale)]
    views = in_regime(asked, regime)
    run = {view.asked.table for view in views}
    judged = [claim for view in views for claim in (*judged_claims(view), *judged_added(view))]
    unrun = [read_table(name, read.contents.tables) for name in names if name not in run]
    judged += [claim for table in unrun for claim in unrun_claims(table, scale or "")]
    both = [] if regime else list(in_both_regimes(asked))
    second = read.second if as_json or not all_scales else None
    again = replicated(views if regime else asked, second.views) if second else []
    across = across_scales(asked) if all_scales else {}
    agreements = track_agreements(asked) if all_scales else []
    if as_json:
        say_json(
            {
                "claims": [claim_as_json(claim) for claim in judged],
                "both_regimes": [
                    {
                        "outcome": one.outcome,
                        "published_could_be_missed": one.missed,
                        "printed": claim_as_json(one.printed),
                        "tuned": claim_as_json(one.tuned),
                        "tuned_less_printed": _ends(one.change),
                        "tuned_less_printed_p": one.change_p,
                        "printed_less_reference_tuned": _ends(one.across),
                    }
                    for one in both
                ],
                "tracks": [asdict(one) for one in agreements],
                "second_laboratory": [
                    {
                        "answer": one.answer,
                        "asked": one.asked,
                        "found": _ends(one.found),
                        "again": _ends(one.again),
                        "first": claim_as_json(one.first),
                        "second": one.second and claim_as_json(one.second),
                    }
                    for one in again
                ],
            }
        )
    elif all_scales:
        say(*(f"{name}: {'; '.join(map(at_scale, found))}" for name, found in across.items()))
        say(*map(agreement_line, agreements), *outcome_lines(both))
    else:
        told = () if exploratory else both
        say(*lines(judged, exploratory, told), *map(both_line, both), *again_lines(again), *outcome_lines(both))
        if told:
            say("the reason of each verdict, with p, power and seeds: --regime printed, or --regime tuned")
    measured = {row.method for view in views for row in view.rows if row.records}
    if views and not as_json and (unmeasured := [name for name in own if name not in measured]):
        first = read_table(names[0], read.contents.tables)
        reference = reference_of(first, *first.rows[0].key[:2])
        rows = f"{reference.method},{unmeasured[0]}" if reference else unmeasured[0]
        command = f"benchsuite repro {names[0]} --rows {rows} --plugin FILE --results {shlex.quote(str(results))}"
        say(f"{results} has no run of {', '.join(unmeasured)} in these tables: `{command}` makes them.")
    if not views and not as_json:
        of, at = names[0] + " and the others" * (len(names) > 1), f" --scale {scale}" if scale else ""
        say(f"{results} has no run of {of}: run `benchsuite repro {names[0]}{at}`, or name --results FOLDER.")
    read.require_whole()


def lines(judged: "Sequence[JudgedClaim]", exploratory: bool, told: "Sequence[InBothRegimes]" = ()) -> Iterator[str]:
    """A line a headline claim, or any claim, then how many have which verdict; added rows apart, as on pages.

    Those that are `told` in both regimes have their own lines, and beside them a table without runs has one line.
    """
    from benchsuite.report.numbers import counted

    apart = {id(one) for both in told for one in (both.printed, both.tuned)}
    rest = [claim for claim in judged if id(claim) not in apart]
    headline = [claim for claim in rest if claim.claim.headline]
    if unrun := [claim for claim in headline if told and claim.regime is None]:
        tables = ", ".join(dict.fromkeys(claim.claim.table for claim in unrun))
        yield f"not run here: {tables} ({counted(len(unrun), 'headline claim')})"
        headline = [claim for claim in headline if claim.regime]
    yield from map(claim_line, rest if exploratory else headline)
    added = Counter(claim.verdict.kind for claim in headline if claim.claim.added)
    counts = Counter(claim.verdict.kind for claim in headline) - added
    if counts or not told:
        yield f"{counted(counts.total(), 'headline claim')}: {_listed(counts)}"
    if added:
        yield f"{counted(added.total(), 'headline comparison')} of added rows: {_listed(added)}"
    explored = sum(not claim.claim.headline for claim in judged)
    if explored and not exploratory:
        yield f"{counted(explored, 'exploratory comparison')}: --exploratory shows them"


def _listed(counts: "Counter[Any]") -> str:
    return ", ".join(f"{n} {kind}" for kind, n in counts.most_common()) or "none"


def claim_line(judged: "JudgedClaim") -> str:
    """A claim and its verdict in a line."""
    from benchsuite.records.requests import REGIMES

    claim = judged.claim
    scale = f" at scale {judged.scale}" if judged.scale else ""
    regime = f", {REGIMES[judged.regime]}" if judged.regime else ""
    where = f"{claim.table}{scale}{regime}{', on a stand-in' * bool(judged.stand_in)}"
    published = "" if claim.published is None else f" (published by {claim.published:g})"
    note = f"; note: {claim.note}" if claim.note else ""
    text = f" [{claim.locator}, in our words: {claim.statement}{note}]" if claim.locator else ""
    added = " (headline)" * claim.headline + " (added row)" * claim.added
    said = beside(judged.idle, judged.remark)
    return f"{where}: {claim.name}{added}{published}: {judged.verdict.kind}: {judged.verdict.reason}{text}{said}"


def outcome_lines(both: "Sequence[InBothRegimes]") -> Iterator[str]:
    """How many headline claims of a scale came to what; what two tables of a paper compare alike counts once."""
    once = {one.comparison: one for one in both}.values()
    for scale in dict.fromkeys(one.tuned.scale for one in both):
        counts = Counter(one.outcome for one in once if one.tuned.scale == scale)
        repeated = sum(one.tuned.scale == scale for one in both) - counts.total()
        more = f"; {repeated} more compare the same runs in another table" if repeated else ""
        yield f"scale {scale}: {_listed(counts)}{more}"


def again_lines(again: "Sequence[Again]") -> Iterator[str]:
    """What a second laboratory says of each verdict that found a difference, and how often it agrees."""
    from benchsuite.analysis.second_laboratory import agreement
    from benchsuite.report.numbers import paired

    for one in again:
        claim, scale = one.first.claim, one.first.scale
        gains = f"{paired(one.found, claim.column.unit)}, then {paired(one.again, claim.column.unit)}"
        yield f"second laboratory: {claim.table} at scale {scale}, {one.asked}: {claim.name}: {one.answer}: {gains}"
    if again:
        agreed, asked, expected = agreement(again)
        exact = f"{expected:.1f} would if the first one's were exact"
        yield f"second laboratory: {f'{agreed} of {asked} that were run agree; {exact}' if asked else 'none was run'}"


def at_scale(found: "InBothRegimes | JudgedClaim") -> str:
    """What became of a headline claim at one scale."""
    from benchsuite.analysis.both_regimes import InBothRegimes
    from benchsuite.report.numbers import paired

    if isinstance(found, InBothRegimes):
        return f"{found.tuned.scale} {found.outcome} ({gains_of(found)})"
    return f"{found.scale} {found.verdict.kind} ({paired(found.gains, found.claim.column.unit)})"


def _ends(pair: "Paired | None") -> list[float | None] | None:
    """A difference and its 95% interval, as plain data."""
    return [pair.difference, pair.low, pair.high] if pair else None


def agreement_line(found: "TrackAgreement") -> str:
    """How far two scales order their methods alike."""
    tau = f"Kendall's tau {found.tau:+.2f} ({found.low:+.2f} to {found.high:+.2f})"
    where = f"order on {found.first} and {found.second}, {found.towers}, {found.measure}, {found.regime}"
    return f"{where}: {tau} over {len(found.methods)} configurations"
