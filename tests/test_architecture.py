"""The walls of the house: which room may import which, and who may print."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import benchsuite

HOUSE = Path(benchsuite.__file__).parent
FLOORS = [
    {"objectives", "records", "registry", "setup", "cards", "canonical"}
    | {"errors", "fields", "paths", "streams", "toml_files", "torchvision_ops", "workers"},
    {"methods", "data", "papers"},
    {"models"},
    {"analysis", "training", "evaluation", "conformance"},
    {"report", "experiments"},
    {"cli", "__main__"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FORBIDDEN = [
    ("methods", {"training", "data", "models", "evaluation", "experiments", "records"}),
    ("objectives", set(FLOOR) - {"objectives"}),
    ("records", set(FLOOR) - FLOORS[0]),
    ("registry", set(FLOOR) - FLOORS[0]),
    ("report", {"training", "models", "data", "evaluation", "methods"}),
    ("analysis", {"training", "models", "data", "evaluation", "methods", "report"}),
]


def room_of(file: Path) -> str:
    return file.relative_to(HOUSE).with_suffix("").parts[0]


def files(room: str) -> list[Path]:
    return [file for file in sorted(HOUSE.rglob("*.py")) if room_of(file) == room]


def imported_modules(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}, line {node.lineno}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def imported_rooms(file: Path) -> set[str]:
    parts = [name.split(".") for name in imported_modules(file)]
    return {names[1] for names in parts if names[0] == "benchsuite" and len(names) > 1 and names[1] in FLOOR}


def test_every_room_has_a_floor() -> None:
    assert {room_of(file) for file in HOUSE.rglob("*.py")} - {"__init__"} == set(FLOOR)


@pytest.mark.parametrize("room", sorted(FLOOR))
def test_arrows_never_point_up(room: str) -> None:
    for file in files(room):
        above = {other for other in imported_rooms(file) if FLOOR[other] > FLOOR[room]}
        assert not above, f"{file} imports {above}"


@pytest.mark.parametrize(("room", "forbidden"), FORBIDDEN)
def test_walls_hold(room: str, forbidden: set[str]) -> None:
    assert files(room)
    for file in files(room):
        assert not imported_rooms(file) & forbidden, f"{file} imports {imported_rooms(file) & forbidden}"


@pytest.mark.parametrize("room", ["report", "analysis", "papers", "records", "registry", "cards", "fields", "setup"])
def test_light_rooms_never_name_torch(room: str) -> None:
    for file in files(room):
        assert "torch" not in {name.split(".")[0] for name in imported_modules(file)}, file


def prints(file: Path) -> Iterator[int]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in ("print", "typer.echo", "sys.stdout.write", "sys.stderr.write"):
                yield node.lineno


def test_only_the_command_line_prints() -> None:
    found = {file: list(prints(file)) for file in HOUSE.rglob("*.py") if room_of(file) != "cli"}
    assert {file: lines for file, lines in found.items() if lines} == {}
    assert any(list(prints(file)) for file in files("cli"))


@pytest.mark.parametrize("room", ["methods", "objectives"])
def test_methods_never_see_ranks_devices_or_files(room: str) -> None:
    for file in files(room):
        names = set(imported_modules(file))
        assert not {name for name in names if name.startswith(("torch.distributed", "torch.optim", "deepspeed"))}
        assert not {name for name in names if name.split(".")[0] in ("os", "pathlib", "io", "random")}
