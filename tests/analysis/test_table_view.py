import statistics
from dataclasses import replace
from typing import Any

import pytest
from scipy import stats
from support.made_records import MakeRecord
from support.views import added, found, view_of

from benchsuite.analysis.building import FoundRow
from benchsuite.analysis.table_view import Setting, TableView
from benchsuite.papers import Table
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import Record

TABLE = Table.model_validate(
    {
        "file_format": 1, "paper": "p", "table": "t", "locator": "Table 1", "title": "T", "recipes": {"small": "r"},
        "columns": [
            {"key": "a", "group": "G", "label": "IR@5", "measure": {"scenes": "retrieval.t2i_r5"}},
            {"key": "b", "group": "H", "label": "TR@1", "measure": {"scenes": "retrieval.i2t_r1"}},
        ],
        "rows": [
            {"label": "First", "backbone": "RN50", "method": "infonce", "published": {"a": 12.5, "b": 40}},
            {"label": "Second", "backbone": "RN50", "not_run": "no code", "published": {"a": 20}},
        ],
    }
)  # fmt: skip


def record(make: MakeRecord, seed: int, i2t_r1: float, **changes: Any) -> Record:
    base = make(seed)[0]
    metrics = {**base.results["retrieval"].metrics, "i2t_r1": i2t_r1}
    results = {"retrieval": base.results["retrieval"].model_copy(update={"metrics": metrics})}
    return make(seed, results=results, **changes)[0]


MEASURES = {"a": "retrieval.t2i_r5", "b": "retrieval.i2t_r1"}


def row(label: str, records: list[Record], gap: str = "", requested: int | None = None) -> FoundRow:
    own = next((one for one in TABLE.rows if one.label == label), added(label))
    return found(own, {r.seed: r for r in records}, gap, requested)


def view(rows: list[FoundRow], measures: dict[str, str] = MEASURES) -> TableView:
    return view_of(TABLE, rows, measures)


def test_a_cell_holds_the_published_fraction_and_ours_by_seed(make_record: MakeRecord) -> None:
    runs = [record(make_record, seed, value) for seed, value in enumerate((0.1, 0.2, 0.4))]
    first, second = view([row("First", runs)]).rows[0].cells
    assert (first.published, second.published) == (0.125, 0.4)
    assert second.values == {0: 0.1, 1: 0.2, 2: 0.4}
    assert second.mean == pytest.approx(statistics.fmean([0.1, 0.2, 0.4]))
    assert second.sd == pytest.approx(statistics.stdev([0.1, 0.2, 0.4]))


def test_the_interval_of_a_mean_is_students_t(make_record: MakeRecord) -> None:
    values = (0.1, 0.2, 0.4)
    runs = [record(make_record, seed, value) for seed, value in enumerate(values)]
    cell = view([row("First", runs)]).rows[0].cells[1]
    low, high = stats.t.interval(0.95, 2, statistics.fmean(values), stats.sem(values))
    assert (cell.low, cell.high) == (pytest.approx(low), pytest.approx(high))
    assert cell.half == pytest.approx((high - low) / 2)


def test_a_mean_of_columns_is_taken_in_each_seed_that_has_them_all(make_record: MakeRecord) -> None:
    runs = [record(make_record, seed, value) for seed, value in enumerate((0.1, 0.2, 0.4))]
    whole = runs[2].results["retrieval"]
    metrics = {name: value for name, value in whole.metrics.items() if name != "t2i_r5"}
    runs[2] = runs[2].model_copy(update={"results": {"retrieval": whole.model_copy(update={"metrics": metrics})}})
    average = {"key": "m", "group": "", "label": "Mean", "measure": "none.m", "mean_of": ["a", "b"]}
    table = TABLE.model_copy(update={"columns": [*TABLE.columns, TABLE.columns[0].model_validate(average)]})
    built = view_of(table, [row("First", runs)], {**MEASURES, "m": "mean of them"}, means={"m": ["a", "b"]})
    first, second, mean = built.rows[0].cells
    assert {*first.values} == {0, 1} < {*second.values}
    assert mean.values == {seed: pytest.approx((first.values[seed] + second.values[seed]) / 2) for seed in (0, 1)}
    assert not any(cell.values for cell in built.rows[0].without_runs("not asked for").cells)


def test_rows_stand_as_printed_and_others_after(make_record: MakeRecord) -> None:
    runs = [record(make_record, 0, 0.1)]
    labels = ["Mine", "Second", "First"]
    built = view([row(label, runs) for label in labels])
    assert [one.label for one in built.rows] == ["First", "Second", "Mine"]
    assert built.rows[2].note == "Not in the paper's table."


def test_a_table_with_missing_runs_is_not_complete(make_record: MakeRecord) -> None:
    runs = [record(make_record, 0, 0.1)]
    built = view([row("First", runs, "not run yet: seed 1", 2), row("Second", [], "no code")])
    assert [one.gap for one in built.rows] == ["not run yet: seed 1", "no code"]
    assert not built.complete
    assert view([row("First", runs)]).complete


PARTS = Table.model_validate(
    {
        **TABLE.model_dump(exclude={"columns", "rows"}),
        "parts": {"ten": {"variant": "ten"}, "hundred": {"variant": "hundred"}},
        "columns": [
            {"key": "a", "group": "10", "label": "R@1", "measure": "recall.i2t_r1", "part": "ten"},
            {"key": "b", "group": "100", "label": "R@1", "measure": "recall.i2t_r1", "part": "hundred"},
            {
                "key": "c",
                "group": "100",
                "label": "gap",
                "measure": "geometry.gap",
                "unit": "number",
                "part": "hundred",
            },
        ],
        "rows": [{"label": "First", "backbone": "RN50", "variant": "V", "method": "infonce", "published": {"c": 0.3}}],
    }
)


def parted(records: dict[str, list[Record]]) -> TableView:
    runs = {part: {r.seed: r for r in some} for part, some in records.items()}
    measures = {"a": "retrieval.i2t_r1", "b": "retrieval.i2t_r1"}
    return view_of(PARTS, [found(PARTS.rows[0], runs)], measures, missing={"c": "no geometry here"})


def test_columns_of_different_parts_come_from_different_runs(make_record: MakeRecord) -> None:
    one = parted({"ten": [record(make_record, 0, 0.1)], "hundred": [record(make_record, 1, 0.2)]}).rows[0]
    assert [cell.values for cell in one.cells] == [{0: 0.1}, {1: 0.2}, {}]
    assert (one.shown, one.requested, one.measured) == ("First · V", 2, 2)


def test_what_a_scale_has_nothing_for_is_told_by_column(make_record: MakeRecord) -> None:
    view = parted({"ten": [record(make_record, 0, 0.1)]})
    assert view.missing == {"100 gap": "no geometry here"}
    assert view.rows[0].cells[2].published == 0.3


def test_parts_are_kept_apart_by_their_own_runs(make_record: MakeRecord) -> None:
    """In one part the rows met other batches; in the other they did not, and are ranked."""

    def runs(value: float, **changes: Any) -> dict[int, Record]:
        return {seed: record(make_record, seed, value * (1 + seed / 50), **changes) for seed in range(3)}

    other = {"digests": {**make_record()[0].digests, "batches": "another"}}
    stored = {
        "High": {"ten": runs(0.4, **other), "hundred": runs(0.4)},
        "Low": {"ten": runs(0.1), "hundred": runs(0.1)},
    }
    measures = {"a": "retrieval.i2t_r1", "b": "retrieval.i2t_r1"}
    built = view_of(PARTS, [found(added(label), parts) for label, parts in stored.items()], measures)
    best = [built.is_best(built.rows[0], cell) for cell in built.rows[0].cells]
    assert (built.rows[0].label, best) == ("High", [False, True, False])


def test_runs_with_other_numbers_of_threads_are_counted_apart(make_record: MakeRecord) -> None:
    first, second = ([record(make_record, seed, 0.1) for seed in range(start, start + 4)] for start in (0, 4))
    assert len(view([row("First", first), row("Mine", second)]).origins) == 1
    second[-1] = second[-1].model_copy(update={"environment": {**second[-1].environment, "threads": 7}})
    several, one = view([row("First", first), row("Mine", second)]).origins
    assert several.startswith("7 runs: ")
    assert one.startswith("1 run: ")
    assert "7 threads" in one


def test_a_run_that_two_parts_share_is_one(make_record: MakeRecord) -> None:
    runs = {seed: record(make_record, seed, 0.1) for seed in (0, 1)}
    shared = found(TABLE.rows[0], {"": runs, "again": runs})
    (one, *_) = (whole := view([shared])).rows
    assert (one.measured, one.requested, one.seeds) == (2, 2, 2)
    assert len(whole.runs) == 2
    assert [origin.partition(":")[0] for origin in whole.origins] == ["2 runs"]
    assert len(view([shared, row("Again", [*runs.values()])]).runs) == 2


@pytest.mark.parametrize(
    ("models", "shown"),
    [
        (["transformers:given"], "transformers:given"),
        (["transformers:clip-vit-base-patch32"], "CLIP ViT-B/32 of OpenAI from the hub"),
        (["timm:vit"], "CLIP ViT-B/32 of OpenAI from the hub"),
        ([""], "CLIP ViT-B/32 of OpenAI from the hub"),
    ],
)
def test_a_backbone_is_called_by_the_model_that_was_trained_in_its_place(models: list[str], shown: str) -> None:
    """Not where it is the recipe's own in a folder, nor one that stands for no model of images and texts."""
    own = TABLE.model_copy(update={"rows": [added("Mine", "pretrained")]})
    made = view_of(own, [])
    here = replace(made, setting=Setting("finetune-tiny", read_recipe("finetune-tiny"), models={"pretrained": models}))
    assert here.tower("pretrained") == shown
    assert here.tower_here("pretrained") == f"{shown}: its last two blocks are trained"
