"""SVG that is fit for a page: harmless, named, in the page's colours, equal each time."""

import math
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_figures import HOSTILE, ON_PAGES, curves, drawn, points, texts, through

from benchsuite.report.figures.canvas import Look
from benchsuite.report.figures.inline_svg import alt, path, svg
from benchsuite.report.figures.model import Figure, Trace

Make = Callable[..., Figure]
ELEMENTS = ("svg", "title", "desc", "path", "text")
POINTS = st.lists(st.tuples(st.floats(-2e3, 2e3), st.floats(-2e3, 2e3)), min_size=1, max_size=200)


def tree(figure: Figure) -> ElementTree.Element:
    """The drawing, read as XML."""
    return ElementTree.fromstring(svg(figure))


@given(POINTS, st.sampled_from([0, 1]))
def test_a_path_goes_through_its_points_and_rounding_does_not_add_up(
    points: list[tuple[float, float]], decimals: int
) -> None:
    found = through(path(points, decimals))
    assert len(found) == len(points)
    assert np.abs(np.array(found) - points).max() <= 0.5 / 10**decimals + 1e-9


def test_a_path_is_short() -> None:
    assert path([(2.04, 10), (2.5, 9.5), (12.5, 9.5), (12, 20)]) == "M2 10l.5-.5 10 0-.5 10.5"
    assert path([(-0.5, 0.26)]) == "M-.5 .3h0"


def test_lines_areas_marks_and_text_are_where_they_are_drawn(on_pages: Make) -> None:
    figure = on_pages()
    canvas, found = drawn(figure), list(tree(figure).iter("path"))
    lines = [path.get("d", "") for path in found if path.get("fill") is None and "h0" not in path.get("d", "")]
    for line in (line.points for line in canvas.lines if not any(math.isnan(x + y) for x, y in line.points)):
        assert any(len(through(d)) == len(line) and np.allclose(through(d), line, atol=0.06) for d in lines)
    assert len([path for path in found if path.get("opacity")]) == len(canvas.areas)
    starts = " ".join(path.get("d", "") for path in found)
    for x, y in (place for mark in canvas.marked for place in mark.points if math.isfinite(sum(place))):
        assert f"M{f'{x:.1f}'.removesuffix('.0')} {f'{y:.1f}'.removesuffix('.0')}" in starts
    shown = [(text.text, text.get("class", "")) for text in tree(figure).iter("text")]
    assert shown == [(text.text, " ".join(text.looks)) for text in canvas.texts]


def test_a_line_has_gaps_and_a_dot_where_a_point_stands_alone() -> None:
    (broken, *_) = (path for path in tree(curves()).iter("path") if path.get("stroke-width") == "2.2")
    assert broken.get("d", "").count("M") == 2
    assert broken.get("d", "").split("M")[1].endswith("h0")


def test_discs_are_lines_without_length_as_wide_as_other_marks_are() -> None:
    mean, _ = (path for path in tree(points(1)).iter("path") if path.get("stroke-width") == "9.2")
    assert re.fullmatch(r"M[\d.]+ [\d.]+h0", mean.get("d", ""))
    assert mean.get("stroke") == "var(--series-1)"


def test_the_style_sheet_has_every_look_of_text() -> None:
    css = files("benchsuite.report").joinpath("static/figures.css").read_text("utf-8")
    assert all(f".sketch .{look}" in css for look in get_args(Look) if look not in ("small", "bold"))


def test_hostile_names_show_as_text(on_pages: Make) -> None:
    figure = on_pages(label=HOSTILE)
    root = tree(figure)
    assert {element.tag for element in root.iter()} <= {*ELEMENTS}
    assert any(HOSTILE[:12] in text for text in texts(root))
    assert "<script" not in svg(figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "label", ["$a_b$ \\frac", "a \"quoted\" & 'b'", "_hidden", "\x00\x1b\ud800", "日本語" * 40, "x" * 300]
)
def test_odd_names_are_text_too(on_pages: Make, label: str) -> None:
    first = r"\u0000" if label[0] == "\x00" else label[:2]
    assert any(first in text for text in texts(tree(on_pages(label=label))))


def test_a_drawing_has_a_name_and_a_description(on_pages: Make) -> None:
    figure = on_pages()
    root = tree(figure)
    title, desc, *_ = root
    assert (title.tag, title.text, desc.tag, desc.text) == ("title", figure.title, "desc", alt(figure))
    assert root.attrib["role"] == "img"


def test_a_drawing_is_as_wide_as_its_place(on_pages: Make) -> None:
    root = tree(on_pages())
    assert not {"width", "height", "style"} & set(root.attrib)
    assert re.fullmatch(r"0 0 (400|280) [\d.]+", root.attrib["viewBox"])


def test_colours_and_fonts_are_the_page_s_and_nothing_comes_from_elsewhere(on_pages: Make) -> None:
    drawing = svg(on_pages())
    assert not re.search(r"style=|<style|#[0-9a-f]{6}|rgb\(|url\(|xlink|<image|font-family|<metadata|<!|<\?", drawing)
    assert "://" not in drawing
    colours = set(re.findall(r'(?:fill|stroke)="((?!none)[^"]*)"', drawing))
    assert colours
    assert all(re.fullmatch(r"var\(--(series-[1-8]|ink|quiet|line|paper)\)", colour) for colour in colours)


def test_drawings_of_few_marks_have_no_ids_so_those_of_two_figures_never_meet() -> None:
    assert not re.search(r" id=|href=|url\(", "".join(svg(ON_PAGES[kind]()) for kind in ON_PAGES))


def test_many_marks_are_one_that_is_referred_to_by_the_figure_s_own_name() -> None:
    across, up = [0.01 * n for n in range(60)], [0.3 + 0.07 * (n % 5) for n in range(60)]
    series = [Trace("Row 0", across, up, "trial", 0, [0]), Trace("Row 1", up, across, "trial", 1, [0])]
    figure = replace(points(), id="many", series=series)
    root, canvas = tree(figure), drawn(figure)
    shapes = {one.get("id", ""): one for one in root.iter("marker")}
    assert len(shapes) == 2
    assert all(len(name) < 20 and one.get("overflow") == "visible" for name, one in shapes.items())
    assert not {*shapes} & {one.get("id") for one in tree(replace(figure, id="other")).iter("marker")}
    placed = {one.get("marker-mid", ""): one for one in root.iter("path") if one.get("marker-mid")}
    assert [*placed] == [f"url(#{name})" for name in shapes]
    of_trials = [mark.points for mark in canvas.marked if len(mark.points) > 1]
    for one, at in zip(placed.values(), of_trials, strict=True):
        assert one.get("stroke") == "none"
        assert one.get("marker-start") == one.get("marker-end") == one.get("marker-mid")
        assert np.allclose(through(one.get("d", "")), sorted(at), atol=0.06), (
            "neighbours follow each other: short steps"
        )


def test_pages_need_no_matplotlib() -> None:
    script = (
        "import sys, benchsuite.report.figures.inline_svg as s, benchsuite.report.figures.model as f\n"
        "t = f.Trace('a', [-0.5, 0.5], [1, 2])\n"
        "for kind in ('curves', 'points'):\n"
        "    s.svg(f.Figure('a', 'a', kind, '', '', f.Axis('x'), f.Axis('y'), [t]))\n"
        "assert not {'matplotlib', 'torch'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
