"""What a search over all pages looks in: of each its title, and the words of its headings and of its tables' heads."""

import html
import json
import re
from collections.abc import Iterable

NAMED = re.compile(r"<(h[1-4]|th|figcaption)\b[^>]*>(.*?)</\1>", re.DOTALL)
TAG = re.compile(r"<[^>]*>")
EXPLAINED = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
LANGUAGE = re.compile(r"[^\W\d_]")
"""A letter: numbers alone are not looked for."""


def words(page: str) -> str:
    """The words of a page's headings, each once, in small letters."""
    found = (TAG.sub(" ", EXPLAINED.sub(" ", match[2])) for match in NAMED.finditer(page))
    every = " ".join(html.unescape(text) for text in found).lower().split()
    return " ".join(dict.fromkeys(word for word in every if LANGUAGE.search(word)))


def index(pages: Iterable[tuple[str, str, str]]) -> str:
    """A script with name, title and words of pages: what is no script cannot be read from a folder of files."""
    return f"const PAGES = {json.dumps([*pages], separators=(',', ':'))};\n"
