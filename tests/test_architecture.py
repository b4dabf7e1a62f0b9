"""The order of the package: which room may import which, and who may print."""

import ast
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import benchsuite

PACKAGE = Path(benchsuite.__file__).parent
FLOORS = [
    ["errors"],
    ["files", "harmless"],
    ["fields", "grouping", "parts", "paths", "running", "streams", "torchvision_ops", "type_words", "workers"],
    ["canonical", "folders", "toml_files", "tower_settings"],
    ["objectives"],
    ["cards"],
    ["registry"],
    ["methods"],
    ["setup"],
    ["data"],
    ["models"],
    ["papers"],
    ["records"],
    ["evaluation"],
    ["training"],
    ["planning"],
    ["analysis"],
    ["conformance", "scaffolds"],
    ["report"],
    ["execution"],
    ["cluster", "doctor", "encoders", "gate", "verify"],
    ["work"],
    ["cli"],
    ["__main__"],
]
"""From below. Rooms on one floor do not import each other; the package's own `__init__` stands below all."""
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FORBIDDEN = [
    ("methods", set(FLOOR) - {"methods", "objectives", "registry", "cards", "fields", "errors"}),
    ("objectives", set(FLOOR) - {"objectives"}),
    ("papers", {"models", "data", "methods"}),
    ("records", {"models", "data", "methods", "papers"}),
    ("report", {"training", "models", "data", "evaluation", "methods"}),
    ("analysis", {"training", "models", "data", "evaluation", "methods"}),
]
"""Walls that the floors alone do not build."""


def room_of(file: Path) -> str:
    return file.relative_to(PACKAGE).with_suffix("").parts[0]


def files(room: str) -> list[Path]:
    return [file for file in sorted(PACKAGE.rglob("*.py")) if room_of(file) == room]


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {name_of(file): file for file in PACKAGE.rglob("*.py")}


def imported_names(tree: ast.AST, file: Path) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}, line {node.lineno}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def imported_modules(file: Path) -> set[str]:
    """Also those that are imported inside of a function, or for types alone."""
    return set(imported_names(ast.parse(file.read_text("utf-8")), file))


def own_modules(file: Path) -> set[str]:
    """The modules of the package that a file imports."""
    names = (name if name in MODULES else name.rpartition(".")[0] for name in imported_modules(file))
    return {name for name in names if name in MODULES} - {name_of(file)}


def imported_rooms(file: Path) -> set[str]:
    return {room_of(MODULES[name]) for name in own_modules(file)} & set(FLOOR)


def circle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """Names that lead back to the first of them; none if the graph has no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_every_room_has_one_floor() -> None:
    assert sorted(room for rooms in FLOORS for room in rooms) == sorted(FLOOR)
    assert {room_of(file) for file in PACKAGE.rglob("*.py")} - {"__init__"} == set(FLOOR)


@pytest.mark.parametrize("room", sorted(FLOOR))
def test_arrows_only_point_down(room: str) -> None:
    for file in files(room):
        wrong = {other for other in imported_rooms(file) if other != room and FLOOR[other] >= FLOOR[room]}
        assert not wrong, f"{file} imports {wrong}"


@pytest.mark.parametrize("room", sorted(FLOOR))
def test_no_circle_inside_of_a_room(room: str) -> None:
    own = {name_of(file) for file in files(room)}
    assert circle({name: own_modules(MODULES[name]) & own for name in own}) == []


def test_a_circle_is_seen() -> None:
    assert set(circle({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})) == {"a", "b", "c"}
    assert "benchsuite.records.schema" in own_modules(MODULES["benchsuite.records.store"])


@pytest.mark.parametrize(("room", "forbidden"), FORBIDDEN)
def test_walls_hold(room: str, forbidden: set[str]) -> None:
    assert files(room)
    for file in files(room):
        assert not imported_rooms(file) & forbidden, f"{file} imports {imported_rooms(file) & forbidden}"


@pytest.mark.parametrize("room", ["report", "analysis", "papers", "records", "registry", "cards", "fields", "setup"])
def test_light_rooms_never_name_torch(room: str) -> None:
    for file in files(room):
        assert "torch" not in {name.split(".")[0] for name in imported_modules(file)}, file


PRINTING = {"print", "typer.echo", "typer.secho", "click.echo", "sys.stdout.write", "sys.stderr.write",
            "traceback.print_exc"}  # fmt: skip


def prints(file: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTING:
            yield node.lineno


def test_one_module_of_the_command_line_prints() -> None:
    printing = {file.relative_to(PACKAGE).as_posix() for file in PACKAGE.rglob("*.py") if list(prints(file))}
    assert printing == {"cli/shared/terminal.py"}


@pytest.mark.parametrize("room", ["methods", "objectives"])
def test_methods_never_see_ranks_devices_or_files(room: str) -> None:
    for file in files(room):
        names = imported_modules(file)
        assert not {name for name in names if name.startswith(("torch.distributed", "torch.optim", "deepspeed"))}
        assert not {name for name in names if name.split(".")[0] in ("os", "pathlib", "io", "random")}
