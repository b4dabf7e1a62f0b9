"""Templates to text: everything is escaped, a missing value is an error, every link leads to a page that exists."""

import inspect
import textwrap
from functools import lru_cache
from typing import Any
from xml.etree import ElementTree

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from latex2mathml.converter import convert
from markupsafe import Markup, escape

from benchsuite import __version__
from benchsuite.analysis.both_regimes import ELSE, MEANING, MISSED, SMALL
from benchsuite.analysis.second_laboratory import ANSWER_MEANING
from benchsuite.harmless import spelled
from benchsuite.papers.schema import row_name
from benchsuite.records.requests import REGIMES
from benchsuite.report import numbers, pages, row_settings
from benchsuite.report.claim_lines import anchor, remark
from benchsuite.report.figures.inline_svg import svg
from benchsuite.report.figures.strips import bar, strip, ticks
from benchsuite.report.links import Links
from benchsuite.setup import REFERENCES

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'"
)
"""Of pages, for browsers: what they may load and run."""
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
TAGS = {
    "math", "mrow", "mi", "mo", "mn", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover",
    "munder", "munderover", "mstyle", "mpadded", "mtable", "mtr", "mtd",
}  # fmt: skip
ATTRIBUTES = {"display", "stretchy", "width", "mathvariant", "fence", "form", "separator", "linethickness", "accent"}


def render(template: str, links: Links, **values: Any) -> str:
    """A page."""
    return _environment().get_template(template).render(links=links, **values)


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("benchsuite.report"),
        autoescape=select_autoescape(default=True),
        auto_reload=False,
        finalize=legible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"aligned": aligned, "math": math, "paragraphs": paragraphs, "prose": prose, "typed": typed}
    environment.policies["json.dumps_kwargs"] = {"sort_keys": True, "separators": (",", ":")}
    environment.globals |= {
        "ANSWER_MEANING": ANSWER_MEANING,
        "bar": bar,
        "claim_anchor": anchor,
        "claim_remark": remark,
        "numbers": numbers,
        "MISSED": MISSED,
        "SMALL": SMALL,
        "OUTCOME_MEANING": MEANING,
        "OUTCOME_ELSE": ELSE,
        "REFERENCES": REFERENCES,
        "REGIMES": REGIMES,
        "pages": pages,
        "policy": Markup(POLICY),
        "row_name": row_name,
        "row_settings": row_settings,
        "strip": strip,
        "svg": svg,
        "ticks": ticks,
        "version": __version__,
    }
    return environment


def legible(value: Any) -> Any:
    """What a template shows: of a text, control characters and marks that turn text around are spelled out."""
    return spelled(value, keep="\n\t") if value.__class__ is str else value


@lru_cache(maxsize=2**14)
def aligned(number: str, decimals: int) -> Markup:
    """A number whose point stands under the points of others: what follows it is as wide as that many digits."""
    whole, point, rest = number.replace("-", numbers.MINUS).partition(".")
    return Markup(f'<span class="n">{escape(whole)}<span class="f{decimals:d}">{point}{escape(rest)}</span></span>')


@lru_cache(maxsize=256)
def math(latex: str) -> Markup:
    """An equation as MathML; as typed where it is none, or holds anything but mathematics."""
    typed = Markup('<code class="tex">{}</code>').format(latex)
    try:
        root = ElementTree.fromstring(convert(latex, display="block"))
    except Exception:
        return typed  # converter and parser raise a dozen kinds of errors for what is no equation
    for element in root.iter():
        element.tag = element.tag.removeprefix(NAMESPACE)
        if element.tag not in TAGS or not set(element.attrib) <= ATTRIBUTES:
            return typed
    root.set("alttext", latex)
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def typed(text: str) -> Markup:
    """Text between tags, where quotes need no escape: what is to be copied is full of them."""
    return Markup(str(escape(legible(text))).replace("&#34;", '"').replace("&#39;", "'"))


def paragraphs(doc: str) -> list[str]:
    """A docstring's paragraphs, each as one line; lists keep their lines."""
    return [_unwrapped(text) for text in inspect.cleandoc(doc).split("\n\n") if text.strip()]


def _unwrapped(text: str) -> str:
    lines = textwrap.dedent(text).splitlines()
    indented = any(line.startswith((" ", "- ", "* ")) for line in lines)
    return "\n".join(lines) if indented else " ".join(lines)


def prose(text: str) -> Markup:
    """Text with `code` in it."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return Markup("{}").format(text)
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))
