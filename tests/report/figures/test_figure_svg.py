"""SVG that is fit for a page: harmless, named, in the page's colours, equal each time."""

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest
from matplotlib.patheffects import withStroke
from sketches import EVERY, HOSTILE, points, texts, tree

from benchsuite.report.figures import Figure, svg
from benchsuite.report.figures.words import alt

Make = Callable[..., Figure]
ELEMENTS = ("svg", "title", "desc", "g", "path", "text", "defs", "use")


def test_hostile_names_show_as_text(every_kind: Make) -> None:
    figure = every_kind(label=HOSTILE)
    root = tree(figure)
    assert {element.tag for element in root.iter()} <= {*ELEMENTS}
    assert any(HOSTILE[:12] in text for text in texts(root))
    assert "<script" not in svg(figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "label", ["$a_b$ \\frac", "a \"quoted\" & 'b'", "_hidden", "\x00\x1b\ud800", "日本語" * 40, "x" * 300]
)
def test_odd_names_are_text_too(every_kind: Make, label: str) -> None:
    first = r"\u0000" if label[0] == "\x00" else label[:2]
    assert any(first in text for text in texts(tree(every_kind(label=label))))


def test_a_drawing_has_a_name_and_a_description(every_kind: Make) -> None:
    figure = every_kind()
    root = tree(figure)
    title, desc, *_ = root
    assert (title.tag, title.text, desc.tag, desc.text) == ("title", figure.title, "desc", alt(figure))
    assert root.attrib["role"] == "img"


def test_a_drawing_is_as_wide_as_its_place(every_kind: Make) -> None:
    root = tree(every_kind())
    assert not {"width", "height", "style"} & set(root.attrib)
    assert re.fullmatch(r"0 0 (400|280|540) [\d.]+", root.attrib["viewBox"])


def test_colours_and_fonts_are_the_page_s_and_nothing_comes_from_elsewhere(every_kind: Make) -> None:
    drawing = svg(every_kind())
    assert not re.search(r"style=|<style|#[0-9a-f]{6}|rgb\(|url\(|xlink|<image|font-family|<metadata|<!|<\?", drawing)
    assert "://" not in drawing
    colours = set(re.findall(r'(?:fill|stroke)="((?!none)[^"]*)"', drawing))
    assert colours
    assert all(re.fullmatch(r"var\(--(series-[1-8]|ink|quiet|line|paper)\)", colour) for colour in colours)


ODD_SETTINGS: list[dict[str, Any]] = [
    {"path.effects": [withStroke(linewidth=4, foreground="w")], "axes.prop_cycle": "cycler('color', 'rgb')"},
    {"lines.scale_dashes": True, "lines.marker": "o", "lines.linewidth": 9, "markers.fillstyle": "top"},
    {"figure.autolayout": True, "axes.grid": False, "font.size": 30, "font.family": "serif"},
    {"figure.constrained_layout.use": True, "figure.facecolor": "red", "text.usetex": True, "figure.dpi": 300},
    {"path.sketch": (1, 100, 2), "patch.force_edgecolor": True, "svg.fonttype": "path", "svg.id": "mine"},
]


@pytest.mark.parametrize("odd", ODD_SETTINGS)
@pytest.mark.filterwarnings("error")
def test_equal_figures_are_drawn_equally_whatever_matplotlib_is_set_to(every_kind: Make, odd: dict[str, Any]) -> None:
    before = svg(every_kind())
    with matplotlib.rc_context(odd):
        theirs = {name: matplotlib.rcParams[name] for name in odd}
        assert svg(every_kind()) == before
        assert {name: matplotlib.rcParams[name] for name in odd} == theirs


def test_ids_of_two_figures_never_meet_and_uses_find_theirs() -> None:
    for page in ("".join(svg(make()) for make in EVERY.values()), svg(points(), "a") + svg(points(), "b")):
        ids = re.findall(r' id="([^"]*)"', page)
        assert len(set(ids)) == len(ids)
        assert ids
        assert set(re.findall(r'href="#([^"]*)"', page)) <= set(ids)


def test_text_is_written_as_text(every_kind: Make) -> None:
    figure = every_kind(label="A & B")
    shown = texts(tree(figure))
    assert figure.x.name in shown
    assert any("A & B" in text for text in shown)


def test_matplotlib_waits_until_a_figure_is_drawn_and_pyplot_for_ever() -> None:
    script = (
        "import sys, benchsuite.report.figures as f\n"
        "assert 'matplotlib' not in sys.modules\n"
        "f.sparkline('loss', ([0, 1], [1, 2]))\n"
        "assert 'matplotlib' not in sys.modules\n"
        "t = f.Trace('a', [1, 2], [1, 2])\n"
        "f.svg(f.Figure('a', 'a', 'curves', '', '', f.Axis('x'), f.Axis('y'), [t]))\n"
        "assert 'matplotlib' not in sys.modules\n"
        "f.svg(f.Figure('a', 'a', 'points', '', '', f.Axis('x'), f.Axis('y'), [t]))\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
