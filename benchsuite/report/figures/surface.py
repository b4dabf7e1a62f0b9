"""What matplotlib draws, as SVG that takes its colours from the page: a renderer for it without fonts and files.

Lines, areas and marks are matplotlib's artists on a figure of its own (never pyplot's). Their group id is the class
that the page's style sheet gives a colour; no colour and no id is written. Text is written as text, in the page's font.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform, Transform
from numpy.typing import NDArray

from benchsuite.report.figures.markup import SIZE, escaped

OWN: Any = {"path.effects": [], "lines.scale_dashes": False}
"""Settings that would come from the user's matplotlibrc otherwise, and could change the picture: see `draw`."""
ROUND = 0.5523
"""How far a circle's control points lie from its corners."""
DISC = Path(
    [
        (0, -1), (ROUND, -1), (1, -ROUND), (1, 0), (1, ROUND), (ROUND, 1), (0, 1), (-ROUND, 1), (-1, ROUND), (-1, 0),
        (-1, -ROUND), (-ROUND, -1), (0, -1),
    ],
    [Path.MOVETO, *[Path.CURVE4] * 12],
)  # fmt: skip
LETTERS = {Path.MOVETO: "M", Path.LINETO: "L", Path.CURVE3: "Q", Path.CURVE4: "C", Path.CLOSEPOLY: "Z"}
FACE, HOLLOW = "black", "white"


class Surface:
    """A drawing in pixels, with (0, 0) in its upper left corner. What is drawn later lies above."""

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self._texts: list[str] = []
        self._figure = Figure(figsize=(width / 72, height / 72), dpi=72)
        self._figure.patch.set_visible(False)

    def line(
        self, x: Sequence[float], y: Sequence[float], group: str, size: float, dash: Sequence[float] | None = None
    ) -> None:
        """A line with gaps where there is no number."""
        self._add(Line2D(x, y, linewidth=size, linestyle="-" if dash is None else (0, dash), **_plain(group)))

    def strokes(self, ends: Sequence[tuple[float, float, float, float]], group: str, size: float) -> None:
        """Straight lines from (x, y) to (x, y), as one thing: a thing costs as much as a hundred strokes."""
        if ends:
            x, y = ([value for one in ends for value in (one[at], one[at + 2], np.nan)] for at in (0, 1))
            self.line(x, y, group, size)

    def marks(
        self,
        x: Sequence[float],
        y: Sequence[float],
        group: str,
        corners: tuple[tuple[float, float], ...],
        radius: float,
        hollow: bool = False,
        every: tuple[int, int] | None = None,
    ) -> None:
        """A mark at each point, or at some: from a first one on, every so manieth."""
        outline = _outline(corners)
        look = {
            "marker": outline, "markersize": 2 * radius * float(np.abs(outline.vertices).max()), "markevery": every,
            "markerfacecolor": HOLLOW if hollow else FACE, "markeredgewidth": 1.2, "linestyle": "none",
        }  # fmt: skip
        self._add(Line2D(x, y, **{**_plain(group), **look}))

    def area(self, x: Sequence[float], low: Sequence[float], high: Sequence[float], group: str, alpha: float) -> None:
        """What lies between two lines; nothing where either has no number."""
        for part in _runs(np.isfinite(np.asarray(low) + np.asarray(high))):
            corners = [*zip(x[part], low[part], strict=True), *reversed(list(zip(x[part], high[part], strict=True)))]
            self._add(Polygon(corners, closed=True, facecolor=(0, 0, 0, alpha), linewidth=0, gid=group))

    def text(
        self, x: float, y: float, text: str, group: str = "ink", anchor: str = "start", size: float = SIZE
    ) -> None:
        """A line of text on its base line."""
        at = f'x="{x:.1f}" y="{y:.1f}"' + (f' text-anchor="{anchor}"' if anchor != "start" else "")
        bigger = f' font-size="{size:g}"' if size != SIZE else ""
        self._texts.append(f'<text class="{group}" {at}{bigger}>{escaped(text)}</text>')

    def markup(self) -> str:
        """All of it: lines and marks, then texts."""
        renderer = _Renderer(self.width, self.height)
        self._figure.draw(renderer)
        return "".join([*renderer.elements, '<g fill="currentColor" stroke="none">', *self._texts, "</g>"])

    def _add(self, artist: Line2D | Polygon) -> None:
        artist.set_transform(IdentityTransform())
        artist.set_zorder(len(self._figure.artists))
        self._figure.add_artist(artist)


class _Renderer(RendererBase):
    """Paths in the order in which they are drawn, in groups by class."""

    def __init__(self, width: float, height: float) -> None:
        super().__init__()
        self.elements: list[str] = []
        self._size = width, height
        self._groups: list[str] = []

    def get_canvas_width_height(self) -> tuple[float, float]:
        return self._size

    def open_group(self, s: str, gid: str | None = None) -> None:
        self._groups.append(gid or "")
        if gid:
            self.elements.append(f'<g class="{escaped(gid)}">')

    def close_group(self, s: str) -> None:
        if self._groups.pop():
            self.elements.append("</g>")

    def draw_path(self, gc: GraphicsContextBase, path: Path, transform: Transform, rgbFace: Any = None) -> None:  # noqa: N803
        points = transform.transform(path.vertices)
        data = _lines(points) if path.codes is None else _coded(points, path.codes)
        self._write(gc, data, rgbFace)

    def draw_markers(
        self,
        gc: GraphicsContextBase,
        marker_path: Path,
        marker_trans: Transform,
        path: Path,
        trans: Transform,
        rgbFace: Any = None,  # noqa: N803
    ) -> None:
        mark = marker_trans.transform(marker_path.vertices)
        places = [place for place in trans.transform(path.vertices) if np.isfinite(place).all()]
        self._write(gc, "".join(_coded(mark + place, _codes(marker_path)) for place in places), rgbFace)

    def _write(self, gc: GraphicsContextBase, data: str, face: Any) -> None:
        size = gc.get_linewidth()
        dashes: Any = gc.get_dashes()[1] if size else None
        stroke = f' stroke-width="{size:g}"' if size else ' stroke="none"'
        dash = f' stroke-dasharray="{" ".join(f"{length:g}" for length in dashes)}"' if dashes is not None else ""
        self.elements.append(f'<path d="{data}"{stroke}{dash}{_fill(face)}/>')


def _plain(group: str) -> dict[str, Any]:
    """What else matplotlibrc would say of lines."""
    return {
        "gid": group, "color": FACE, "marker": "none", "markeredgecolor": FACE, "solid_capstyle": "round",
        "drawstyle": "default", "alpha": None, "fillstyle": "full",
    }  # fmt: skip


@lru_cache(maxsize=32)
def _outline(corners: tuple[tuple[float, float], ...]) -> Path:
    """A mark's edge; a disc where there are no corners."""
    if not corners:
        return DISC
    return Path([*corners, corners[0]], [Path.MOVETO, *[Path.LINETO] * (len(corners) - 1), Path.CLOSEPOLY])


def _fill(face: Any) -> str:
    if face is None:
        return ""
    red, *_, alpha = (*face, 1.0) if len(face) == 3 else face
    if red:
        return ' class="hollow"'
    return ' fill="currentColor"' + (f' fill-opacity="{alpha:g}"' if alpha < 1 else "")


def _lines(points: NDArray[np.float64]) -> str:
    """Straight lines, broken where there is no number; a point alone is a line without length, which is a dot."""
    parts = [points[part] for part in _runs(np.isfinite(points[:, 0] + points[:, 1]))]
    return "".join(f"M{' '.join(map(_point, part))}{'h0' if len(part) == 1 else ''}" for part in parts)


def _coded(points: NDArray[np.float64], codes: Any) -> str:
    said, before = "", None
    for point, code in zip(points, codes, strict=True):
        letter = LETTERS[code]
        said += letter if letter == "Z" else f"{' ' if code == before else letter}{_point(point)}"
        before = code
    return said


def _codes(path: Path) -> Any:
    lines = [Path.MOVETO, *[Path.LINETO] * (np.shape(path.vertices)[0] - 1)]
    return lines if path.codes is None else path.codes


def _point(point: Sequence[float]) -> str:
    return f"{point[0]:.1f},{point[1]:.1f}"


def _runs(there: NDArray[np.bool_]) -> Iterator[slice]:
    """Stretches of true values."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], there.astype(np.int8), [0]))))
    for start, end in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield slice(start, end)
