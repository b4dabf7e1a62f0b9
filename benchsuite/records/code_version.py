"""Digest of a method's code: it changes with the arithmetic, not with docstrings and comments."""

import ast
import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from benchsuite.cards import Card
from benchsuite.records.schema import Record
from benchsuite.registry import methods

ROOT = Path(__file__).parents[1]
FOLLOWED = ("benchsuite.methods", "benchsuite.objectives")
PUBLIC = {"Head": "benchsuite.methods.heads", "Queue": "benchsuite.methods.queue"}
"""Where arithmetic among the names of the package's own `__init__` comes from."""
CONTRACT = ("benchsuite.methods", "benchsuite.methods.base", "benchsuite.methods.batch")
"""What all methods share. It is not followed: a part more in a batch must not put every record out of date."""
CONTRACT_VERSION = 1
"""Stands for these files. Raise it when what a method is given, or what becomes of its loss, changes in value."""


def code_version(card: Card) -> str:
    """Digest of the class's file and the method and objective modules it imports, without docstrings and comments."""
    sources = sorted(source.bare for source in _sources(Path(card.file)))
    return _digest((f"contract {CONTRACT_VERSION}", *sources))


def code_of(files: Iterable[Path]) -> str:
    """Digest of these files alone, without docstrings and comments."""
    found = sorted(files)
    return _digest(tuple(_read(file, (status := file.stat()).st_mtime_ns, status.st_size).bare for file in found))


class _Source(NamedTuple):
    """A file's code without its words, and the followed files that it imports."""

    bare: str
    imports: tuple[Path, ...]


def _sources(start: Path) -> list[_Source]:
    sources: dict[Path, _Source] = {}
    waiting = [start]
    while waiting:
        file = waiting.pop()
        if file not in sources and file.is_file():
            status = file.stat()
            sources[file] = _read(file, status.st_mtime_ns, status.st_size)
            waiting += sources[file].imports
    return list(sources.values())


@lru_cache(maxsize=256)
def _read(file: Path, changed: int, size: int) -> _Source:
    """Parsed once until the file changes: a report asks for each record."""
    tree = ast.parse(file.read_text("utf-8"))
    imports = tuple(path for name in _imports(tree) if (path := _module_file(name)))
    return _Source(_bare(tree), imports)


@lru_cache(maxsize=256)
def _digest(sources: tuple[str, ...]) -> str:
    return hashlib.sha256("\0".join(sources).encode()).hexdigest()[:16]


def _imports(tree: ast.Module) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            here = [alias.name for alias in node.names]
            public = node.module == "benchsuite"
            names += (
                [PUBLIC.get(n, "") for n in here] if public else [node.module, *(f"{node.module}.{n}" for n in here)]
            )
        elif isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
    return [name for name in names if name.startswith(FOLLOWED) and name not in CONTRACT]


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
    """Why the record is out of date; empty if it is not, or if its method is not registered here."""
    return f"measured with older code of {record.method.name}" if code_state(record) == "older" else ""


def code_state(record: Record) -> State:
    """Current or older code of the method; unknown if the method is not registered here: its plugin is not loaded."""
    name = record.method.name
    if name not in methods:
        return "unknown"
    return "current" if code_version(methods.card(name)) == record.method.code else "older"
