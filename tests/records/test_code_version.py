import shutil
from pathlib import Path

import pytest

from benchsuite.cards import read_cards
from benchsuite.records import code_version as module
from benchsuite.records.code_version import code_version

METHOD = '''
"""A method."""
import torch
from benchsuite import Clock, Loss, Method, PairBatch, register_method
{imports}

@register_method("mine", title="Mine")
class Mine(Method):
    """Words."""

    tau: float = 0.5
    """What it is."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss(({call}) * 2)
'''
IMPORTS = {
    "from objectives.softmax": ("from benchsuite.objectives.softmax import info_nce", "info_nce(1, 2)"),
    "from objectives": ("from benchsuite.objectives import softmax", "softmax.info_nce(1, 2)"),
    "import objectives.softmax": ("import benchsuite.objectives.softmax as s", "s.info_nce(1, 2)"),
}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the package to edit, which code versions are read from."""
    copy = tmp_path / "m" / "benchsuite"
    shutil.copytree(module.ROOT, copy, ignore=shutil.ignore_patterns("__pycache__", "baselines"))
    monkeypatch.setattr(module, "ROOT", copy)
    return copy


def plugin(folder: Path, how: str = "from objectives.softmax") -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / "mine.py"
    imports, call = IMPORTS[how]
    file.write_text(METHOD.format(imports=imports, call=call), "utf-8")
    return file


def version(file: Path) -> str:
    return code_version(next(read_cards("method", file, "mine")))


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"""A method."""', '"""Another text."""'),
        ('    """Words."""', '    """Other words."""'),
        ('    """What it is."""\n', ""),
        ("import torch", "import torch  # a comment"),
        ("    def loss", "\n\n    # a comment\n    def loss"),
        (") * 2)", ")  *  2 )"),
        ("return Loss(", '"""Why."""\n        return Loss('),
    ],
)
def test_words_and_format_keep_the_version(house: Path, tmp_path: Path, old: str, new: str) -> None:
    file = plugin(tmp_path / "z")
    before = version(file)
    edit(file, old, new)
    assert version(file) == before


@pytest.mark.parametrize(("old", "new"), [("* 2)", "* 3)"), ("tau: float = 0.5", "tau: float = 0.6")])
def test_arithmetic_moves_the_version(house: Path, tmp_path: Path, old: str, new: str) -> None:
    file = plugin(tmp_path / "z")
    before = version(file)
    edit(file, old, new)
    assert version(file) != before


@pytest.mark.parametrize("how", IMPORTS)
def test_arithmetic_of_an_imported_objective_moves_the_version(house: Path, tmp_path: Path, how: str) -> None:
    file = plugin(tmp_path / "z", how)
    before = version(file)
    edit(house / "objectives" / "softmax.py", "0.5 * (cross", "0.25 * (cross")
    assert version(file) != before


def test_words_of_an_imported_objective_keep_the_version(house: Path, tmp_path: Path) -> None:
    file = plugin(tmp_path / "z")
    before = version(file)
    edit(house / "objectives" / "softmax.py", '"""Both directions', '"""The two directions')
    assert version(file) == before


def test_the_contract_moves_the_version_only_by_its_own(
    house: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A part more in a batch is no other arithmetic; the gate shows whether values changed."""
    file = plugin(tmp_path / "z")
    before = version(file)
    edit(house / "methods" / "base.py", "self.step / self.total_steps", "self.step / (self.total_steps + 1)")
    assert version(file) == before
    monkeypatch.setattr(module, "CONTRACT_VERSION", 2)
    assert version(file) != before


def test_an_unrelated_method_keeps_the_version(house: Path, tmp_path: Path) -> None:
    file = plugin(tmp_path / "z")
    before = version(file)
    edit(house / "methods" / "ts.py", "clock.progress", "clock.progress / 2")
    assert version(file) == before


def test_the_version_does_not_depend_on_where_the_file_lies(house: Path, tmp_path: Path) -> None:
    assert version(plugin(tmp_path / "a")) == version(plugin(tmp_path / "z"))
