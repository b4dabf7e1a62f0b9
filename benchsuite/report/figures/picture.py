"""A figure as SVG: to stand in a page, or alone in a file."""

from benchsuite.report.figures.markup import SIZE, escaped
from benchsuite.report.figures.model import Figure

WIDTH = 400
"""Of every figure, in its own units: on 348 pixels of a telephone its ticks are still 9 pixels high."""
ALONE = """
.chart { --ink: #1b1f24; --quiet: #57606a; --paper: #fff; --line: #d0d7de; background: var(--paper); color: var(--ink);
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif; }
@media screen and (prefers-color-scheme: dark) {
  .chart { --ink: #e6edf3; --quiet: #9aa4af; --paper: #0d1117; --line: #30363d; }
}
"""


def svg(figure: Figure) -> str:
    """The figure for a page with `static/figures.css`: everything escaped, as wide as there is room."""
    return _svg(figure, "")


def standalone(figure: Figure) -> str:
    """The figure as a file of its own, with its styles in it."""
    from importlib.resources import files

    css = files("benchsuite.report").joinpath("static/figures.css").read_text("utf-8")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_svg(figure, f"<style>{css}{ALONE}</style>")}\n'


def _svg(figure: Figure, style: str) -> str:
    from benchsuite.report.figures.draw import draw

    drawn, height = draw(figure, WIDTH)
    name = escaped(figure.id)
    return (
        f'<svg class="chart" role="img" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
        f'aria-labelledby="{name}-title" aria-describedby="{name}-desc" font-size="{SIZE}">'
        f'<title id="{name}-title">{escaped(figure.title)}</title><desc id="{name}-desc">{escaped(figure.alt)}</desc>'
        f'{style}<g fill="none" stroke="currentColor" stroke-linejoin="round">{drawn}</g></svg>'
    )
