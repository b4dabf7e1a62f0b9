"""What a search over all pages looks in: of each its title, and the words of its headings, captions and table heads."""

import html
import json
import re
from collections.abc import Iterable

NAMED = re.compile(r"<(h[1-4]|th|figcaption)\b[^>]*>(.*?)</\1>", re.DOTALL)
SVG = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")


def words(page: str) -> str:
    """The words of headings, captions of figures, and heads of rows and columns, each once, in small letters."""
    found = (TAG.sub(" ", SVG.sub(" ", match[2])) for match in NAMED.finditer(page))
    return " ".join(dict.fromkeys(" ".join(html.unescape(text) for text in found).lower().split()))


def index(pages: Iterable[tuple[str, str, str]]) -> str:
    """A script with name, title and words of pages: what is no script cannot be read from a folder of files."""
    return f"const PAGES = {json.dumps([*pages], separators=(',', ':'))};\n"
