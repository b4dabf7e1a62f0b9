"""SVG that is fit for a page: harmless, named, in the page's colours, equal each time."""

import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from sketches import HOSTILE, SKETCHES, texts, tree

from benchsuite.report.figures import Figure, svg
from benchsuite.report.figures.words import alt

Make = Callable[..., Figure]
ELEMENTS = ("svg", "title", "desc", "path", "text")


def test_hostile_names_show_as_text(every_sketch: Make) -> None:
    figure = every_sketch(label=HOSTILE)
    root = tree(figure)
    assert {element.tag for element in root.iter()} <= {*ELEMENTS}
    assert any(HOSTILE[:12] in text for text in texts(root))
    assert "<script" not in svg(figure)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "label", ["$a_b$ \\frac", "a \"quoted\" & 'b'", "_hidden", "\x00\x1b\ud800", "日本語" * 40, "x" * 300]
)
def test_odd_names_are_text_too(every_sketch: Make, label: str) -> None:
    first = r"\u0000" if label[0] == "\x00" else label[:2]
    assert any(first in text for text in texts(tree(every_sketch(label=label))))


def test_a_drawing_has_a_name_and_a_description(every_sketch: Make) -> None:
    figure = every_sketch()
    root = tree(figure)
    title, desc, *_ = root
    assert (title.tag, title.text, desc.tag, desc.text) == ("title", figure.title, "desc", alt(figure))
    assert root.attrib["role"] == "img"


def test_a_drawing_is_as_wide_as_its_place(every_sketch: Make) -> None:
    root = tree(every_sketch())
    assert not {"width", "height", "style"} & set(root.attrib)
    assert re.fullmatch(r"0 0 (400|280) [\d.]+", root.attrib["viewBox"])


def test_colours_and_fonts_are_the_page_s_and_nothing_comes_from_elsewhere(every_sketch: Make) -> None:
    drawing = svg(every_sketch())
    assert not re.search(r"style=|<style|#[0-9a-f]{6}|rgb\(|url\(|xlink|<image|font-family|<metadata|<!|<\?", drawing)
    assert "://" not in drawing
    colours = set(re.findall(r'(?:fill|stroke)="((?!none)[^"]*)"', drawing))
    assert colours
    assert all(re.fullmatch(r"var\(--(series-[1-8]|ink|quiet|line|paper)\)", colour) for colour in colours)


def test_drawings_have_no_ids_so_those_of_two_figures_never_meet() -> None:
    assert not re.search(r" id=|href=|url\(", "".join(svg(SKETCHES[kind]()) for kind in SKETCHES))


def test_text_is_written_as_text(every_sketch: Make) -> None:
    figure = every_sketch(label="A & B")
    shown = texts(tree(figure))
    assert figure.x.name in shown
    assert any("A & B" in text for text in shown)


def test_pages_need_no_matplotlib() -> None:
    script = (
        "import sys, benchsuite.report.figures as f\n"
        "f.sparkline('loss', ([0, 1], [1, 2]))\n"
        "t = f.Trace('a', [-0.5, 0.5], [1, 2])\n"
        "for kind in ('curves', 'points', 'histogram', 'rows', 'tuning'):\n"
        "    f.svg(f.Figure('a', 'a', kind, '', '', f.Axis('x'), f.Axis('y'), [t]))\n"
        "assert not {'matplotlib', 'torch'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
