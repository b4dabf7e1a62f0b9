"""Which code computed a method: a digest that moves when its arithmetic may have, and not when its words do."""

import ast
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from benchsuite.cards import Card
from benchsuite.records.schema import Record
from benchsuite.registry import methods

ROOT = Path(__file__).parents[1]
FOLLOWED = ("benchsuite.methods", "benchsuite.objectives")


def code_version(card: Card) -> str:
    """Digest of the class's file and the method and objective modules it imports, without docstrings and comments."""
    known = _known.get((ROOT, card.file))
    if known is None or any(_stamp(file) != stamp for file, stamp in known.stamps.items()):
        stamps = {file: _stamp(file) for file in _files(Path(card.file))}
        sources = sorted(_read(file).bare for file in stamps)
        known = _Known(hashlib.sha256("\0".join(sources).encode()).hexdigest()[:16], stamps)
        _known[ROOT, card.file] = known
    return known.version


class _Known(NamedTuple):
    """A version, for as long as no file that it was read from changes."""

    version: str
    stamps: dict[Path, tuple[int, int] | None]


_known: dict[tuple[Path, str], _Known] = {}
"""By root and file of the class: a report asks for each record."""


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _files(start: Path) -> set[Path]:
    files: set[Path] = set()
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in files and file.is_file():
            files.add(file)
            waiting += [f for name in _read(file).imports if (f := _module_file(name))]
    return files


class _Source(NamedTuple):
    """What a file computes, and what it takes from elsewhere."""

    bare: str
    imports: tuple[str, ...]


def _read(file: Path) -> _Source:
    return _parsed(file.read_text("utf-8"))


@lru_cache(maxsize=256)
def _parsed(text: str) -> _Source:
    tree = ast.parse(text)
    imports = tuple(_imports(tree))
    return _Source(_bare(tree), imports)


def _imports(tree: ast.Module) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            module = "benchsuite.methods.base" if node.module == "benchsuite" else node.module
            names += [module, *(f"{module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.startswith(FOLLOWED)]


def _module_file(name: str) -> Path | None:
    path = ROOT.joinpath(*name.split(".")[1:])
    return next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.is_file()), None)


def _bare(tree: ast.Module) -> str:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            node.body = [item for item in node.body if not _is_text(item)] or [ast.Pass()]
    return ast.unparse(tree)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


State = Literal["current", "older", "unknown"]


def stale(record: Record) -> str:
    """Why the record is out of date, for whoever shows it; nothing if it is not, or if its method is not known here."""
    return f"measured with older code of {record.method.name}" if code_state(record) == "older" else ""


def code_state(record: Record) -> State:
    """Current or older code of the method; unknown if the method is not registered here: its plugin is not loaded."""
    name = record.method.name
    if name not in methods:
        return "unknown"
    return "current" if code_version(methods.card(name)) == record.method.code else "older"
