"""The first screen: how many headline claims came out how, and one line for each."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from types import SimpleNamespace

import pytest
from support import claimed
from support.html_pages import Reading, leaderboard, pages

from benchsuite.analysis.both_regimes import in_both_regimes
from benchsuite.analysis.table_view import TableView
from benchsuite.cli.claims import outcome_lines
from benchsuite.planning.recipe import Primary
from benchsuite.records.schema import Record, TunedBy
from benchsuite.report.claim_lines import ClaimLine, anchor, forests
from benchsuite.report.figures.from_claims import survey_figures
from benchsuite.report.origin import Origin
from benchsuite.report.overview import Fates, Headlines, headlines, overviews

MakeRecord = Callable[..., tuple[Record, bytes]]
MakeRuns = Callable[..., dict[int, Record]]
CLAIM = {"claims": [claimed.HEADLINE]}


def view(make: MakeRecord, better: str = "higher", seeds: int = 4, **about: object) -> TableView:
    """Ours is about 20 points above old, and published 2 points above."""
    table = claimed.table(*claimed.TWO, column={"better": better}, **CLAIM)
    values = {"ours": claimed.HIGH[:seeds], "old": claimed.LOW[:seeds]}
    return claimed.view(make, table, values, {"ours": {"method": other(make)}}, **about)


def other(make: MakeRecord) -> object:
    return make()[0].method.model_copy(update={"name": "temo", "title": "TeMo"})


def line(shown: TableView) -> ClaimLine:
    (judged,) = leaderboard([shown]).claims["p-t-small"]
    return ClaimLine(shown, judged)


def words(page: str) -> str:
    return " ".join(Reading(page).text.split())


@pytest.mark.parametrize(("better", "sign"), [("higher", 1), ("lower", -1)])
def test_a_line_has_our_gain_in_points_with_its_interval_its_seeds_and_what_they_leave_open(
    make_record: MakeRecord, better: str, sign: int
) -> None:
    shown = line(view(make_record, better))
    pair, estimate = shown.judged.verdict.paired, shown.estimate
    assert pair is not None
    assert pair.low is not None
    assert pair.high is not None
    assert estimate is not None
    assert estimate.mean == pytest.approx(sign * 19.75)
    assert [estimate.low, estimate.high] == pytest.approx(sorted(100 * sign * end for end in (pair.low, pair.high)))
    assert sorted(estimate.seeds) == pytest.approx(sorted(sign * gain for gain in (20.0, 19.0, 21.0, 19.0)))
    assert estimate.unconfirmable == pytest.approx(100 * (shown.judged.verdict.confirmable or 0))
    assert estimate.kind == ("reproduced" if sign > 0 else "opposite")


def test_a_second_laboratory_is_asked_what_was_decided(make_record: MakeRecord) -> None:
    first, second = (view(make_record, first=number) for number in (0, 100))
    page = words(pages(leaderboard([first], second=[second]))["index"])
    assert "It agrees on 1 of 1. If the first laboratory's differences were exact, it would agree on 1.0" in page
    assert "A second laboratory agrees on 1 of 1 difference." in page
    unasked = pages(leaderboard([first, view(make_record, scale="emoji")], second=[second]))["index"]
    assert "agrees on 1 of 1 difference." in words(unasked)
    assert "not run" in words(unasked).partition("Does a second laboratory say the same?")[2]
    assert page.count("+19.8 ± 1.5") > 1
    both = [[view(make_record, first=number, scale=scale) for scale in ("small", "emoji")] for number in (0, 100)]
    page = words(pages(leaderboard(both[0], second=both[1]))["index"])
    assert "A second laboratory agrees on 1 of 1 (in all 2 of 2)." in page
    assert "It agrees on 2 of 2 (small 1 of 1, emoji 1 of 1)." in page
    elsewhere = claimed.view(make_record, claimed.table(*claimed.TWO, table="u"), {})
    unrun = words(pages(leaderboard([first], second=[elsewhere]))["index"])
    assert "It agrees on 0 of 0." in unrun
    assert "agrees on 0 of 0 differences" not in unrun
    assert "were exact" not in unrun
    assert "second laboratory" not in words(pages(leaderboard([first]))["index"])


def test_a_table_in_two_regimes_and_at_two_scales_is_one_table(make_record: MakeRecord) -> None:
    regimes = [view(make_record, regime=regime) for regime in ("printed", "tuned")]
    page = words(pages(leaderboard([*regimes, view(make_record, scale="emoji")]))["index"])
    assert "1 table of 1 paper" in page


def test_what_was_looked_at_is_led_to_where_the_same_runs_have_the_same_verdict(make_record: MakeRecord) -> None:
    shown = view(make_record)
    runs = [one for row in shown.rows for one in row.records]
    said = replace(shown, remarks={line(shown).claim.name: "The search."})
    for views, outcome, marked in (
        ([said], "better", True), ([said], "worse", False), ([said], "undecided", False), ([shown], "better", False),
    ):  # fmt: skip
        board = leaderboard(views, runs)
        ((place, (one,)),) = board.comparisons.items()
        vars(board)["comparisons"] = {place: [replace(one, outcome=outcome)]}
        assert ('aria-label="what was looked at"' in pages(board)[f"compare/{place}"]) == marked


def test_a_papers_claims_stand_beside_what_a_second_laboratory_says_of_them(make_record: MakeRecord) -> None:
    first, second = (view(make_record, first=number) for number in (0, 100))
    emoji = view(make_record, scale="emoji")
    found = pages(leaderboard([first, emoji], second=[second]))
    here, there = (words(found[f"claims/p-{scale}"]).partition("second laboratory") for scale in ("small", "emoji"))
    assert "Agrees: the same sign" in here[2]
    assert "as printed+19.8 ± 1.5+19.8 ± 1.5agrees" in here[2]
    assert "agrees" not in there[2]
    assert "not run" in there[2]
    assert "second laboratory" not in words(pages(leaderboard([first]))["claims/p-small"])


def test_one_seed_has_no_interval_and_no_band(make_record: MakeRecord) -> None:
    estimate = line(view(make_record, seeds=1)).estimate
    assert estimate is not None
    assert (estimate.low, estimate.high, estimate.unconfirmable, tuple(estimate.seeds)) == (None, None, None, ())


def test_rows_are_named_by_what_sets_them_apart(make_record: MakeRecord) -> None:
    rows = claimed.row("old", 10, variant="AdamW"), claimed.row("ours", 12, "proposed", variant="AdamW")
    shown = claimed.view(make_record, claimed.table(*rows), {"ours": claimed.HIGH, "old": claimed.LOW})
    assert line(shown).rows == ("ours", "old")
    assert line(shown).common == "B, AdamW"
    judged = line(shown).judged
    steps = replace(judged.claim, row=("B", "after", "same"), reference=("B", "before", "same"))
    apart = ClaimLine(shown, replace(judged, claim=steps))
    assert (apart.rows, apart.common) == (("after", "before"), "B")


def test_other_published_gains_that_the_same_comparison_answers_are_named(make_record: MakeRecord) -> None:
    shown = line(view(make_record))
    claim, judged = shown.claim, shown.judged
    column = claim.column.model_copy(update={"label": "IN1k"})
    unlike = replace(claim, table="p/u", column=column, published=6.77)
    alike, unknown = replace(claim, table="p/v"), replace(claim, table="p/w", published=None)
    several = replace(shown, others=[replace(judged, claim=one) for one in (unlike, alike, unknown)])
    assert several.also == "also IN1k, published +6.77"
    assert several.tables == "p/t, p/u, p/v, p/w"
    assert shown.also == ""


def test_numbers_in_other_units_have_rulers_of_their_own(make_record: MakeRecord) -> None:
    percent = view(make_record)
    columns = [column.model_copy(update={"unit": "number"}) for column in percent.table.columns]
    plain = replace(percent, table=percent.table.model_copy(update={"columns": columns}))
    board = leaderboard([percent])
    (claim,) = board.claims["p-t-small"]
    number = replace(claim, claim=replace(claim.claim, column=columns[0]))
    first, second = forests([(plain, number), (percent, claim)])
    assert (first.unit, second.unit) == ("percent", "number")
    assert first.ours.high > 15
    assert second.ours.high < 1


def test_a_column_of_gains_is_there_only_where_one_is_known(make_record: MakeRecord) -> None:
    rows = [claimed.row("old", 0), claimed.row("ours", 0, "proposed")]
    bare = [{**row, "published": {}} for row in rows]
    values = {"ours": claimed.HIGH, "old": claimed.LOW}
    for shown, published, ours in (
        (claimed.view(make_record, claimed.table(*bare, **CLAIM), values), False, True),
        (claimed.view(make_record, claimed.table(*rows, **CLAIM), {"old": claimed.LOW}), True, False),
    ):
        board = leaderboard([shown])
        (plot,) = forests((shown, claim) for claim in board.claims["p-t-small"])
        assert (plot.has_published, plot.has_ours) == (published, ours)
        assert "ours beats old" in words(pages(board)["index"])


def test_each_line_leads_to_its_claim(make_record: MakeRecord) -> None:
    found = pages(leaderboard([view(make_record)]))
    (claim,) = leaderboard([view(make_record)]).claims["p-t-small"]
    assert f"claims/p-small.html#{anchor(claim)}" in Reading(found["index"]).addresses
    assert anchor(claim) in Reading(found["claims/p-small"]).ids


def test_scales_with_most_seeds_come_first(make_record: MakeRecord) -> None:
    shown = headlines(leaderboard([view(make_record, seeds=2, scale="emoji"), view(make_record)]))
    assert [(one.scale, one.origin.seeds) for one in shown] == [("small", "4 seeds"), ("emoji", "2 seeds")]


def test_a_scale_whose_claims_were_not_run_is_named_only_where_there_is_no_other(make_record: MakeRecord) -> None:
    alone = claimed.view(make_record, claimed.table(*claimed.TWO, **CLAIM), {"old": claimed.LOW}, scale="cifar")
    assert [one.scale for one in headlines(leaderboard([alone]))] == ["cifar"]
    home = words(pages(leaderboard([alone, view(make_record)]))["index"])
    assert "Also measured on" not in home
    assert "cifar· 1 not run" in home, "the list of papers has it"


def test_a_page_of_claims_says_for_how_many_they_are_corrected(make_record: MakeRecord) -> None:
    """Two tables compare the same runs: their claim counts once."""
    values = {"ours": claimed.HIGH, "old": claimed.LOW}
    tables = [claimed.table(*claimed.TWO, table=name, **CLAIM) for name in ("t", "u")]
    views = [
        claimed.view(make_record, one, values, siblings=[other for other in tables if other is not one])
        for one in tables
    ]
    for one, other in (views, views[::-1]):
        one.beside.append(other)
    site = {name: words(page) for name, page in pages(leaderboard(views)).items()}
    claims = next(page for name, page in site.items() if name.startswith("claims/"))
    assert "2 headline claims of all tables of the paper that have this scale" in claims
    assert "a claim whose premise does not hold does not count: here 1." in claims


def test_a_scale_of_several_recipes_says_that_one_of_them_is_described(make_record: MakeRecord) -> None:
    first, elsewhere = view(make_record), view(make_record, scale="emoji")
    values = {"ours": claimed.HIGH, "old": claimed.LOW}
    second = claimed.view(make_record, claimed.table(*claimed.TWO, table="u", **CLAIM), values)
    second = replace(second, setting=replace(second.setting, name="second recipe"))
    groups = headlines(leaderboard([first, second, elsewhere]))
    assert {one.scale: one.recipes for one in groups} == {"small": 2, "emoji": 1}
    assert "(in most tables)" in pages(leaderboard([first, second]))["index"]
    assert "(in most tables)" not in pages(leaderboard([elsewhere]))["index"]


def test_real_data_come_before_synthetic_ones(make_record: MakeRecord) -> None:
    made = make_record()[0]
    data = made.setup.data.model_copy(update={"name": "emoji-features"})
    real = made.model_copy(update={"setup": made.setup.model_copy(update={"data": data})})
    first, second = (
        Headlines("a", "", 1, Origin([real], [2]), [], []),
        Headlines("b", "", 1, Origin([made], [9]), [], []),
    )
    assert first.place < second.place


def test_a_claim_in_both_regimes_is_one_line_below_what_became_of_it(make_record: MakeRecord) -> None:
    made = claimed.table(*claimed.TWO, **CLAIM)
    values = {
        "printed": {"ours": claimed.HIGH, "old": claimed.LOW},
        "tuned": {"ours": claimed.LOW, "old": claimed.HIGH},
    }
    views = [claimed.view(make_record, made, values[regime], regime=regime) for regime in ("printed", "tuned")]
    (group,) = headlines(leaderboard(views))
    (fates,) = group.fates
    ((printed, tuned),) = fates.by_outcome["gain of tuning"]
    assert printed.estimate is not None
    assert tuned.estimate is not None
    assert (printed.estimate.mean, tuned.estimate.mean) == pytest.approx((19.75, -19.75))
    assert (group.forests, group.outcomes) == ([], {"gain of tuning": 1})
    shown = words(pages(leaderboard(views))["index"])
    assert shown.count("ours beats old") == 1
    place = anchor(tuned.judged, both=True)
    assert f"claims/p-small.html#{place}" in Reading(pages(leaderboard(views))["index"]).addresses
    assert place in Reading(pages(leaderboard(views))["claims/p-small"]).ids, "the line that has both regimes"
    assert "of 1 headline claim: robust gain 0, gain of tuning 1." in shown
    (figure,) = survey_figures(group, "p")
    (line,) = figure.lines
    assert [(one.heading, one.label, one.column) for one in line] == [
        ("1 gain of tuning", "ours vs. old, G R@1, B", regime) for regime in ("as printed", "tuned")
    ]
    assert [one.estimate and one.estimate.mean for one in line] == pytest.approx([19.75, -19.75])
    assert "p at small gain of tuning 1" in words(pages(leaderboard(views))["methods/infonce"]), "each claim once"
    assert "as printed, less old tuned: 0.0 ± 0.0" in words(pages(leaderboard(views))["tables/p-t-small"])


def test_a_gain_when_tuned_that_is_a_loss_as_printed_says_so(make_record: MakeRecord) -> None:
    made = claimed.table(*claimed.TWO, **CLAIM)
    better, worse = ({"ours": claimed.HIGH, "old": claimed.LOW}, {"ours": claimed.LOW, "old": claimed.HIGH})
    for printed, says in ((worse, True), ({"ours": (0.11, 0.11, 0.13, 0.12), "old": claimed.LOW}, False)):
        views = [
            claimed.view(make_record, made, values, regime=regime)
            for regime, values in (("printed", printed), ("tuned", better))
        ]
        page = words(pages(leaderboard(views))["index"])
        assert "1 gain when tuned" in page
        assert ("; as printed, it is significantly worse" in page) == says


def test_a_gain_that_could_not_be_seen_is_marked_and_counted(make_record: MakeRecord) -> None:
    wide = {"ours": (0.02, 0.36, 0.05, 0.38), "old": claimed.LOW}
    for published, missed in ((12, 1), (95, 0)):
        made = claimed.table(claimed.row("old", 10), claimed.row("ours", published, "proposed"), **CLAIM)
        views = [claimed.view(make_record, made, wide, regime=regime) for regime in ("printed", "tuned")]
        (group,) = headlines(leaderboard(views))
        assert group.undecided == 1
        site = {name: words(page) for name, page in pages(leaderboard(views)).items()}
        assert "no gain seen 1 (1 undecided)" in site["index"]
        assert ("1 §: one as large as published could not be seen here" in site["index"]) == bool(missed)
        assert ("· one as large as published could not be seen here" in site["tables/p-t-small"]) == bool(missed)


def test_a_gain_that_is_shown_to_be_small_in_a_regime_is_not_undecided_both_times(make_record: MakeRecord) -> None:
    made = claimed.table(*claimed.TWO, **CLAIM)
    wide, same = (0.02, 0.36, 0.05, 0.38), (0.101, 0.12, 0.119, 0.13)
    primary = {"retrieval": Primary(metric="r_mean", difference=0.01)}
    views = [
        claimed.view(make_record, made, {"ours": ours, "old": claimed.LOW}, regime=regime, primary=primary)
        for regime, ours in (("printed", wide), ("tuned", same))
    ]
    (group,) = headlines(leaderboard(views))
    assert (group.outcomes, group.undecided) == ({"no gain seen": 1}, 0)
    assert "undecided)" not in words(pages(leaderboard(views))["index"])


def test_what_two_tables_compare_alike_is_one_line_and_other_runs_are_not(make_record: MakeRecord) -> None:
    def both(name: str, ours: Sequence[float], label: str = "R@1") -> list[TableView]:
        made = claimed.table(*claimed.TWO, table=name, column={"label": label}, **CLAIM)
        values = {"ours": ours, "old": claimed.LOW}
        return [claimed.view(make_record, made, values, regime=regime) for regime in ("printed", "tuned")]

    alike, other = both("t", claimed.HIGH), both("u", claimed.HIGH)
    (group,) = headlines(leaderboard([*alike, *other]))
    ((line, _),) = group.fates[0].by_outcome["robust gain"]
    assert (line.tables, group.outcomes) == ("p/t, p/u", {"robust gain": 1})
    assert [*outcome_lines([*in_both_regimes([*alike, *other])])] == [
        "scale small: 1 robust gain; 1 more compare the same runs in another table"
    ]
    (group,) = headlines(leaderboard([alike[0], other[0]]))
    assert group.outcomes == {"reproduced": 1}, "in one regime alone, too"
    (group,) = headlines(leaderboard([*alike, *both("u", claimed.HIGH, "IN-1k")]))
    assert group.outcomes == {"robust gain": 1}, "another column, with the same stand-in"
    better = both("u", [value + 0.01 for value in claimed.HIGH])
    (group,) = headlines(leaderboard([*alike, *better]))
    assert group.outcomes == {"robust gain": 2}


@pytest.mark.parametrize(("claims", "tables"), [(12, [12]), (13, [7, 6])])
def test_many_claims_of_one_outcome_are_two_tables_side_by_side(
    make_record: MakeRecord, claims: int, tables: Sequence[int]
) -> None:
    views = []
    for number in range(claims):
        made = claimed.table(*claimed.TWO, table=f"t{number}", **CLAIM)
        values = {"ours": [value + (number + 1) / 1e5 for value in claimed.LOW], "old": claimed.LOW}
        views += [claimed.view(make_record, made, values, regime=regime) for regime in ("printed", "tuned")]
    (group,) = headlines(leaderboard(views))
    assert group.outcomes == {"no gain seen": claims}
    page = pages(leaderboard(views))["index"]
    assert words(page).count(f"{claims} no gain seen: ") == 1
    lines = [re.findall(r'title="p/(t\d+)"', table) for table in page.split('<table class="forest fates')[1:]]
    assert [len(set(line)) for line in lines] == tables
    assert [*chain(*lines)] == [f"t{number}" for number in range(claims)]
    whole = pages(leaderboard(views))["claims/p-small"]
    assert whole.count('<table class="forest fates') == 1, "with more said of each there is no room for two"


@pytest.mark.parametrize(
    ("long", "first"), [((), 7), ((0, 1, 2, 3), 5), ((9, 10, 11, 12), 8)], ids=["all short", "long ones first", "last"]
)
def test_two_columns_are_about_as_high(long: Sequence[int], first: int) -> None:
    lines = [SimpleNamespace(rows=("ours", "old"), about="x" * (90 if n in long else 9)) for n in range(13)]
    one, other = Fates(None, {"no gain seen": [(line, line) for line in lines]}).halves("no gain seen")  # type: ignore[arg-type,list-item]
    assert [len(one), len(other)] == [first, 13 - first]
    assert [line for line, _ in (*one, *other)] == lines


def test_a_method_s_page_leads_to_the_headline_claims_about_it(make_record: MakeRecord) -> None:
    three = claimed.table(*claimed.TWO, claimed.row("third", 9), **CLAIM)
    values = {"ours": claimed.HIGH, "old": claimed.LOW, "third": claimed.LOW}
    shown = claimed.view(make_record, three, values, {"ours": {"method": other(make_record)}})
    assert [claim.claim.headline for claim in leaderboard([shown]).claims["p-t-small"]] == [True, False]
    rows = [replace(row, method="temo") if row.label == "ours" else row for row in shown.rows]
    found = pages(leaderboard([replace(shown, rows=rows)]))
    assert "../claims/p-small.html" in Reading(found["methods/temo"]).addresses
    assert "../claims/p-small.html" not in Reading(found["methods/infonce"]).addresses


def test_a_line_says_where_the_table_contradicts_the_text_and_names_the_method_of_ours(make_record: MakeRecord) -> None:
    rows = claimed.row("old", 12), claimed.row("ours", 10, "proposed", method="temo")
    values = {"ours": claimed.HIGH, "old": claimed.LOW}
    worse = claimed.view(make_record, claimed.table(*rows, **CLAIM), values, {"ours": {"method": other(make_record)}})
    assert (line(worse).contradicted, line(view(make_record)).contradicted) == (True, False)
    named = replace(line(worse).claim, row=("B", "", "TeMo (ours)"))
    own = [replace(row, label="TeMo (ours)") if row.label == "ours" else row for row in worse.rows]
    assert ClaimLine(replace(worse, rows=own), replace(line(worse).judged, claim=named)).method == ""


def test_which_method_is_ahead_is_said_of_boards_whose_reference_was_tuned(make_runs: MakeRuns) -> None:
    near, far = (0.5, 0.51, 0.52, 0.53), (0.7, 0.712, 0.72, 0.735)
    plain = make_runs()[0].setup
    real = [plain.model_copy(update={"data": plain.data.model_copy(update={"name": n})}) for n in ("cifar10", "emoji")]
    found = TunedBy(trials=16, trial=0, score=0.5, digest="d", searched=["tau"])
    runs = [
        make_runs("infonce", near, setup=real[0]), make_runs("temo", far, setup=real[0]),
        make_runs("infonce", near, setup=real[1], tuned=found), make_runs("temo", near, setup=real[1], tuned=found),
        make_runs("ts", far, setup=real[1], tuned=found),
    ]  # fmt: skip
    (tuned,) = overviews(leaderboard([], [record for one in runs for record in one.values()]))
    assert tuned.answer.startswith("On real data, tuned, of 2 methods 1 is ahead of InfoNCE: TS (on 1 of 1 board)")
    assert tuned.answer.endswith("No other is shown to be either. Left out: 1 board where InfoNCE was not tuned.")
    assert [(one.row.label, one.all_tuned) for line in tuned.lines for one in line.found.values()] == [
        ("TS", True), ("TeMo", True), ("TeMo", False),
    ]  # fmt: skip
    assert [line.title for line in tuned.lines] == ["TS", "TeMo"]
    rate = make_runs("cwcl", far, setup=real[1], tuned=found.model_copy(update={"searched": []}))
    behind = make_runs("softclip", (0.3, 0.312, 0.32, 0.335), setup=real[1], tuned=found)
    (more,) = overviews(leaderboard([], [record for one in (*runs, rate, behind) for record in one.values()]))
    assert "of 3 methods 1 is ahead of InfoNCE: TS (on 1 of 1 board); 1 is behind: SoftCLIP (on 1" in more.answer, (
        "CWCL, whose learning rate alone was searched, is not tuned alike"
    )
    assert "Methods with ° were not tuned like it: they do not count here." in more.answer
    assert "°" not in tuned.answer
    synthetic = [plain, plain.model_copy(update={"data": plain.data.model_copy(update={"name": "latents"})})]
    values = {"infonce": near, "temo": far}
    made = [make_runs(name, values[name], setup=setup, tuned=found) for setup in synthetic for name in values]
    (alone,) = overviews(leaderboard([], [record for one in made for record in one.values()]))
    assert alone.answer.startswith(
        "On synthetic data, tuned, of 1 method 1 is ahead of InfoNCE: TeMo (on 2 of 2 boards)"
    )
    assert alone.answer.endswith("No other is shown to be either.")
    (equal,) = overviews(leaderboard([], [record for one in runs[:4] for record in one.values()]))
    assert equal.answer.endswith("on any board, or behind. Left out: 1 board where InfoNCE was not tuned.")
    bare = [*runs[:2], make_runs("infonce", near), make_runs("temo", near)]
    (untuned,) = overviews(leaderboard([], [record for one in bare for record in one.values()]))
    assert untuned.answer.startswith("On real data of 1 method 1 is ahead of InfoNCE: TeMo")


def test_methods_stand_beside_the_reference_on_all_boards_real_data_first(make_runs: MakeRuns) -> None:
    near, far = (0.5, 0.51, 0.52, 0.53), (0.7, 0.712, 0.72, 0.735)
    real = make_runs()[0].setup
    real = real.model_copy(update={"data": real.data.model_copy(update={"name": "cifar10"})})
    runs = [
        make_runs("infonce", near), make_runs("infonce", far, longer=2.0),
        make_runs("temo", far), make_runs("ts", near),
        make_runs("infonce", far, setup=real), make_runs("temo", near, setup=real),
        make_runs("temo", far, setup=real, hyperparameters={"tau": 0.3}),
    ]  # fmt: skip
    records = [record for one in runs for record in one.values()]
    board = leaderboard([], records)
    (found,) = overviews(board)
    home = pages(board)["index"]
    assert "benchsuite compare infonce ts --data pairs=FOLDER" in words(home)
    assert "benchsuite compare infonce ts --data features=vectors" in words(home)
    table = home.partition('id="overview-1"')[2].partition("</table>")[0]
    shown = dict(re.findall(r'>([^<>]+)</a>(?: <span class="quiet">([^<>]*)</span>)?</th>', table))
    assert (shown["TS"], shown["TeMo"]) == ("", "image view, text view"), "what they read beside the pairs"
    assert [found.data[board.setup_id] for board in found.boards] == ["real data", "synthetic data"]
    assert [line.title for line in found.lines] == ["InfoNCE (steps=×2)", "TS", "TeMo"], "worse on real data: last"
    outcomes = {
        line.title: {found.data[setup]: one.outcome for setup, one in line.found.items()} for line in found.lines
    }
    assert outcomes["TeMo"] == {"real data": "worse", "synthetic data": "better"}
    assert outcomes["InfoNCE (steps=×2)"] == {"synthetic data": "better"}
    assert overviews(leaderboard([], records[:8])) == []
    assert "On real data of 1 method none is ahead of InfoNCE; 1 is behind: TeMo (on 1 of 1 board)." in words(home)
    assert found.chosen is None, "no search tuned the reference"


def test_who_asks_for_a_loss_reads_first_what_is_ahead_on_real_data_and_what_searches_chose(
    make_runs: MakeRuns,
) -> None:
    near, far = (0.5, 0.51, 0.52, 0.53), (0.7, 0.712, 0.72, 0.735)
    made = make_runs()[0].setup
    real = made.model_copy(update={"data": made.data.model_copy(update={"name": "cifar10"})})
    by = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, searched=["tau"])
    several = [
        make_runs(method, values, setup=setup, tuned=by, hyperparameters={"tau": tau})
        for setup, tau in ((real, 0.04), (made, 0.3))
        for method, values in (("infonce", near), ("temo", far), ("ts", near))
    ]
    home = words(pages(leaderboard([], [record for runs in several for record in runs.values()]))["index"])
    assert "On real data, tuned, of 2 methods 1 is ahead of InfoNCE: TeMo (on 1 of 1 board); none is behind." in home
    assert "the searches of InfoNCE chose tau from 0.04 to 0.04." in home


def test_days_and_code_are_those_of_the_runs(make_record: MakeRecord) -> None:
    runs = view(make_record).rows[0].records
    changed = [
        run.model_copy(update={"created": f"2026-01-0{day}T00:00:00+00:00", "environment": {"benchsuite": "9", **code}})
        for day, (run, code) in enumerate(zip(runs, ({"commit": "a" * 40}, {}, {"commit": "b" * 40}), strict=False), 1)
    ]
    origin = Origin(changed, [5, 3, 5])
    assert origin.seeds == "3 to 5 seeds"
    assert Origin(changed, [1, 1]).seeds == "1 seed"
    assert origin.days == "2026-01-01 to 2026-01-03"
    assert origin.code == "benchsuite 9, commit aaaaaaa, an installed package, commit bbbbbbb"
    more = [run.model_copy(update={"environment": {"commit": str(n) * 8}}) for n, run in enumerate([*runs, runs[0]])]
    assert re.fullmatch(r"benchsuite unknown, 5 commits, the last commit 4444444", Origin(more, [1]).code)


def test_data_of_a_plugin_is_neither_synthetic_nor_real(make_record: MakeRecord) -> None:
    (first, *_) = view(make_record).rows[0].records
    assert Origin([first], [1]).data == "synthetic data"
    for name, said in (("cifar10", "real data"), ("mine", "data of a plugin")):
        data = first.setup.data.model_copy(update={"name": name})
        record = first.model_copy(update={"setup": first.setup.model_copy(update={"data": data})})
        assert Origin([record], [1]).data == said


def test_an_empty_results_folder_gives_a_page_that_says_what_to_run_and_names_what_was_skipped() -> None:
    empty = pages(leaderboard())
    assert list(empty) == ["index"]
    assert "benchsuite repro temo/table1 --scale smoke" in empty["index"]


def test_each_board_is_linked_and_says_if_all_are_tied(measured: TableView, monkeypatch: pytest.MonkeyPatch) -> None:
    compare = f"compare/{measured.rows[0].records[0].setup_id}"
    for separates in (True, False):
        monkeypatch.setattr("benchsuite.analysis.boards.Board.separates", separates)
        board = leaderboard([measured], problems=["x.json: edited"])
        found = pages(board)
        assert f"{compare}.html#board" in Reading(found["index"]).addresses
        assert "board" in Reading(found[compare]).ids
        assert "x.json: edited" in found["index"]
        assert ("No difference on this board is significant" in found[compare]) is not separates


def test_the_list_of_methods_says_which_have_no_run(make_record: MakeRecord) -> None:
    table = claimed.table(claimed.TWO[0], {**claimed.TWO[1], "method": "temo"})
    page = pages(leaderboard([claimed.view(make_record, table, {"old": claimed.LOW})]))["index"]
    (listed,) = re.findall(r'<h2 id="methods">.*?</ul>', page, flags=re.S)
    assert [("temo" in line, "(no run" in line) for line in listed.split("<li>")[1:]] == [(False, False), (True, True)]


def test_a_claim_whose_tuned_rows_search_the_learning_rate_alone_is_marked(make_record: MakeRecord) -> None:
    """A gain of such a table says nothing of tuning more than the learning rate: it is no robust one."""
    values = {"ours": claimed.HIGH, "old": claimed.LOW}
    for searched, marked in (([], True), (["tau"], False)):
        by = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, searched=searched)
        views = [
            claimed.view(
                make_record,
                claimed.table(*claimed.TWO, **CLAIM),
                values,
                changes={name: {"tuned": one} for name in values} if (one := by if regime == "tuned" else None) else {},
                regime=regime,
            )
            for regime in ("printed", "tuned")
        ]
        found = pages(leaderboard(views))
        assert ("ours beats old ‡ " in words(found["index"])) == marked
        assert ("gain at given values 1" in words(found["index"])) == marked
        assert ("robust gain 1" in words(found["index"])) != marked
        said = "tuned, too, the learning rate alone is searched, in 16 trials"
        assert (said in words(found["claims/p-small"])) == marked
