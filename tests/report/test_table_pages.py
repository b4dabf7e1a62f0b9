"""Pages of tables and of claims."""

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.claimed import HIGH, LOW, TWO, claimed, table, view
from support.claimed import row as a_row
from support.html_pages import Reading, leaderboard, pages

from benchsuite.analysis.table_view import TableView
from benchsuite.papers.schema import Plot
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import Record, TunedBy
from benchsuite.report.claim_lines import anchor, matrix, untested
from benchsuite.report.numbers import signed
from benchsuite.report.pages import command
from benchsuite.setup import Clusters

MakeRecord = Callable[..., tuple[Record, bytes]]
MakeRuns = Callable[..., dict[int, Record]]
TABLE1 = "tables/temo-table1-small"


def test_a_table_says_what_stands_for_what_how_to_repeat_it_and_why_runs_are_missing(measured: TableView) -> None:
    text = Reading(pages(leaderboard([measured]))[TABLE1]).text
    for said in (
        "21.64", command(measured), measured.setting.recipe.description, measured.rows[0].records[0].setup_id,
        *measured.stand_ins.values(), *measured.missing.values(), *measured.setting.backbones.values(),
        *(row.gap for row in measured.rows), *(one.chosen for one in measured.setting.recipe.tuned.values()),
    ):  # fmt: skip
        assert said in text


def test_a_table_as_printed_and_tuned_has_one_page_with_both_numbers_in_each_cell(make_record: MakeRecord) -> None:
    values = {"printed": {"ours": HIGH, "old": LOW}, "tuned": {"ours": LOW, "old": HIGH}}
    views = [view(make_record, table(*TWO), of, regime=regime) for regime, of in values.items()]
    (place, page), *others = [(n, p) for n, p in pages(leaderboard(views[::-1])).items() if n.startswith("tables/")]
    assert (place, others) == ("tables/p-t-small", [])
    cells = [cell for cell in Reading(page).cells if "theirs" in cell]
    numbers = [[re.findall(r"[0-9.]+", cell[kind])[0] for kind in ("theirs", "printed", "tuned")] for cell in cells]
    assert numbers == [["10.00", "11.8", "31.5"], ["12.00", "31.5", "11.8"]]
    downloads = [address for address in Reading(page).addresses if address.endswith(".csv")]
    assert downloads == ["p-t-small.csv", "p-t-small-tuned.csv"]
    alone = Reading(pages(leaderboard(views[1:]))["tables/p-t-small"])
    assert not any("printed" in cell for cell in alone.cells)


def test_rows_that_were_asked_for_in_one_regime_alone_are_all_on_the_page(make_record: MakeRecord) -> None:
    rows = table(*TWO, a_row("other", 11))
    asked = {"printed": {"old": LOW, "ours": HIGH}, "tuned": {"old": HIGH, "other": LOW}}
    views = [view(make_record, rows, of, regime=regime) for regime, of in asked.items()]
    views = [replace(v, rows=[each for each in v.rows if each.label in asked[v.asked.regime]]) for v in views]
    page = Reading(pages(leaderboard(views))["tables/p-t-small"])
    cells = [cell for cell in page.cells if "theirs" in cell]
    found = [
        [*re.findall(r"[0-9.]+|–", cell["printed"])[:1], *re.findall(r"[0-9.]+|–", cell["tuned"])[:1]] for cell in cells
    ]
    assert found == [["11.8", "31.5"], ["31.5", "–"], ["–", "11.8"]]
    assert [cell["count"] for cell in page.cells if "count" in cell] == ["4", "4", "4"]
    assert "not run tuned" in page.text
    assert "not run as printed" in page.text


def test_a_figure_s_page_begins_with_it(measured: TableView) -> None:
    found = pages(leaderboard([measured]))[TABLE1]
    assert 'class="figures"' not in found
    plot = Plot(title="Loss", y=["loss"])
    shown = replace(measured, table=measured.table.model_copy(update={"plots": [plot]}))
    led = pages(leaderboard([shown]))[TABLE1]
    assert led.index('class="figures"') < led.index('id="board-1"')


@pytest.mark.parametrize(
    ("clusters", "said"),
    [
        (Clusters(labels="subgroup"), "Clustersthe classes “subgroup” of the data"),
        (Clusters(k=12), "ClustersK-means, 12 clusters, on embeddings of captions: TF-IDF, SVD"),
        (Clusters(embedding="not-here"), "ClustersK-means, 200 clusters, on embeddings of captions: not-here"),
    ],
)
def test_a_table_says_which_clusters_its_methods_read(make_record: MakeRecord, clusters: Clusters, said: str) -> None:
    setup = make_record()[0].setup.model_copy(update={"clusters": clusters})
    changes = {label: {"setup": setup} for label in ("ours", "old")}
    for method, reads in (("mm-ts", True), ("infonce", False)):
        rows = table(a_row("old", 10), a_row("ours", 12, "proposed", method=method))
        page = pages(leaderboard([view(make_record, rows, {"ours": HIGH, "old": LOW}, changes)]))["tables/p-t-small"]
        assert (said in " ".join(Reading(page).text.split())) == reads


def test_heads_say_the_stand_in_and_which_direction_is_better(measured: TableView) -> None:
    page = pages(leaderboard([measured]))[TABLE1]
    heads = [" ".join(Reading(head).text.split()) for head in re.findall(r"<th scope=.col. data-name.*?</th>", page)]
    assert heads[:2] == ["IR@1 ↑", "TR@1 ↑"]
    assert any(head.startswith("Top-1 ↑ here: the 10 colours of scenes") for head in heads)


def test_a_table_lists_every_claim_with_its_verdict_and_counts_them_on_their_number(measured: TableView) -> None:
    board = leaderboard([measured])
    found, claims = pages(board), board.claims["temo-table1-small"]
    page, reasons = Reading(found[TABLE1]), Reading(found["claims/temo-small"])
    unselected = [one for one in claims if one.claim.headline and one.verdict.kind == "not selected"]
    assert f"○ {len(unselected)} not selected" in page.text
    texts = {one.claim.said for one in claims if one.claim.locator}
    assert texts
    for text in texts:
        assert reasons.text.count(f"{text.locator}: {text.statement}") == 1
    lines = {address for address in page.addresses if "claims/temo-small.html#claim-" in address}
    assert {address.partition("#")[2] for address in lines} == {anchor(one) for one in claims if one.claim.headline}
    with_a_line = set(reasons.ids) & {anchor(one) for one in claims}
    assert with_a_line == {anchor(one) for one in claims if one.claim.headline}, "exploration has no verdict"
    explored = len([one for one in claims if one.gain is not None and not one.claim.headline])
    assert f"{explored} exploratory comparison" in reasons.text
    shown = {row.key for row in measured.rows}
    headline = {(one.claim.row, one.claim.column.key) for one in claims if one.claim.headline}
    marked = [cell for cell in page.cells if cell.get("marks", "").strip()]
    assert len(marked) == sum(row in shown for row, _ in headline), "only headline claims stand on numbers"


def test_further_claims_are_a_matrix_in_which_each_has_its_verdict_and_gain_once(measured: TableView) -> None:
    board = leaderboard([measured])
    claims = board.claims["temo-table1-small"]
    found = matrix(measured, claims)
    for line in found.lines:
        shown = [one for cell in line for one in cell]
        assert len({(one.claim.row, one.claim.reference) for one in shown}) == 1
        for column, cell in zip(found.columns, line, strict=True):
            assert {one.claim.column.key for one in cell} <= {column.key}
    placed = [one.judged for line in found.lines for cell in line for one in cell]
    left_out = {column.key for column in found.untested}
    with_a_line = {(one.claim.row, one.claim.reference) for one in claims if one.gain is not None}
    there = [one for one in claims if (one.claim.row, one.claim.reference) in with_a_line]
    assert sorted(map(id, placed)) == sorted(id(one) for one in there if one.claim.column.key not in left_out)
    assert found.bare == len({(one.claim.row, one.claim.reference) for one in claims} - with_a_line) > 0
    assert {one.claim.column.key for one in claims if one.gain is not None} == {column.key for column in found.columns}
    assert left_out == {one.claim.column.key for one in claims} - {column.key for column in found.columns}
    assert sum(width for _, width in found.groups) == len(found.columns)
    order = [row.key for row in measured.table.rows]
    pairs = [next((one.claim.row, one.claim.reference) for cell in line for one in cell) for line in found.lines]
    assert pairs == sorted(pairs, key=lambda pair: [order.index(key) for key in pair])
    page = Reading(pages(board)[TABLE1])
    cells = [cell["matrix"].strip() for cell in page.cells if "matrix" in cell]
    explored = [one for one in claims if one.verdict.kind == "exploratory"]
    rates = [one.verdict.false_discovery_rate or 0 for one in explored]
    marks = [f"{'● ' * (rate <= 0.05)}{signed(one.gain, one.claim.column.unit)}"
             for one, rate in zip(explored, rates, strict=True)]  # fmt: skip
    assert sorted(cell for cell in cells if re.fullmatch(r"(● )?[−+]?[0-9.]+", cell)) == sorted(marks)


def test_a_difference_that_exploration_has_found_has_a_mark(make_record: MakeRecord) -> None:
    rows = table(*TWO, a_row("like", 10))
    shown = view(make_record, rows, {"old": LOW, "ours": HIGH, "like": (0.33, 0.30, 0.31, 0.31)})
    page = Reading(pages(leaderboard([shown]))["tables/p-t-small"])
    gains = [cell["matrix"].strip() for cell in page.cells if "matrix" in cell]
    assert [gain[0] for gain in gains] == ["●", "+"], "found against old alone"


def test_a_papers_claims_name_the_tables_that_were_not_run_here(make_record: MakeRecord) -> None:
    rows = claimed(*TWO)
    other = rows.model_copy(update={"table": "u"})
    shown = replace(view(make_record, rows, {"old": LOW, "ours": HIGH}), siblings=[other])
    said = Reading(pages(leaderboard([shown]))["claims/p-small"]).text
    assert "Not run at this scale, though 1 claim of the family is theirs: p/u." in said


def test_a_headline_claim_stands_beside_what_its_paper_leaves_open(make_record: MakeRecord) -> None:
    rows = a_row("old", 10, note="Temperature not given."), a_row("ours", 12, "proposed"), a_row("else", 11, note="No.")
    values = {"old": LOW, "ours": HIGH, "else": LOW}
    views = [view(make_record, claimed(*rows), values, regime=r) for r in ("printed", "tuned")]
    page = Reading(pages(leaderboard(views))["claims/p-small"]).text
    assert page.count("old: Temperature not given.") == 1
    assert "else: No." not in page


def test_reasons_stand_where_there_is_no_test(measured: TableView) -> None:
    claims = leaderboard([measured]).claims["temo-table1-small"]
    said = Reading(pages(leaderboard([measured]))["claims/temo-small"]).text
    assert {one.gain is None for one in claims} == {True, False}
    for one in claims:
        assert (one.verdict.reason in said) == (one.gain is None)


def test_headline_claims_without_a_number_of_ours_have_a_table_and_others_are_counted(measured: TableView) -> None:
    claims = leaderboard([measured]).claims["temo-table1-small"]
    page = pages(leaderboard([measured]))["claims/temo-small"]
    there, missed = (Reading(part) for part in page.split("Not tested</h2>"))
    missing = [one for one in claims if one.gain is None]
    headline = [one for one in missing if one.claim.headline]
    assert 0 < len(headline) < len(missing)
    assert set(missed.ids) & {anchor(one) for one in claims} == {anchor(one) for one in headline}, (
        "the first page leads"
    )
    assert not set(there.ids) & {anchor(one) for one in missing}
    assert f"Of {len(headline)} headline claim" in missed.text
    others = Counter(one.verdict.reason for one in missing if not one.claim.headline)
    for reason, count in others.items():
        assert f"{count} comparison{'s' * (count > 1)}: {reason}" in missed.text


def test_what_was_not_tested_is_counted_by_reason_the_most_common_first(measured: TableView) -> None:
    claims = leaderboard([measured]).claims["temo-table1-small"]
    one = next(claim for claim in claims if claim.gain is None and not claim.claim.headline)
    other = replace(one, verdict=replace(one.verdict, reason="another"))
    assert untested([other, one, one]) == ([], {one.verdict.reason: 2, "another": 1})
    assert list(untested([other, one, one])[1]) == [one.verdict.reason, "another"]


def test_a_claim_whose_premise_does_not_hold_is_not_tested_though_it_was_measured(make_record: MakeRecord) -> None:
    premise = {"statement": "It is hard", "rows": ["old"], "column": "a", "at_most": 1.0, "columns": ["a"]}
    shown = view(make_record, table(*TWO, premises=[premise]), {"old": LOW, "ours": HIGH})
    found = matrix(shown, leaderboard([shown]).claims[shown.asked.name])
    assert ([column.key for column in found.untested], found.lines, found.bare) == (["a"], [], 1)
    page = Reading(pages(leaderboard([shown]))["tables/p-t-small"]).text
    assert "No other comparison was tested on G R@1" in page


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_our_difference_sorts_by_the_gain_that_is_shown(make_record: MakeRecord, better: str) -> None:
    rows = claimed(*TWO, column={"better": better})
    page = pages(leaderboard([view(make_record, rows, {"old": LOW, "ours": HIGH})]))["claims/p-small"]
    gains = re.findall(r'<td data-order="([^"]+)">([+−])[0-9.]+ ± ', page)
    assert gains
    assert all((float(order) > 0) == (sign == "+") for order, sign in gains)


def test_the_command_of_a_table_tunes_and_names_seeds_and_real_data(measured: TableView) -> None:
    plain = f"benchsuite repro temo/table1 --scale small --replicates {len({run.seed for run in measured.runs})}"
    assert command(measured) == plain
    tuned = replace(measured, asked=measured.asked.model_copy(update={"regime": "tuned"}))
    assert command(tuned) == plain.replace("small", "small --regime tuned")
    stated = {"tuning": read_recipe("latents-pairs").tuning}
    recipe = measured.setting.recipe.model_copy(update=stated)
    printed = replace(measured, setting=replace(measured.setting, recipe=recipe))
    assert command(printed) == plain.replace("small", "small --regime printed --trials 0")
    searched = replace(printed, asked=printed.asked.model_copy(update={"trials": 5}))
    assert command(searched) == plain.replace("small", "small --regime printed")
    (row, *_) = measured.rows
    setup = row.records[0].setup
    real = setup.model_copy(update={"data": setup.data.model_copy(update={"name": "cifar10"})})
    included = setup.model_copy(update={"data": setup.data.model_copy(update={"name": "emoji-features"})})
    own = row.records[1].method.model_copy(update={"name": "mine"})
    runs = [row.records[1].model_copy(update={"setup": included, "method": own})]
    assert command(replace(measured, rows=[replace(row, records=runs)])) == (
        "benchsuite repro temo/table1 --scale small --plugin FILE"
    )
    runs = [row.records[1].model_copy(update={"setup": real})]
    assert command(replace(measured, rows=[replace(row, records=runs)])) == (
        "benchsuite repro temo/table1 --scale small --data cifar10=FOLDER"
    )


@pytest.mark.parametrize(("columns", "where"), [((), ""), (("coco_ir1",), "partly on stand-ins")])
def test_no_published_number_is_subtracted_where_a_stand_in_was_measured(
    measured: TableView, columns: tuple[str, ...], where: str
) -> None:
    setting = replace(measured.setting, stand_ins=dict.fromkeys(columns, "synthetic images"))
    view = replace(measured, setting=setting)
    found = pages(leaderboard([view]))
    page = Reading(found[TABLE1])
    assert view.on_stand_ins == where
    assert where in re.findall("<title>.*</title>", found[TABLE1])[0]
    subtracted = [cell["diff"].strip() for cell in page.cells if cell.get("diff", "–").strip() != "–"]
    ours = [cell for row in measured.rows for cell in row.cells if cell.n and cell.column.key not in columns]
    assert len(subtracted) == len(ours)


def test_headline_claims_come_first_and_their_picture_leads_to_their_lines(measured: TableView) -> None:
    board = leaderboard([measured])
    claims = board.claims["temo-table1-small"]
    headline = {anchor(one) for one in claims if one.claim.headline}
    assert [one.claim.headline for one in claims] == sorted((one.claim.headline for one in claims), reverse=True)
    page = pages(board)["claims/temo-small"]
    assert set(re.findall(r'<a href="#(claim-[^"]*)', page)) == headline
    for part in page.split("Not tested</h2>"):
        lines = re.findall(r'<tr id="(claim-[^"]*)', part)
        marked = [line in headline for line in lines]
        assert marked == sorted(marked, reverse=True)


def test_rows_of_one_setup_can_be_compared_seed_by_seed(measured: TableView) -> None:
    page = pages(leaderboard([measured]))[f"compare/{measured.rows[0].records[0].setup_id}"]
    told = json.loads(re.findall(r'id="compare-data">(.*?)</script>', page)[0])
    assert told["seeds"] == [0, 1, 2]
    for row, shown in zip([row for row in measured.rows if row.records], told["rows"], strict=True):
        assert shown["values"] == [[r.results["retrieval"].metrics["r_mean"] for r in row.records]]


def test_a_board_says_how_many_rows_were_not_tuned_though_the_reference_was(make_runs: MakeRuns) -> None:
    by = TunedBy(trials=16, trial=3, score=0.5, digest="d" * 64, searched=["tau"])
    tuned, plain = make_runs("infonce", HIGH, tuned=by), make_runs("temo", LOW)
    records = [*tuned.values(), *plain.values()]
    page = Reading(pages(leaderboard([], records))[f"compare/{records[0].setup_id}"]).text
    assert "1 worse of 1 row. Not tuned, though the reference is: 1 row, 1 of them worse." in " ".join(page.split())


def test_no_two_places_of_a_page_have_the_same_id(measured: TableView) -> None:
    for text in pages(leaderboard([measured])).values():
        ids = Reading(text).ids
        assert len(ids) == len(set(ids))


def test_regions_of_a_page_have_names_of_their_own(measured: TableView) -> None:
    rows = [replace(row, label="Mine") if row.label == "TeMo" else row for row in measured.rows]
    for name, page in pages(leaderboard([replace(measured, rows=rows)])).items():
        regions = re.findall(r'role="region" aria-label="([^"]*)"', page)
        assert len(regions) == len(set(regions)), name
        assert ("All numbers of added rows" in regions) == (name == TABLE1)


@pytest.mark.parametrize("redrawn", ["", "seed"])
def test_a_page_says_whether_replicates_share_their_data(make_record: MakeRecord, redrawn: str) -> None:
    setup = make_record(0)[0].setup
    own = setup.model_copy(update={"data": setup.data.model_copy(update={"redrawn": redrawn})})
    changes = {label: {"setup": own} for label in ("ours", "old")}
    found = pages(leaderboard([view(make_record, table(*TWO), {"ours": HIGH, "old": LOW}, changes)]))
    (page,) = (Reading(text).text for name, text in found.items() if name.startswith("tables/"))
    assert ("Not redrawn" in page) != bool(redrawn)
