"""Addresses from page to page, relative to the one that they stand on."""

import posixpath
import re
from collections.abc import Collection
from hashlib import sha256


class Links:
    """Where a page's links lead. A page is named by its place in the site, `tables/temo-table1-small`."""

    def __init__(self, here: str, pages: Collection[str]) -> None:
        self.here = here
        self._pages = pages
        self.pictures: dict[str, bytes] = {}
        """Files that the page shows, by name."""

    def has(self, page: str) -> bool:
        return page in self._pages

    def page(self, page: str, anchor: str = "") -> str:
        """The address of a page of the site, or of a place in it."""
        if not self.has(page):
            raise KeyError(f"{self.here} links to {page}, which is no page of the site")
        if page == self.here and anchor:
            return f"#{anchor}"
        return self.file(f"{page}.html") + (f"#{anchor}" if anchor else "")

    def file(self, file: str) -> str:
        """The address of a file beside the pages."""
        return posixpath.relpath(file, posixpath.dirname(self.here) or ".")

    def picture(self, content: bytes) -> str:
        """The address of a picture that the page shows: equal ones are one file of the site."""
        name = f"pictures/{sha256(content).hexdigest()[:16]}.webp"
        self.pictures[name] = content
        return self.file(name)


def slug(name: str) -> str:
    """A name as part of an address: as it is if it is harmless, else its harmless letters and a digest of it."""
    safe = re.sub(r"[^a-z0-9._-]+", "-", name.lower()).strip("-.")
    return safe if safe and safe == name else f"{safe[:40]}-{sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
