"""Files for papers: they hold what the page shows, in kinds and fonts that a journal takes, equal each time."""

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.lines import Line2D
from small_figures import curves, drawn

from benchsuite.errors import UsageError
from benchsuite.report.figures.canvas import PAPER
from benchsuite.report.figures.model import Figure
from benchsuite.report.figures.saving import SETTINGS, save, sheet_of

Make = Callable[..., Figure]


def test_a_sheet_has_every_line_area_mark_and_text_at_its_place(every_kind: Make) -> None:
    canvas, sheet = drawn(every_kind()), sheet_of(every_kind())
    (axes,) = sheet.axes
    assert (*sheet.get_size_inches(),) == pytest.approx([size / 72 for size in canvas.size])
    assert (axes.get_xlim(), axes.get_ylim()) == ((0, canvas.size[0]), (canvas.size[1], 0))

    def shown(lines: list[Line2D]) -> list[tuple[object, ...]]:
        return [(line.get_color(), *map(tuple, np.round(np.asarray(line.get_xydata()), 6))) for line in lines]

    def expected(parts: list[SimpleNamespace]) -> list[tuple[object, ...]]:
        return [(part.colour, *map(tuple, np.round(part.points, 6))) for part in parts]

    def placed(mark: SimpleNamespace) -> SimpleNamespace:
        return SimpleNamespace(colour=mark.colour, points=[at for at in mark.points if math.isfinite(sum(at))])

    joined = [line for line in axes.lines if line.get_linestyle() != "None"]
    assert str(shown(joined)) == str(expected(canvas.lines)), "as text, in which no numbers are equal too"
    marks = [line for line in axes.lines if line not in joined]
    assert str(shown(marks)) == str(expected([placed(mark) for mark in canvas.marked]))
    assert [mark.get_markerfacecolor() for mark in marks] == [
        PAPER if mark.hollow else mark.colour for mark in canvas.marked
    ]
    assert [patch.get_alpha() for patch in axes.patches] == [area.opacity for area in canvas.areas]
    assert [(text.get_text(), *text.get_position()) for text in axes.texts] == [
        (text.text, text.x, text.y) for text in canvas.texts
    ]


def test_nothing_is_drawn_outside_of_the_sheet(every_kind: Make) -> None:
    with mpl.rc_context(dict(SETTINGS)):
        sheet = sheet_of(every_kind(label="A long label, as ablations have them: all, without this or that"))
        box = sheet.get_tightbbox()
    width, height = sheet.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -0.03, "but for half of a line's width"


def test_a_point_between_gaps_is_seen() -> None:
    (broken,) = (line for line in sheet_of(curves(1)).axes[0].lines if line.get_linewidth() == 2.2)
    assert (broken.get_marker(), broken.get_markevery()) == ("o", [0])


def test_every_kind_is_saved_in_every_format_and_nothing_of_a_user_s_settings_shows(
    every_kind: Make, tmp_path: Path
) -> None:
    figure = every_kind(label="A $x_1$ & <b>")
    for kind in ("pdf", "svg", "png"):
        with mpl.rc_context({"lines.linewidth": 9, "font.size": 30, "svg.fonttype": "path"}):
            save(figure, tmp_path / f"one.{kind}", 72)
        save(figure, tmp_path / f"two.{kind}", 72)
        assert (tmp_path / f"one.{kind}").read_bytes() == (tmp_path / f"two.{kind}").read_bytes()
    said = [element.text for element in ElementTree.parse(tmp_path / "one.svg").getroot().iter() if element.text]
    assert any("$x_1$ & <b>" in text for text in said), "text stays text, and is no formula"


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a figure ends with \.pdf, \.svg, \.png"):
        save(curves(), tmp_path / "figure.jpg", 72)
