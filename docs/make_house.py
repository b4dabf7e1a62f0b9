"""Write docs/maintainers/house.md, the map of the house, from the code; with --check only say whether it is current."""

import argparse
import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "benchsuite"
PAGE = ROOT / "docs" / "maintainers" / "house.md"
WALLS = ROOT / "tests" / "test_architecture.py"
HEAD = """# The house

A map of `benchsuite/`, made from the code by `python docs/make_house.py`. A room is a folder or a module; it imports
only rooms below it. `tests/test_architecture.py` states the floors and checks them.
"""


def floors() -> list[list[str]]:
    """The rooms, from below, as the test of the architecture states them."""
    for node in ast.parse(WALLS.read_text("utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "FLOORS":
            stated: list[list[str]] = ast.literal_eval(node.value)
            return stated
    raise SystemExit(f"{WALLS} states no FLOORS")


def files_of(room: str) -> list[Path]:
    """The modules of a room."""
    folder = PACKAGE / room
    return sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]


def purpose(file: Path) -> str:
    """The first sentence of a module's docstring."""
    text = " ".join((ast.get_docstring(ast.parse(file.read_text("utf-8"))) or "").split())
    return re.split(r"(?<=[.!?]) (?=[A-Z`])", text)[0].replace("|", "\\|")


def imports(room: str, rooms: set[str]) -> list[str]:
    """Other rooms that a room imports."""
    names = set()
    for file in files_of(room):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            modules = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            if modules == ["benchsuite"] and isinstance(node, ast.ImportFrom):
                modules = [f"benchsuite.{alias.name}" for alias in node.names]
            modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names |= {module.split(".")[1] for module in modules if module.startswith("benchsuite.")}
    return sorted(names & rooms - {room})


def page() -> str:
    """The whole map: a row for each room, from the top floor down."""
    stated = floors()
    rooms = {room for floor in stated for room in floor}
    lines = [HEAD, "| floor | room | what it is for | imports |", "|---|---|---|---|"]
    for number, floor in reversed(list(enumerate(stated, 1))):
        for room in floor:
            folder = PACKAGE / room
            about = purpose(folder / "__init__.py" if folder.is_dir() else files_of(room)[0])
            others = ", ".join(f"`{other}`" for other in imports(room, rooms)) or "–"
            lines.append(f"| {number} | `{room}{'/' * folder.is_dir()}` | {about} | {others} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the page, or compare it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="Exit code 1 if the page is not current.")
    if not parser.parse_args().check:
        PAGE.write_text(page(), "utf-8")
    elif not PAGE.exists() or PAGE.read_text("utf-8") != page():
        sys.exit("docs/maintainers/house.md is not current: run `python docs/make_house.py`.")


if __name__ == "__main__":
    main()
