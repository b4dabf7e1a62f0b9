"""The reference, made from the code before Sphinx reads the pages. It is not committed."""

from pathlib import Path
from typing import Any

from generate import commands, methods, notebooks, papers, python_api

FOLDER = "reference"
ROOMS = (commands, methods, notebooks, papers, python_api)


def pages() -> dict[str, str]:
    """Every page by its name in the folder, in Markdown."""
    made = {}
    for room in ROOMS:
        made.update(room.pages())
    return made


def write(source: Path) -> None:
    """The pages as files; those that are no longer made are removed, those that are equal keep their date."""
    folder = source / FOLDER
    made = {folder / f"{name}.md": text for name, text in pages().items()}
    for file in set(folder.rglob("*.md")) - set(made):
        file.unlink()
    for file, text in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.is_file() or file.read_text("utf-8") != text:
            file.write_text(text, "utf-8")


def setup(app: Any) -> dict[str, bool]:
    """What Sphinx calls."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True}
