import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from small_figures import HOSTILE
from support.views import found, view_of

from benchsuite.analysis.table_view import TableView
from benchsuite.papers import Table
from benchsuite.records.schema import Record, Result
from benchsuite.report.figures.from_table import table_figures
from benchsuite.report.figures.inline_svg import svg
from benchsuite.report.figures.model import Figure, Trace
from benchsuite.setup import Protocol

MakeRecord = Callable[..., tuple[Record, bytes]]
COLUMNS: list[dict[str, Any]] = [
    {"key": "gap", "group": "Modality gap", "label": "Gap", "measure": "geometry.gap", "unit": "number"},
    {"key": "positive", "group": "Pairs", "label": "Positive", "measure": "geometry.positive_mean", "unit": "number"},
    {"key": "r1", "group": "Retrieval", "label": "R@1", "measure": "retrieval.i2t_r1"},
]  # fmt: skip
CURVES: dict[str, list[float | None]] = {
    "step": [0, 1, 9], "loss": [3.0, None, 1.0], "temperature": [0.1, 0.2, 0.3],
    "temperature_positive": [0.2, 0.3, 0.4], "gap": [0.9, 0.8, 0.7], "retrieval.i2t_r1": [None, 0.1, 0.2],
}  # fmt: skip
GEOMETRY = {"gap": 0.7, "positive_mean": 0.4, "negative_mean": 0.1}


@pytest.fixture
def make_view(make_record: MakeRecord) -> Callable[..., TableView]:
    """A table with these plots and rows, so many seeds a row."""

    def make(
        plots: Sequence[Mapping[str, Any]] = (),
        rows: Sequence[str] = ("One", "Two"),
        seeds: int = 2,
        curves: Mapping[str, Any] = CURVES,
        geometry: Mapping[str, float] = GEOMETRY,
        backbones: Sequence[str] = ("B",),
    ) -> TableView:
        base = make_record()[0]
        protocols = {**base.setup.protocols, "geometry": Protocol(task="geometry", version=1)}
        setup = base.setup.model_copy(update={"protocols": protocols})
        measured = Result(task="geometry", version=1, metrics={}, counts={"pairs": 4}, measures=dict(geometry))
        measured_rows, table_rows = [], []
        for number, (backbone, label) in enumerate((backbone, label) for backbone in backbones for label in rows):
            runs = {}
            for seed in range(seeds):
                values = {**measured.measures, "gap": geometry["gap"] + number / 10 + seed / 100}
                results = {**base.results, "geometry": measured.model_copy(update={"measures": values})}
                runs[seed] = make_record(seed, setup=setup, results=results, curves=dict(curves))[0]
            row = {"label": label, "backbone": backbone, "method": "infonce"}
            measured_rows.append(runs)
            table_rows.append({**row, "published": {"gap": 0.3} if number == 0 else {}})
        table = Table.model_validate(
            {"file_format": 1, "paper": "p", "table": "t", "locator": "", "title": "", "recipes": {"small": "r"},
             "columns": COLUMNS, "rows": table_rows, "plots": plots}
        )  # fmt: skip
        return view_of(table, [found(*one) for one in zip(table.rows, measured_rows, strict=True)])

    return make


def figures(view: TableView) -> list[Figure]:
    return table_figures(view)


def traces(figure: Figure, part: str) -> list[Trace]:
    return [one for one in figure.series if one.part == part]


def test_curves_have_those_of_the_seeds_and_their_mean(make_view: Callable[..., TableView]) -> None:
    figure = figures(make_view([{"title": "Loss over time", "y": ["loss"]}]))[0]
    assert (figure.kind, figure.title, figure.x.name, figure.y.name) == (
        "curves",
        "Loss over time",
        "Training step",
        "Loss",
    )
    assert [(one.label, one.seeds) for one in traces(figure, "seed")] == [
        ("One", [0]), ("One", [1]), ("Two", [0]), ("Two", [1]),
    ]  # fmt: skip
    assert [one.label for one in traces(figure, "mean")] == ["One", "Two"]
    assert traces(figure, "mean")[0].y == pytest.approx([3.0, float("nan"), 1.0], nan_ok=True)
    assert "Lines: the mean; shaded: from the lowest to the highest seed (2 seeds)." in figure.caption


def test_one_seed_is_its_line_alone(make_view: Callable[..., TableView]) -> None:
    figure = figures(make_view([{"title": "P", "y": ["loss"]}], seeds=1))[0]
    assert [one.part for one in figure.series] == ["mean", "mean"]
    assert "One seed." in figure.caption


def test_temperatures_share_a_figure_and_other_quantities_do_not(make_view: Callable[..., TableView]) -> None:
    plot = {"title": "P", "y": ["temperature", "gap", "temperature_positive"]}
    first, second, *_ = figures(make_view([plot]))
    assert (first.title, second.title) == ("P: Temperature", "P: Gap")
    assert [one.label for one in traces(first, "mean")] == [
        "One, temperature", "One, temperature positive", "Two, temperature", "Two, temperature positive",
    ]  # fmt: skip
    assert [one.label for one in traces(second, "mean")] == ["One", "Two"]


def test_too_many_lines_for_one_figure_are_a_figure_a_curve(make_view: Callable[..., TableView]) -> None:
    plot = {"title": "P", "y": ["temperature", "temperature_positive"]}
    found = figures(make_view([plot], rows=["A", "B", "C", "D", "E"]))
    assert [one.title for one in found[:2]] == ["P: Temperature", "P: Temperature positive"]
    assert {one.slug for one in found[:2]} == {"p-temperature", "p-temperature-positive"}


def test_what_is_evaluated_on_the_way_is_in_percent(make_view: Callable[..., TableView]) -> None:
    figure = figures(make_view([{"title": "P", "y": ["retrieval.i2t_r1"]}]))[0]
    assert figure.y.percent
    assert list(traces(figure, "mean")[0].x) == [2, 10]
    assert "training batches" not in figure.caption


def test_scales_of_x_are_kept(make_view: Callable[..., TableView]) -> None:
    plots = [{"title": scale, "y": ["loss"], "x_scale": scale} for scale in ("log", "minus-inverse-log-squared")]
    log, inverse, *_ = figures(make_view(plots))
    assert log.x.log
    assert inverse.x.name == "−1 / log² of the training step"
    assert inverse.series[0].x == pytest.approx([-1 / math.log(2) ** 2, -1 / math.log(10) ** 2])


def test_one_column_against_another_is_a_figure_a_column(make_view: Callable[..., TableView]) -> None:
    figure = figures(make_view([{"title": "P", "x": "gap", "y": ["r1"]}]))[0]
    assert (figure.kind, figure.x.name, figure.y.name) == ("points", "Modality gap", "Retrieval, R@1")
    assert (figure.x.percent, figure.y.percent) == (False, True)
    seeds, mean = figure.series[:2]
    assert seeds.seeds == [0, 1]
    assert seeds.x == pytest.approx([0.7, 0.71])
    assert mean.x == pytest.approx([0.705])


def test_the_paper_s_points_stand_beside_ours(make_view: Callable[..., TableView]) -> None:
    view = make_view([{"title": "P", "x": "gap", "y": ["gap"]}])
    drawn = figures(view)[0]
    published = [trace for trace in drawn.series if trace.part == "published"]
    assert [(one.label, one.x, one.y) for one in published] == [("One", [0.3], [0.3])], "of rows that have a number"
    assert published[0].style == next(trace.style for trace in drawn.series if trace.label == "One")
    assert "Large hollow marks: published" in drawn.caption
    bare = figures(make_view([{"title": "P", "x": "gap", "y": ["r1"]}]))[0]
    assert "published" not in bare.caption
    assert not [trace for trace in bare.series if trace.part == "published"], "only where both numbers are published"


def test_rows_of_several_backbones_say_which(make_view: Callable[..., TableView]) -> None:
    figure = figures(make_view([{"title": "P", "y": ["loss"]}], rows=["One"], backbones=["RN50", "ViT"]))[0]
    assert [one.label for one in traces(figure, "mean")] == ["RN50: One", "ViT: One"]


@pytest.mark.parametrize("curves", [{"step": [0], "lr": [1.0]}, {"step": [0, 1], "loss": [None, None]}])
def test_what_has_no_values_is_no_figure(make_view: Callable[..., TableView], curves: Mapping[str, Any]) -> None:
    found = figures(make_view([{"title": "P", "y": ["loss"]}], curves=curves))
    assert found == []


def test_a_table_without_runs_has_no_figures(make_view: Callable[..., TableView]) -> None:
    plots = [{"title": "P", "y": ["loss"]}, {"title": "P", "x": "gap", "y": ["r1"]}]
    assert figures(make_view(plots, seeds=0)) == []


def test_ids_are_unique_and_text_is_harmless_on_a_page(make_view: Callable[..., TableView]) -> None:
    plots = [
        {"title": HOSTILE, "y": ["loss"]},
        {"title": HOSTILE, "y": ["gap"]},
        {"title": HOSTILE, "x": "gap", "y": ["r1"]},
    ]
    found = figures(make_view(plots, rows=[HOSTILE, f"{HOSTILE}2"]))
    page = "".join(map(svg, found))
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]+", name) for name in ids)
    assert len({one.slug for one in found}) == len(found)
    assert "<script" not in page
