"""Templates to text: everything escaped, a missing value an error, every link to a page that exists."""

from functools import lru_cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from benchsuite import __version__
from benchsuite.papers.schema import row_name
from benchsuite.report import markup, numbers, pages
from benchsuite.report.figures import sparkline, svg
from benchsuite.report.links import Links


def render(template: str, links: Links, body: bool = False, **values: Any) -> str:
    """A page; with `body` only what stands between header and footer."""
    base = "body.html" if body else "base.html"
    return _environment().get_template(template).render(links=links, base=base, **values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchsuite.report"),
        autoescape=select_autoescape(default=True),
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "aligned": markup.aligned,
        "math": markup.math,
        "paragraphs": markup.paragraphs,
        "percent": numbers.percent,
        "plain": numbers.plain,
        "prose": markup.prose,
        "seeds": numbers.seeds,
        "signed": numbers.signed,
    }
    environment.globals |= {
        "name_of": pages,
        "numbers": numbers,
        "row_name": row_name,
        "sparkline": markup.drawn(sparkline),
        "svg": markup.drawn(svg),
        "version": __version__,
    }
    return environment
