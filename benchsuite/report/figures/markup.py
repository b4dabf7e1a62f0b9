"""Text in SVG: escaped, and cut where there is no room for it."""

import re
from itertools import accumulate, takewhile
from unicodedata import east_asian_width

from markupsafe import escape

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML file may hold."""
SIZE = 12
"""Of the text in figures, in their own units."""
NARROW, WIDE = set("iljtfrI1.,:;'|!()[] "), set("mwMWQOGDHNU%@")


def escaped(text: str) -> str:
    """As text or as an attribute's value."""
    return str(escape(FORBIDDEN.sub("�", text)))


def width(text: str, size: float = SIZE) -> float:
    """About how wide it will be in the page's font, rather too wide than too narrow."""
    return size * sum(map(_width, text))


def shortened(text: str, room: float, size: float = SIZE) -> str:
    """The text, or its beginning and an ellipsis."""
    if width(text, size) <= room:
        return text
    ends = accumulate(map(_width, text))
    kept = sum(1 for _ in takewhile(lambda end: end * size <= room - width("…", size), ends))
    return text[:kept].rstrip() + "…"


def wrapped(text: str, room: float, size: float = SIZE) -> list[str]:
    """The text in one line or two, broken at a blank if there is one; the second is cut if it must be."""
    if width(text, size) <= room:
        return [text]
    ends = accumulate(map(_width, text))
    fits = sum(1 for _ in takewhile(lambda end: end * size <= room, ends))
    first = text[: fits + 1].rpartition(" ")[0] or text[:fits]
    return [first, shortened(text[len(first) :].strip(), room, size)]


def _width(letter: str) -> float:
    if letter in NARROW:
        return 0.36
    return 1.0 if east_asian_width(letter) in "WF" else 0.88 if letter in WIDE else 0.62
