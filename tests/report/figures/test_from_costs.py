from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.report.figures import Axis, Figure, cost_figures, svg
from benchsuite.report.figures.description import alt
from benchsuite.report.figures.from_costs import CostPoint, cost_figure, cost_numbers

QUALITY = Axis("R@1", percent=True)


def figure(*costs: float, quality: float = 0.5, **options: Any) -> Figure:
    """Of points that get better by .1 from one to the next."""
    points = [CostPoint(row, f"Row {row}", cost, quality + row / 10, 0.4, 0.6) for row, cost in enumerate(costs)]
    return cost_figure(points, Axis("Cost"), QUALITY, "setup", **options)


def test_points_keep_their_cost_quality_and_bounds() -> None:
    points = [CostPoint(0, "A", 1.0, 0.5, 0.4, 0.6), CostPoint(3, "B", 2.0, 0.5)]
    shown = cost_figure(points, Axis("Cost"), QUALITY, "setup")
    assert [(trace.label, trace.part, trace.x, trace.y, trace.low, trace.high) for trace in shown.series] == [
        ("A", "front", [1.0], [0.5], [0.4], [0.6]), ("B", "mean", [2.0], [0.5], [], []),
    ]  # fmt: skip
    assert [trace.style for trace in shown.series] == [0, 3]
    assert "higher is better" in shown.caption
    assert "intervals of the quality" in shown.caption


@pytest.mark.parametrize(("dearest", "log"), [(8.0, False), (8.5, True)])
def test_the_axis_is_logarithmic_where_costs_lie_far_apart(dearest: float, log: bool) -> None:
    assert figure(1.0, dearest).x.log == log
    assert svg(figure(1.0, dearest))


def test_what_costs_nothing_can_be_drawn() -> None:
    assert not figure(0.0, 100.0).x.log
    assert svg(figure(0.0, 100.0))


def test_where_low_is_better_the_lowest_are_on_the_front() -> None:
    shown = figure(1.0, 2.0, lower_is_better=True)
    assert "lower is better" in shown.caption
    assert [trace.part for trace in shown.series] == ["front", "mean"]
    assert "On the Pareto front, from the cheapest: Row 0 50.0% at 1." in alt(shown)


def board(*rows: tuple[str, dict[str, float]], tasks: str = "AB") -> Any:
    """Rows by their label, with a number on each of some tasks."""

    def row(label: str, means: dict[str, float]) -> Any:
        def cell(task: Any) -> Any:
            return SimpleNamespace(mean=means.get(task.title), low=None, high=None)

        return SimpleNamespace(label=label, cell=cell)

    better = {"A": "higher", "B": "lower", "C": "neither"}
    columns = [SimpleNamespace(title=t, protocol="p", metric="m", unit="percent", better=better[t]) for t in tasks]
    return SimpleNamespace(setup_id="s", tasks=columns, rows=[row(*values) for values in rows])


@pytest.fixture(autouse=True)
def _first_row_is_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    first = "benchsuite.report.figures.from_costs.reference"
    monkeypatch.setattr(first, lambda board: board.rows[0] if board.rows else None)


def costs(**by_label: float | None) -> Any:
    return {label: SimpleNamespace(median=cost) for label, cost in by_label.items()}


def test_rows_have_one_number_in_all_figures_of_a_board() -> None:
    rows = board(("X", {"A": 0.1, "B": 0.1}), ("Y", {"A": 0.2}), ("Z", {"A": 0.3, "B": 0.2}), tasks="ABC")
    first, second = cost_figures(rows, rows.tasks, costs(X=1.0, Y=2.0, Z=3.0), cost_numbers([rows]))
    assert {trace.label: trace.style + 1 for trace in first.series} == {"X": 1, "Y": 2, "Z": 3}
    assert {trace.label: trace.style + 1 for trace in second.series} == {"X": 1, "Z": 3}
    assert (first.x.name, first.y.name) == ("Cost, as a multiple of X's", "A (p, m)")


def test_a_row_keeps_its_number_from_board_to_board() -> None:
    """Whatever else stands there, and in whatever order."""
    boards = [board(*((label, {"A": 0.1}) for label in labels)) for labels in (("X", "Y", "Z"), ("Z", "W", "X"))]
    numbers = cost_numbers(boards)
    known = dict.fromkeys(numbers, 1.0)
    first, second = (
        {trace.label: trace.style for trace in cost_figures(one, one.tasks, costs(**known), numbers)[0].series}
        for one in boards
    )
    assert first.keys() & second.keys() == {"X", "Z"}
    assert all(first[label] == second[label] for label in ("X", "Z"))
    assert len({*first.values(), *second.values()}) == 4


def test_fewer_than_two_rows_with_a_cost_are_no_figure() -> None:
    rows = board(("X", {"A": 0.1}), ("Y", {"A": 0.2}))
    assert cost_figures(rows, rows.tasks, costs(X=1.0, Y=None), cost_numbers([rows])) == []
    assert cost_figures(board(), board().tasks, {}, {}) == []
