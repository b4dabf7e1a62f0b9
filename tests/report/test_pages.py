import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from support import claimed
from support.exported import VALUES, build
from support.html_pages import Reading, leaderboard, pages

from benchsuite.analysis.building import build_table
from benchsuite.analysis.items import OverItems
from benchsuite.analysis.table_view import TableView
from benchsuite.papers import read_table
from benchsuite.papers.questions import Premise
from benchsuite.papers.schema import Plot, row_name
from benchsuite.records.requests import RequestedRow, RequestedRuns, SmallestDifference, TableRequest
from benchsuite.records.schema import Record
from benchsuite.report.claim_lines import MOST_LINES, anchor, matrix
from benchsuite.report.export import table_lines
from benchsuite.report.numbers import signed
from benchsuite.report.pages import command, run_page

MakeRecord = Callable[..., tuple[Record, bytes]]
HOSTILE = (
    """<script>alert(1)</script>"'</pre></script><img src=x onerror=alert(1)> javascript:alert(1) {{ 7919 * 7907 }}"""
)
TABLE1 = "tables/temo-table1-small"


@dataclass(frozen=True)
class Over:
    """Stands for what reads test items."""

    floor: float | None = 0.01

    def compare(self, pairs: Sequence[object], measure: str) -> OverItems:
        return OverItems(0.2, -0.012, 0.347, self.floor, 500)


def make_request(*rows: RequestedRow, **changes: object) -> TableRequest:
    told = {
        "table": "temo/table1", "scale": "small", "recipe": "scenes-small", "track": "scenes",
        "description": "small towers",
        "measures": {"coco_ir1": "retrieval.t2i_r5", "coco_tr1": "retrieval.i2t_r1"},
        "stand_ins": {"cifar10_top1": "the 10 colours of scenes"},
        "missing": {"cifar100_top1": "scenes has no hundred classes"}, "tuned": {"rate": "by trial"},
        "backbones": {"RN50": "a small ResNet"}, "temperature_factor": 5.0, "rows": rows,
    }  # fmt: skip
    return TableRequest.model_validate({**told, **changes})


def waiting(**changes: object) -> TableView:
    """A table of which nothing is measured."""
    rows = [RequestedRow.model_validate({"label": "InfoNCE", "backbone": "RN50", "method": "infonce", **changes})]
    return build_table(read_table("temo/table1"), make_request(*rows), {}, {})


@pytest.fixture
def measured(make_record: MakeRecord) -> TableView:
    """Two methods with three seeds each, and one seed of the second failed."""
    parts, records = {}, {}
    for name, values in {"infonce": (0.20, 0.22, 0.21), "temo": (0.40, 0.425, 0.41)}.items():
        runs = {}
        for seed, value in enumerate(values):
            first = make_record(seed)[0]
            part = first.method.model_copy(
                update={"name": name, "title": name.upper(), "version": 1 + (name == "temo")}
            )
            result = first.results["retrieval"]
            told = {"retrieval": result.model_copy(update={"metrics": {**result.metrics, "i2t_r1": value}})}
            temperatures = {"temperature": [0.1, 0.1], "temperature_positive": [0.1, 0.2]}
            curves = {"step": [0, 1], "loss": [2.0, 1.0], "gap": [0.9, 0.8], **temperatures}
            record = make_record(seed, method=part, results=told, curves=curves)[0]
            runs[seed], records[record.run_id] = record.run_id, record
        setup, method = record.setup_id, record.method_id
        parts[name] = {"": RequestedRuns(setup_id=setup, method_id=method, runs={**runs, 3: f"{name}-3"})}
    request = make_request(
        RequestedRow(label="InfoNCE", backbone="RN50", method="infonce", parts=parts["infonce"]),
        RequestedRow(label="TeMo", backbone="RN50", method="temo", parts=parts["temo"]),
    )
    return build_table(read_table("temo/table1"), request, records, {"temo-3": "loss is not finite at step 7"})


def test_a_table_says_what_stands_for_what_and_how_rows_were_trained(measured: TableView) -> None:
    text = Reading(pages(leaderboard([measured]))[TABLE1]).text
    for said in (
        "21.64", "a small ResNet", "rate: by trial", "benchsuite repro temo/table1 --scale small",
        "the 10 colours of scenes", "multiplied by 5", "scenes has no hundred classes", "small towers",
        measured.rows[0].records[0].setup_id,
    ):  # fmt: skip
        assert said in text


def test_a_table_of_ones_own_says_nothing_about_a_paper() -> None:
    paper = waiting()
    assert "Columns have the paper's names." in Reading(pages(leaderboard([paper]))[TABLE1]).text
    rows = [row.model_copy(update={"published": {}}) for row in paper.table.rows]
    update = {"rows": rows, "source": "", "locator": "", "title": "temo/table1"}
    view = build_table(paper.table.model_copy(update=update), paper.request, {}, {})
    text = Reading(pages(leaderboard([view]))[TABLE1]).text
    assert "temo · scale small" in text
    assert "Ours were measured on stand-ins" in text
    assert "Columns have the paper's names" not in text
    assert table_lines(view)[0] == "temo/table1 at scale small"


def test_a_table_says_which_runs_it_is_of_and_how_to_cite_and_repeat_it(measured: TableView) -> None:
    found = pages(leaderboard([measured]))[TABLE1]
    text = " ".join(Reading(found).text.split())
    strip = text[text.index("scale small, as printed") : text.index("Claims, tested")]
    for said in ("synthetic data", "3 seeds", "6 valid records", "benchsuite unknown"):
        assert said in strip
    assert "temo/table1 at scale small, as printed (3 seeds, " in text
    assert found.index("benchsuite repro temo/table1 --scale small") < found.index('id="board-1"')


def test_heads_say_the_stand_in_which_direction_is_better_and_what_chance_reaches(measured: TableView) -> None:
    page = pages(leaderboard([measured]))[TABLE1]
    heads = [" ".join(Reading(head).text.split()) for head in re.findall(r"<th scope=.col. data-name.*?</th>", page)]
    pictures = measured.rows[0].records[0].results["retrieval"].counts["i2t"]
    assert heads[:2] == ["IR@1 ↑ chance 100.0", f"TR@1 ↑ chance {100 / pictures:.1f}"], "IR@1 is t2i_r5 here"
    assert any(head.startswith("Top-1 ↑ here: the 10 colours of scenes") for head in heads)
    assert not [head for head in heads if head.startswith("Top-3 ↑ chance")]


def test_a_figure_s_page_begins_with_it(measured: TableView) -> None:
    found = pages(leaderboard([measured]))[TABLE1]
    assert 'class="figures"' not in found
    plot = Plot(title="Loss", y=["loss"])
    shown = replace(measured, table=measured.table.model_copy(update={"plots": [plot]}))
    led = pages(leaderboard([shown]))[TABLE1]
    assert led.index('class="figures"') < led.index('id="board-1"')


def test_a_half_finished_table_shows_its_gaps_with_the_reason(measured: TableView) -> None:
    text = Reading(pages(leaderboard([measured]))[TABLE1]).text
    assert "Incomplete" in text
    assert "seed 3 failed: loss is not finite at step 7" in text
    assert "not run yet: seed 3" in text
    assert "not run yet: seed 3" not in Reading(pages(leaderboard([waiting(not_run="no code")]))[TABLE1]).text


def test_a_table_lists_every_claim_with_its_verdict_and_counts_them_on_their_number(measured: TableView) -> None:
    board = leaderboard([measured])
    found, claims = pages(board), board.claims["temo-table1-small"]
    page, reasons = Reading(found[TABLE1]), Reading(found["claims/temo-small"])
    unselected = [one for one in claims if "not selected" in one.verdict.reason]
    assert f"○ {len(unselected)} not selected" in page.text
    texts = {one.claim.said for one in claims if one.claim.locator}
    assert texts
    for text in texts:
        assert reasons.text.count(f"{text.locator}: {text.statement}") == 1
    tested = {one.claim.column.key for one in claims if one.gain is not None and not one.claim.headline}
    lines = {address for address in page.addresses if "claims/temo-small.html#claim-" in address}
    assert {address.partition("#")[2] for address in lines} == {
        anchor(one.claim) for one in claims if one.claim.headline or one.claim.column.key in tested
    }
    assert {anchor(one.claim) for one in claims} <= set(reasons.ids)
    (cell,) = [cell for cell in page.cells if "reproduced" in cell.get("marks", "")]
    assert cell["marks"].startswith("✓1")
    assert "41.2" in cell["ours"], "the verdict stands on the number of the claim's row"


def test_many_claims_are_a_matrix_in_which_each_has_its_verdict_and_gain_once(measured: TableView) -> None:
    board = leaderboard([measured])
    claims = board.claims["temo-table1-small"]
    found = matrix([(measured, claim) for claim in claims])
    assert found is not None
    for line in found.lines:
        shown = [one for cell in line for one in cell]
        assert len({(one.claim.row, one.claim.reference) for one in shown}) == 1
        for column, cell in zip(found.columns, line, strict=True):
            assert {one.claim.column.key for one in cell} <= {column.key}
    placed = [one.judged for line in found.lines for cell in line for one in cell]
    left_out = {column.key for column in found.unmeasured}
    assert sorted(map(id, placed)) == sorted(id(one) for one in claims if one.claim.column.key not in left_out)
    assert {one.claim.column.key for one in claims if one.gain is not None} == {column.key for column in found.columns}
    assert left_out == {one.claim.column.key for one in claims} - {column.key for column in found.columns}
    assert sum(width for _, width in found.groups) == len(found.columns)
    order = [row.key for row in measured.table.rows]
    pairs = [next((one.claim.row, one.claim.reference) for cell in line for one in cell) for line in found.lines]
    assert pairs == sorted(pairs, key=lambda pair: [order.index(key) for key in pair])
    assert matrix([(measured, claim) for claim in claims[:MOST_LINES]]) is None
    cells = [cell["matrix"] for cell in Reading(pages(board)[TABLE1]).cells if "matrix" in cell]
    (shown,) = [cell for cell in cells if "reproduced" in cell]
    (claim,) = [one for one in claims if one.verdict.kind == "reproduced"]
    assert shown == f"✓ {signed(claim.gain, claim.claim.column.unit)} reproduced"


def test_reasons_stand_where_there_is_no_test(measured: TableView) -> None:
    claims = leaderboard([measured]).claims["temo-table1-small"]
    said = Reading(pages(leaderboard([measured]))["claims/temo-small"]).text
    assert {one.verdict.p_adjusted is None for one in claims} == {True, False}
    for one in claims:
        assert (one.verdict.reason in said) == (one.verdict.p_adjusted is None)


def test_claims_without_a_number_of_ours_have_their_own_table(measured: TableView) -> None:
    claims = leaderboard([measured]).claims["temo-table1-small"]
    page = pages(leaderboard([measured]))["claims/temo-small"]
    tested, untested = (Reading(part) for part in page.split("Not measured</h2>"))
    assert set(untested.ids) & {anchor(one.claim) for one in claims} == {
        anchor(one.claim) for one in claims if one.gain is None
    }
    assert {anchor(one.claim) for one in claims if one.gain is not None} <= set(tested.ids)


def test_a_claim_of_the_text_leads_to_what_the_text_says(measured: TableView) -> None:
    page = Reading(pages(leaderboard([measured]))["claims/temo-small"])
    links = {address for address in page.addresses if address.startswith("#text-")}
    assert links
    assert {address[1:] for address in links} <= set(page.ids)


@pytest.mark.parametrize("floor", [0.3, None])
def test_reasons_stand_where_the_spread_over_seeds_was_not_used(make_record: MakeRecord, floor: float | None) -> None:
    view = claimed.view(make_record, claimed.table(*claimed.TWO), {"ours": claimed.HIGH, "old": claimed.LOW})
    board = leaderboard([replace(view, items=Over(floor))])
    (claim,) = board.claims["p-t-small"]
    assert claim.verdict.p_adjusted is not None
    said = Reading(pages(board)["claims/p-small"]).text
    assert ("; the sampling floor, " in said) == bool(floor)
    assert claim.verdict.reason not in said


def test_pages_say_whether_rows_differ_at_all_before_they_compare_pairs(
    make_record: MakeRecord, measured: TableView
) -> None:
    assert "differ at all? Not tested: 2 rows have values" in Reading(pages(leaderboard([measured]))[TABLE1]).text
    found = pages(leaderboard([build(make_record, VALUES)]))
    text = Reading(found["tables/p-t-small"]).text
    assert "A & B R@1: W 0.75, p 0.050; G gap: W 0.75, p 0.050." in text
    assert "Friedman's test over 3 rows and 4 seeds" in text
    assert "Probability of improvement over Best" in text
    assert re.search(r"Twin_2\s*0\.50 0\.\d\d to 0\.\d\d", text)


@pytest.mark.parametrize("better", ["higher", "lower"])
def test_our_difference_sorts_by_the_gain_that_is_shown(measured: TableView, better: str) -> None:
    columns = [column.model_copy(update={"better": better}) for column in measured.table.columns]
    view = replace(measured, table=measured.table.model_copy(update={"columns": columns}))
    page = pages(leaderboard([view]))["claims/temo-small"]
    gains = re.findall(r'<td data-order="([^"]+)">([+−])[0-9.]+ ± ', page)
    assert gains
    assert all((float(order) > 0) == (sign == "+") for order, sign in gains)


def test_the_home_page_counts_what_is_there(measured: TableView) -> None:
    text = " ".join(Reading(pages(leaderboard([measured]))["index"]).text.split())
    assert "6 runs of 2 methods under 1 setup, 3 seeds; 1 table of 1 paper" in text
    assert "(incomplete)" in text
    assert "TeMo beats InfoNCE MSCOCO IR@1 · RN50 · temo/table1" in text, "tables may make one claim on one stand-in"


def test_an_empty_results_folder_gives_a_page_that_says_what_to_run() -> None:
    empty = pages(leaderboard())
    assert list(empty) == ["index"]
    assert "benchsuite repro temo/table1 --scale smoke" in empty["index"]
    assert "Claims of papers" not in empty["index"]


def test_the_command_of_a_table_tunes_and_names_seeds_and_real_data(measured: TableView) -> None:
    plain = f"benchsuite repro temo/table1 --scale small --seeds {len({run.seed for run in measured.runs})}"
    assert command(measured) == plain
    tuned = replace(measured, request=measured.request.model_copy(update={"regime": "tuned"}))
    assert command(tuned) == plain.replace("small", "small --tune")
    stated = {"primary": {"retrieval": SmallestDifference(metric="t2i_r1", difference=0.01)}}
    printed = replace(measured, request=measured.request.model_copy(update=stated))
    assert command(printed) == plain.replace("small", "small --regime printed")
    (row, *_) = measured.rows
    setup = row.records[0].setup
    real = setup.model_copy(update={"data": setup.data.model_copy(update={"name": "cifar10"})})
    runs = [row.records[1].model_copy(update={"setup": real})]
    assert command(replace(measured, rows=[replace(row, records=runs)])) == (
        "benchsuite repro temo/table1 --scale small --data cifar10=FOLDER"
    )


def test_files_that_cannot_be_trusted_are_named_on_the_home_page() -> None:
    assert "x.json: edited" in pages(leaderboard([waiting()], problems=["x.json: edited"]))["index"]


def test_a_run_has_its_configuration_digests_curves_and_the_command_that_repeats_it(measured: TableView) -> None:
    board = leaderboard([measured])
    record = measured.rows[1].records[2]
    found = pages(board)
    text = Reading(found[run_page(record)]).text
    command = "benchsuite repro temo/table1 --scale small --rows RN50/TeMo --seed 0 --results again"
    for said in (
        command,
        record.digest[:16],
        record.ranks.sha256[:16],
        record.setup_id,
        "0.03",
        "41.0",
        "temo/table1 (small)",
    ):
        assert said in text
    assert json.dumps(record.setup.data.digest)[1:-1] in Reading(found[f"compare/{record.setup_id}"]).text


def test_the_seeds_of_a_row_share_a_page_on_which_each_has_a_place(measured: TableView) -> None:
    found = pages(leaderboard([measured]))
    for row in measured.rows:
        (name,) = {run_page(record) for record in row.records}
        page = Reading(found[name])
        assert {record.run_id for record in row.records} <= set(page.ids)
        assert f'<li>{row_name(row.key)}: <a href="../{name}.html">3 seeds</a></li>' in found[TABLE1]
    assert len({name for name in found if name.startswith("runs/")}) == len(measured.rows)


def test_a_page_of_runs_has_each_seed_s_numbers_and_their_mean(measured: TableView) -> None:
    text = " ".join(Reading(pages(leaderboard([measured]))[run_page(measured.rows[1].records[0])]).text.split())
    assert re.search(r"Metric ?Mean ?Seed 0 ?Seed 1 ?Seed 2", text)
    assert re.search(r"i2t r1, % ?41\.2 ?40\.0 ?42\.5 ?41\.0", text)


def test_a_page_of_runs_names_what_seeds_do_not_share_and_explains_its_labels(measured: TableView) -> None:
    found, record = pages(leaderboard([measured])), measured.rows[1].records[0]
    board = f"compare/{record.setup_id}"
    assert f'<a href="../{board}.html#metrics">What the metrics are</a>' in found[run_page(record)]
    assert "R@1: share of image queries with the right text among the first 1" in Reading(found[board]).text
    text = " ".join(Reading(found[run_page(record)]).text.split())
    for said in (
        "hash of the towers before step 1: equal for all methods of a seed",
        "training time",
    ):
        assert said in text


def test_a_run_that_no_table_asked_for_is_on_the_board_of_its_setup(make_record: MakeRecord) -> None:
    record = make_record(5, recipe="my-recipe")[0]
    found = pages(leaderboard(records=[record]))
    board, run = f"compare/{record.setup_id}", run_page(record)
    for said in ("no table includes them", "<dt>recipe</dt><dd>my-recipe", f'href="../{board}.html"'):
        assert said in found[run]
    home = found["index"][found["index"].index("Runs of no table") :]
    assert f'<a href="{board}.html#single-runs">my-recipe, test_vit, distilbert</a>: 1 run of InfoNCE' in home
    assert f'href="../{run}.html#{record.run_id}"' in found[board]
    assert 'id="picker"' not in found[board]


def test_runs_of_tables_are_not_listed_as_runs_of_no_table(measured: TableView) -> None:
    assert not [name for name, page in pages(leaderboard([measured])).items() if "Runs of no table" in page]


def test_a_method_shows_what_its_docstring_says_and_leads_to_its_rows(measured: TableView) -> None:
    other = replace(measured, request=measured.request.model_copy(update={"scale": "smoke"}))
    page = pages(leaderboard([measured, other]))["methods/temo"]
    text = Reading(page).text
    assert "<math" in page
    for said in ("Traps:", "tau_alpha", "image view, text view", "benchsuite.methods.temo"):
        assert said in text
    assert "temo/table1 (small, as printed): RN50 TeMo" in text
    addresses = Reading(page).addresses
    assert {f"../tables/temo-table1-{scale}.html" for scale in ("small", "smoke")} <= {*addresses}


def test_boards_too_many_for_the_home_page_are_on_the_pages_that_compare(
    measured: TableView, monkeypatch: pytest.MonkeyPatch
) -> None:
    compare = f"compare/{measured.rows[0].records[0].setup_id}"
    before = pages(leaderboard([measured]))
    monkeypatch.setattr("benchsuite.report.pages.BOARDS", 0)
    after = pages(leaderboard([measured]))
    assert 'class="data board cards"' in before["index"]
    assert 'class="data board' not in after["index"]
    assert 'class="data board cards"' in pages(leaderboard([measured]), single=True)["index"]
    assert f"{compare}.html#board" in after["index"]
    assert 'id="board"' in after[compare]


@pytest.mark.parametrize("separates", [True, False])
def test_a_board_on_which_all_are_tied_says_so(
    measured: TableView, monkeypatch: pytest.MonkeyPatch, separates: bool
) -> None:
    monkeypatch.setattr("benchsuite.analysis.boards.Board.separates", separates)
    for page in ("index", f"compare/{measured.rows[0].records[0].setup_id}"):
        assert ("No difference on this board is significant" in pages(leaderboard([measured]))[page]) is not separates


def test_what_stands_for_a_column_is_said_above_its_numbers(measured: TableView) -> None:
    text = Reading(pages(leaderboard([measured]))[TABLE1]).text
    assert text.index("CIFAR10 Top-1: the 10 colours of scenes") < text.index("21.64")


@pytest.mark.parametrize(
    ("columns", "where"),
    [
        ((), ""),
        (("coco_ir1",), "partly on stand-ins"),
        (("coco_ir1", "coco_tr1"), "on stand-ins"),
    ],
)
def test_headings_say_where_verdicts_are_of_stand_ins_and_no_published_number_is_subtracted_there(
    measured: TableView, columns: tuple[str, ...], where: str
) -> None:
    request = measured.request.model_copy(update={"stand_ins": dict.fromkeys(columns, "synthetic images")})
    found = pages(leaderboard([replace(measured, request=request)]))
    for name, heads in ((TABLE1, 3), ("claims/temo-small", 1), ("index", 3)):
        titles = [" ".join(Reading(text).text.split()) for text in re.findall(r"<h[12].*?</h[12]>", found[name])]
        claimed = [title for title in titles if "Claims" in title or "Premises" in title or "Tables" in title]
        assert all((where or "by our runs") in title for title in claimed if where or "tested" in title), titles
        assert sum("stand-ins" in title for title in titles) == (heads if where else 0), titles
    assert (f"measured {where}</span></h1>" in found[TABLE1]) is bool(where)
    assert where in re.findall("<title>.*</title>", found[TABLE1])[0]
    page = Reading(found[TABLE1])
    subtracted = [cell["diff"].strip() for cell in page.cells if cell.get("diff", "–").strip() != "–"]
    ours = [cell for row in measured.rows for cell in row.cells if cell.n and cell.column.key not in columns]
    assert len(subtracted) == len(ours)
    assert "difference, claims" in page.text, "columns that are not measured are no stand-ins"


def test_a_page_of_stand_ins_alone_does_not_speak_of_subtracting(measured: TableView) -> None:
    every = dict.fromkeys((column.key for column in measured.columns), "synthetic images")
    view = replace(measured, request=measured.request.model_copy(update={"stand_ins": every}))
    found = pages(leaderboard([view]))[TABLE1]
    assert "ours − published" not in found
    assert "difference, claims" not in found
    assert 'data-lines="published,ours,verdicts"' in found


def test_headline_claims_come_first_and_are_marked(measured: TableView) -> None:
    board = leaderboard([measured])
    found = pages(board)
    assert [claim.claim.headline for claim in board.claims["temo-table1-small"]][:4] == [True, True, True, False]
    for name in (TABLE1, "claims/temo-small"):
        assert "primary" in found[name]
    headline = []
    for part in found["claims/temo-small"].split("Not measured</h2>"):
        lines = re.findall(r'<tr id="claim-.*?(?=<tr |</tbody>)', part, re.DOTALL)
        marked = ['<span class="primary">primary</span>' in line for line in lines]
        assert marked == sorted(marked, reverse=True)
        headline += [line.partition('"')[2].partition('"')[0] for line in lines[: sum(marked)]]
    assert len(headline) == 3
    assert set(headline) == set(re.findall(r'<a href="#(claim-[^"]*)', found["claims/temo-small"])), (
        "the picture of the headline claims leads to their lines"
    )
    sizes = measured.family_sizes
    assert f"{sizes.headline} headline claims of the paper at this scale" in Reading(found[TABLE1]).text


def test_a_table_lists_its_premises_with_what_was_found(measured: TableView) -> None:
    gauge = {"gauge": "temperature_positive", "per": "temperature", "at_least": 1.05}
    more = Premise.model_validate({"statement": "Temperatures differ", "rows": ["RN50/TeMo"], **gauge})
    table = measured.table.model_copy(update={"premises": [*measured.table.premises, more]})
    text = " ".join(Reading(pages(leaderboard([replace(measured, table=table)]))[TABLE1]).text.split())
    assert "temperature_positive / temperature (last value) at least 1.05" in text
    assert "RN50/TeMo: 2" in text
    assert "InfoNCE on ViT-B/16 retrieves above chance and below the ceiling" in text
    assert "ViT-B/16/InfoNCE was not selected" in text


def test_a_method_whose_plugin_is_not_loaded_still_has_its_page(make_record: MakeRecord) -> None:
    part = make_record()[0].method.model_copy(update={"name": "mine", "title": "Mine"})
    text = Reading(pages(leaderboard(records=[make_record(method=part)[0]]))["methods/mine"]).text
    assert "Mine" in text
    assert "its plugin is not loaded" in text


def test_a_plugins_values_are_not_called_a_papers(measured: TableView) -> None:
    board = leaderboard([measured])
    method = board.methods["temo"]
    assert method.card is not None
    about = {**method.card.about, "paper": "me2026", "citation": "Me <et al.>,\nMine, 2026"}
    mine = replace(method, card=replace(method.card, owner="/somewhere/mine.py", about=about))
    vars(board)["methods"] = {**board.methods, "temo": mine}
    text = Reading(pages(board)["methods/temo"]).text
    assert "Defaults are those of the method's author." in text
    assert "Me <et al.>,\nMine, 2026" in text
    assert "float, above 0, finite, a temperature" in text
    assert "Defaults are those of the paper." in pages(board)["methods/infonce"]


@pytest.mark.parametrize("added", [True, False])
def test_only_rows_of_the_paper_are_said_to_have_its_hyperparameters(added: bool) -> None:
    label = "Mine" if added else "InfoNCE"
    text = Reading(pages(leaderboard([waiting(label=label)]))[TABLE1]).text
    assert ("added ones (Mine) those of their methods" in text) == added
    assert ("Rows use the paper's hyper-parameters" in text) != added


def test_the_file_of_a_plugin_is_named_without_its_folder(measured: TableView) -> None:
    board = leaderboard([measured])
    card = board.methods["temo"].card
    assert card is not None
    mine = replace(board.methods["temo"], card=replace(card, owner="/home/someone/secret/mine.py"))
    assert mine.owner == "mine.py"


def test_rows_of_one_setup_can_be_compared_seed_by_seed(measured: TableView) -> None:
    name = f"compare/{measured.rows[0].records[0].setup_id}"
    page = Reading(pages(leaderboard([measured]))[name])
    (line,) = [cell for cell in page.cells if "seeds" in cell]
    assert line["seeds"] == "0.0, 0.0, 0.0", "r_mean, of which all runs have the same"
    assert "By seed (0, 1, 2)" in page.text


def test_stale_rows_and_runs_are_named(measured: TableView) -> None:
    found = pages(leaderboard([measured]))
    assert "stale: measured with version 2 of temo, which is at 1" in Reading(found[TABLE1]).text
    assert "measured with version 2 of temo" in found[run_page(measured.rows[1].records[0])]


@pytest.mark.parametrize("room", [True, False])
@pytest.mark.parametrize("single", [False, True])
def test_hostile_text_shows_as_text_wherever_it_comes_in(
    make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch, single: bool, room: bool
) -> None:
    if not room:
        monkeypatch.setattr("benchsuite.report.pages.BOARDS", 0)
    first = make_record()[0]
    names = {"name": HOSTILE, "title": HOSTILE, "owner": HOSTILE, "hyperparameters": {HOSTILE: HOSTILE}}
    told = {
        "method": first.method.model_copy(update=names),
        "environment": {HOSTILE: HOSTILE, "packages": {HOSTILE: HOSTILE}},
        "digests": {**first.digests, HOSTILE: HOSTILE},
        "curves": {"step": [0, 1], HOSTILE: [1.0, 0.5]},
        "cost": {"seconds": 1.5, HOSTILE: 2.5},
    }
    records = {one.run_id: one for one in (make_record(**told)[0], make_record(seed=1, **told)[0], first)}
    parts = {"": RequestedRuns(setup_id=first.setup_id, method_id="", runs=dict(enumerate(records)))}
    row = RequestedRow(label=HOSTILE, backbone=HOSTILE, variant=HOSTILE, method=HOSTILE, parts=parts, not_run=HOSTILE)
    words = dict.fromkeys(("description", "recipe", "track"), HOSTILE)
    maps = {name: {HOSTILE: HOSTILE} for name in ("tuned", "backbones", "variants")}
    request = make_request(
        row, **words, **maps, assumptions=[HOSTILE], stand_ins={"coco_ir1": HOSTILE}, missing={"coco_tr1": HOSTILE}
    )
    view = build_table(read_table("temo/table1"), request, records, {})
    board = leaderboard([view], records.values(), problems=[HOSTILE])
    for name, text in pages(board, single).items():
        page = Reading(text)
        assert set(page.tags) & {"img", "iframe", "object"} == set(), name
        assert all(re.match(r"(\.\./)*static/", src) for src in page.addresses if src.endswith(".js")), name
        assert text.count("<script") == (0 if single else 2) + ("compare-data" in text), name
        assert not [one for one in page.addresses if one.lower().startswith(("javascript:", "http", "//"))], name
        assert "62615533" not in page.text, name
    assert HOSTILE in Reading(pages(board, single)[TABLE1]).text


@pytest.mark.parametrize("single", [False, True])
def test_no_two_places_of_a_page_or_of_the_one_file_have_the_same_id(measured: TableView, single: bool) -> None:
    found = [Reading(text).ids for text in pages(leaderboard([measured]), single).values()]
    for ids in [[one for page in found for one in page]] if single else found:
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(("better", "shown"), [("higher", "−1.2 to +34.7"), ("lower", "−34.7 to +1.2")])
def test_claims_have_their_interval_over_test_items_beside_that_over_seeds(
    make_record: MakeRecord, better: str, shown: str
) -> None:
    table = claimed.table(*claimed.TWO, column={"better": better})
    view = claimed.view(make_record, table, {"ours": claimed.HIGH, "old": claimed.LOW})
    for items, said in ((Over(), shown), (None, "–")):
        page = Reading(pages(leaderboard([replace(view, items=items)]))["claims/p-small"])
        assert "95% CI over test items" in page.text
        assert said in page.text
        assert (shown in page.text) == (said == shown)


def test_regions_of_a_page_have_names_of_their_own(measured: TableView, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchsuite.report.claim_lines.MOST_LINES", 0)
    rows = [replace(row, label="Mine") if row.label == "TeMo" else row for row in measured.rows]
    for name, page in pages(leaderboard([replace(measured, rows=rows)])).items():
        regions = re.findall(r'role="region" aria-label="([^"]*)"', page)
        assert len(regions) == len(set(regions)), name
        assert ("Added rows" in regions) == (name == TABLE1)
