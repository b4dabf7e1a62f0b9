import pytest

from benchsuite.report.figures import CostPoint, cost_figure, svg


def point(label: str, cost: float, quality: float = 0.5, on_front: bool = True, low: float | None = 0.4) -> CostPoint:
    return CostPoint(label, cost, quality, low, None if low is None else 0.6, on_front)


def test_points_keep_their_cost_quality_and_bounds() -> None:
    (figure,) = cost_figure([point("A", 1.0), point("B", 2.0, on_front=False, low=None)], "R@1", "setup")
    assert [(one.label, one.part, one.x, one.y, one.low, one.high) for one in figure.series] == [
        ("A", "front", [1.0], [0.5], [0.4], [0.6]), ("B", "mean", [2.0], [0.5], [], []),
    ]  # fmt: skip
    assert "higher is better" in figure.caption
    assert "Upright lines are intervals" in figure.caption


def test_one_point_is_no_figure() -> None:
    assert cost_figure([point("A", 1.0)], "R@1", "setup") == []
    assert cost_figure([], "R@1", "setup") == []


@pytest.mark.parametrize(("dearest", "log"), [(8.0, False), (8.5, True)])
def test_the_axis_is_logarithmic_where_costs_lie_far_apart(dearest: float, log: bool) -> None:
    (figure,) = cost_figure([point("A", 1.0), point("B", dearest)], "R@1", "setup")
    assert figure.x.log == log
    assert svg(figure)


def test_what_costs_nothing_can_be_drawn() -> None:
    (figure,) = cost_figure([point("A", 0.0), point("B", 100.0)], "R@1", "setup")
    assert not figure.x.log
    assert svg(figure)


def test_a_quality_that_shall_be_low_says_so() -> None:
    (figure,) = cost_figure([point("A", 1.0), point("B", 2.0)], "Gap", "s", percent=False, lower_is_better=True)
    assert "lower is better" in figure.caption
    assert not figure.y.percent


def test_no_point_on_the_front_is_no_line() -> None:
    (figure,) = cost_figure([point("A", 1.0, on_front=False), point("B", 2.0, on_front=False)], "Gap", "s")
    assert "On the Pareto front" not in figure.alt
    assert svg(figure)
