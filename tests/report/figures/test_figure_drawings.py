"""What the drawings show, looked at as matplotlib's own artists."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex
from matplotlib.lines import Line2D
from sketches import GAP, costs, curves, forest, histogram, line, points, rows, sensitivity, texts, tree, tuning

from benchsuite.report.figures import Axis, Figure, Trace, lines
from benchsuite.report.figures.cost import named_numbers
from benchsuite.report.figures.draw import draw, settings
from benchsuite.report.figures.style import HUES, INK, PANEL_WIDTH, PAPER, QUIET, WIDTH

Make = Callable[..., Figure]


def axes_of(figure: Figure) -> Axes:
    """The axes as they are once drawn."""
    drawing = draw(figure)
    with settings():
        drawing.draw_without_rendering()
    return drawing.axes[0]


def lines_of(figure: Figure) -> list[Line2D]:
    return list(axes_of(figure).lines)


def bold(figure: Figure) -> list[Line2D]:
    return [shown for shown in lines_of(figure) if shown.get_linewidth() > 2]


def test_nothing_but_rules_is_drawn_outside_of_the_drawing(every_kind: Make) -> None:
    drawing = draw(every_kind(label="A long label, as ablations have them: all, without the one thing or the other"))
    with settings():
        box = drawing.get_tightbbox()
    width, height = drawing.get_size_inches()
    widths = {tuning: PANEL_WIDTH, sensitivity: PANEL_WIDTH, forest: lines.WIDTH}
    assert width == pytest.approx(widths.get(every_kind, WIDTH) / 72)
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height


def test_lines_have_gaps_where_there_is_no_value_and_dots_between_gaps() -> None:
    whole, broken = bold(curves())[1], bold(curves())[0]
    assert np.isfinite(whole.get_ydata()).all()
    assert np.isnan(broken.get_ydata()).tolist() == [False, True, False, False]
    assert 0 in broken.get_markevery()
    thin = lines_of(line([1, 2, 3], [1.0, GAP, 2.0], part="seed"))[0]
    assert thin.get_markevery() == [0, 2]


def test_seeds_are_thin_lines_of_their_mean_s_colour() -> None:
    first, second, mean, _ = lines_of(curves())
    assert (first.get_color(), mean.get_color()) == (HUES[0], HUES[0])
    assert second.get_color() == HUES[1]
    assert first.get_linewidth() < 1 < mean.get_linewidth()


def test_lines_differ_in_hue_in_dash_and_in_mark() -> None:
    shown = bold(curves(9))
    for look in ("color", "marker", "linestyle"):
        values = {str(shown[k].properties()[look]) for k in range(8)}
        assert len(values) == 8 or look == "linestyle"
    assert len({str(shown[k]._dash_pattern) for k in range(8)}) == 8  # type: ignore[attr-defined]
    assert shown[0].get_markerfacecolor() == HUES[0]
    assert (shown[8].get_color(), shown[8].get_markerfacecolor()) == (HUES[0], PAPER)


def test_more_lines_than_styles_are_numbered() -> None:
    assert {"1 Row 0", "1", "9 Row 8", "9"} <= set(texts(tree(curves(9))))
    assert "1 Row 0" not in texts(tree(curves(8)))
    assert {"12 Row 11", "12"} <= set(texts(tree(points(12))))


def test_numbers_of_neighbours_stand_at_different_places() -> None:
    for figure in (points(12), curves(12)):
        numbers = axes_of(figure).texts
        boxes = [number.get_window_extent() for number in numbers]
        assert len(numbers) == 12
        assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


def test_costs_have_the_number_of_their_row_beside_them_and_the_page_names_it() -> None:
    assert {"1", "2", "3"} <= set(texts(tree(costs())))
    assert named_numbers([costs(), costs()]) == {1: "Row 0", 2: "Row 1", 3: "Row 2"}


def test_percent_axes_count_in_percent() -> None:
    shown = set(texts(tree(points())))
    assert {"R@1", "Gap", "20%", "30%"} <= shown


def test_a_logarithmic_axis_has_ticks_at_powers() -> None:
    shown = axes_of(line([1, 10, 1000], [1.0, 2.0, 3.0], Axis("Step", log=True)))
    assert shown.get_xscale() == "log"
    assert {"1", "10", "100", "1000"} <= {tick.get_text() for tick in shown.get_xticklabels()}
    near = axes_of(line([1, 2, 9], [1.0, 2.0, 3.0], Axis("Cost", log=True)))
    assert {"1", "2", "5"} <= {tick.get_text() for tick in near.get_xticklabels()}


@pytest.mark.parametrize("steps", [[1], [1, 2], [1, 3]])
def test_ticks_of_steps_are_whole(steps: list[float]) -> None:
    shown = texts(tree(line(steps, [10.0] * len(steps))))
    assert {f"{step:g}" for step in steps} <= set(shown)
    assert not [text for text in shown if text.startswith("1.") or text.endswith("m")]


@pytest.mark.parametrize("value", [0.0, 0.05, -3.0, 1e-12, 1e12])
def test_a_constant_is_a_line_in_the_middle(value: float) -> None:
    shown = axes_of(line([1, 2], [value, value * (1 + 1e-12)]))
    low, high = shown.get_ylim()
    places = (np.asarray(shown.lines[0].get_ydata()) - low) / (high - low)
    assert places == pytest.approx([0.5, 0.5], abs=0.01)


def test_one_point_alone_is_seen() -> None:
    (mark,) = lines_of(line([1], [2.0]))
    assert (mark.get_marker(), mark.get_markevery()) == ("o", [0])


def test_bands_lie_between_their_bounds() -> None:
    shown = axes_of(line([1, 2, 3], [2.0, 3.0, 2.0], low=[1.0, 2.0, GAP], high=[3.0, 4.0, GAP]))
    (band,) = (shape for shape in shown.collections if isinstance(shape, PolyCollection))
    (path,) = band.get_paths()
    corners = np.asarray(path.vertices)
    assert (corners[:, 0].max(), corners[:, 1].min(), corners[:, 1].max()) == (2, 1, 4), "the third step has no bounds"


def test_panels_are_named_and_bins_keep_their_place_and_share() -> None:
    shown = axes_of(histogram())
    assert [text.get_text() for text in shown.texts] == ["Row 0", "Row 1"]
    (tops, edges, floor), (others, other_edges, _) = (patch.get_data() for patch in shown.patches[:2])
    assert (list(edges), list(other_edges)) == ([0, 0.5, 1], [-1, -0.5, 0, 0.5])
    peak = (floor - tops).max() / 0.75
    assert peak > 50, "each row uses its own height"
    assert (floor - tops) / peak == pytest.approx(np.array([0.25, 0.75]))
    assert (floor - others) / peak == pytest.approx(np.array([0.25, 0.5, 0.25]))


@pytest.mark.parametrize("count", [3, 10])
def test_published_points_have_their_row_s_colour_and_are_hollow(count: int) -> None:
    figure = points(count)
    paper = Trace("Row 1", [0.5], [0.4], "published", 1)
    drawn = replace(figure, series=[*figure.series, paper])
    *_, mark = lines_of(drawn)
    assert (list(mark.get_xdata()), mark.get_color(), mark.get_markerfacecolor()) == ([0.5], HUES[1], PAPER)
    assert texts(tree(drawn)).count("2") == (2 if count > 8 else 0), "the number of the row, beside both points"


def test_published_numbers_have_a_mark_of_their_own() -> None:
    *_, published = lines_of(rows())
    assert (published.get_color(), list(published.get_xdata())) == (INK, [0.3])
    assert "published" in texts(tree(rows()))


def test_the_front_is_a_line_and_what_is_off_it_is_hollow() -> None:
    off, stairs, on = lines_of(costs())
    assert (list(off.get_xdata()), off.get_markerfacecolor()) == ([2.0], PAPER)
    assert (list(on.get_xdata()), on.get_markerfacecolor()) == ([1.0, 3.0], HUES[0])
    assert stairs.get_drawstyle() == "steps-post"
    assert (list(stairs.get_xdata()), list(stairs.get_ydata())) == ([1, 3, 3], [0.2, 0.4, 0.4])


def test_bars_reach_from_the_lower_to_the_upper_bound() -> None:
    bars = [segment for shapes in axes_of(costs()).collections for segment in shapes.get_segments()]
    assert sorted(bar.tolist() for bar in bars) == [[[x, 0.05], [x, 0.5]] for x in (1, 2, 3)]


def test_a_drawing_can_be_saved_as_pdf_and_png(every_kind: Make, tmp_path: object) -> None:
    drawing = draw(every_kind())
    with settings():
        drawing.savefig(f"{tmp_path}/figure.pdf")
        drawing.savefig(f"{tmp_path}/figure.png", dpi=200)
    assert all(to_hex(hue) == hue for hue in HUES)


def test_bands_end_at_the_scale_that_panels_share() -> None:
    axes = axes_of(tuning())
    assert axes.get_ylim() == (0.1, 0.6)
    (band,) = (one for one in axes.collections if isinstance(one, PolyCollection))
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (0.1, 0.6)
    method, reference = lines_of(tuning())[1], lines_of(tuning())[0]
    assert {method.get_color(), reference.get_color()} == {HUES[0], QUIET}


def test_failed_trials_stand_on_the_floor_and_the_default_is_a_line_through_all() -> None:
    drawn = {line.get_marker(): line for line in lines_of(sensitivity())}
    assert list(drawn["x"].get_ydata()) == [0.2, 0.2]
    assert list(drawn["None"].get_xdata()) == [0.02, 0.02]
    assert axes_of(sensitivity()).get_xscale() == "log"


def test_a_forest_plot_is_scaled_by_intervals_and_not_by_bands_or_by_published_numbers() -> None:
    """A band of three seeds can be a hundred points wide, and published numbers are of other data."""
    low, high = axes_of(forest()).get_xlim()
    assert -0.02 < low < -0.01
    assert 0.03 < high < 0.04


def test_a_forest_plot_says_what_its_marks_show_and_what_has_none() -> None:
    said = [text.get_text().strip() for text in axes_of(forest()).texts]
    assert "+2.00 [+1.00, +3.00] reproduced" in said
    assert "−1.00 undecided" in said
    assert {"+70.00", "published", "not run", "Rows", "Other", "Row 2"} <= set(said)
    assert said.index("Rows") < said.index("Other")


def test_verdicts_of_a_forest_plot_differ_in_mark_and_not_in_hue_alone() -> None:
    looks = {kind: lines.LOOKS.get(kind, lines.OTHERS) for kind in ("better", "worse", "equivalent", "undecided")}
    assert len({(look["marker"], look.get("markerfacecolor")) for look in looks.values()}) == len(looks)
