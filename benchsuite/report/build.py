"""A site's files, built aside and then shown: at every moment each is whole, and links lead somewhere.

Files take their names one by one, in an order: new names first, then what is replaced, the home page last, and what
is old goes at the end. So every page that the home page leads to finds what it links to, also if the process is killed
in between. The folder itself stays: whoever serves it, or has it mounted, sees the new pages.
"""

import glob
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import uuid4

from benchsuite.files import remove, writing_to

GENERATOR = b'<meta name=generator content="benchsuite'
"""In every page: pages of earlier builds are recognised by it."""
DOWNLOAD = re.compile(rb"href=([a-z0-9._-]+) download")
FOLDERS = ("tables", "methods", "claims", "compare", "tuning", "runs")
"""Of pages."""
HOME = "index.html"
BUILD = ".build-"
"""What the folder of drafts begins with. Drafts have no endings: half a site must not be taken for pages."""


@dataclass
class Build:
    """Files of a site that are not shown yet."""

    folder: Path
    aside: Path
    drafts: dict[str, Path] = field(default_factory=dict)
    """By name in the site."""

    def add(self, name: str, content: bytes) -> Path:
        """Write a draft; processes that help to build send theirs home."""
        draft = self.drafts[name] = self.aside / uuid4().hex
        with writing_to(self.folder, "--report"):
            draft.write_bytes(content)
        return draft

    def show(self) -> None:
        """Put all in place, and remove pages of earlier builds with their data files; files of anyone else stay."""
        places = {self.folder / name: draft for name, draft in self.drafts.items()}
        home = self.folder / HOME
        offered = {file for place in places if place.exists() for file in _offered(place)}
        with writing_to(self.folder, "--report"):
            for place in sorted(places, key=lambda place: (place == home, place.exists())):
                place.parent.mkdir(parents=True, exist_ok=True)
                places[place].replace(place)
            for file in [*old_files(self.folder, places), *(offered - {*places})]:
                file.unlink(missing_ok=True)


@contextmanager
def building(folder: Path) -> Iterator[Build]:
    """A build for the folder, of which the caller has the lock. Drafts that are not shown are removed."""
    for left in folder.glob(f"{BUILD}*"):
        remove(left)
    aside = folder / f"{BUILD}{uuid4().hex}"
    with writing_to(folder, "--report"):
        aside.mkdir()
    try:
        yield Build(folder, aside)
    finally:
        remove(aside)


def _offered(place: Path) -> set[Path]:
    """The data files beside a page of an earlier build that it leads to."""
    content = place.read_bytes() if place.suffix == ".html" else b""
    names = DOWNLOAD.findall(content) if GENERATOR in content[:2000] else ()
    return {place.parent / name.decode() for name in names}


def old_files(folder: Path, shown: Collection[Path]) -> Iterator[Path]:
    """Pages of earlier builds, each after its data files, which are found by it."""
    every = (page for name in FOLDERS for page in sorted((folder / name).rglob("*.html")))
    pages = [page for page in every if page not in shown and GENERATOR in page.read_bytes()[:2000]]
    for page in pages:
        name = glob.escape(page.stem)
        yield from {*page.parent.glob(f"{name}.*"), *page.parent.glob(f"{name}-*.csv")} - {*shown, *pages}
        yield page
