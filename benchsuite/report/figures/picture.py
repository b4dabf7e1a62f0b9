"""A figure as SVG for a page: its colours and its font are the page's, and it is as wide as there is room."""

import re
from collections.abc import Callable, Sequence
from io import StringIO
from typing import Any
from xml.etree import ElementTree

from markupsafe import escape

from benchsuite.harmless import spelled
from benchsuite.report.figures.model import Figure
from benchsuite.report.figures.sketch import SKETCHED
from benchsuite.report.figures.words import alt

NUMBER = re.compile(r"-?\d+\.\d{2,}")
"""With more digits than a pixel needs."""
BLANKS = re.compile(r"\s*([A-Z])\s*")
"""Around the letters of a path."""


def svg(figure: Figure, name: str = "") -> str:
    """The figure for a page with `static/figures.css`.

    Its ids begin with its own, or with another name where a file shows the figure twice.
    """
    name = name or figure.id
    return _sketched(figure, SKETCHED[figure.kind]) if figure.kind in SKETCHED else _drawn(figure, name)


def _sketched(figure: Figure, sketch: Callable[[Figure], str]) -> str:
    words = "".join(f"<{tag}>{escape(spelled(text))}</{tag}>" for tag, text in _words(figure))
    box, _, drawn = sketch(figure).partition(">")
    return f'<svg class="chart sketch" role="img" {box}>{words}{drawn}</svg>'


def _words(figure: Figure) -> Sequence[tuple[str, str]]:
    """For those who cannot see it: browsers take them as its name and its description."""
    return (("title", figure.title), ("desc", alt(figure)))


def _drawn(figure: Figure, name: str) -> str:
    """By matplotlib: kinds of which a site has few."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    from benchsuite.report.figures.draw import draw, settings

    file = StringIO()
    with settings(**{"svg.hashsalt": name}):
        canvas: Any = FigureCanvasSVG(draw(figure))
        canvas.print_svg(file, metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    root = ElementTree.fromstring(file.getvalue())
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}clipPath", "}style")):
                parent.remove(child)
    for element in root.iter():
        _restyle(element)
    root.attrib = {
        "class": "chart", "role": "img", "viewBox": root.attrib["viewBox"], "stroke-linejoin": "round"
    }  # fmt: skip
    for place, (tag, text) in enumerate(_words(figure)):
        element = ElementTree.Element(tag)
        element.text = spelled(text)
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _restyle(element: ElementTree.Element) -> None:
    """Styles as attributes, which a page may overrule and a strict policy allows; colours by their names."""
    from benchsuite.report.figures.style import COLOURS

    element.tag = element.tag.rpartition("}")[2]
    element.tail = None
    if element.tag != "text":
        element.text = None
    attributes = {}
    for key, value in element.attrib.items():
        if key == "style":
            for part in value.split(";"):
                name, _, setting = (text.strip() for text in part.partition(":"))
                if name != "font-family":
                    attributes[name] = f"var({COLOURS[setting]})" if setting in COLOURS else setting
        elif key.endswith("}href"):
            attributes["href"] = value
        elif key == "id" and element.tag != "g":
            attributes["id"] = value
        elif key not in ("id", "clip-path") and not value.startswith("rotate(-0 "):
            attributes[key] = BLANKS.sub(r"\1", NUMBER.sub(lambda match: f"{float(match[0]):.1f}", value))
    element.attrib = attributes
