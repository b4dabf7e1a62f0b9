"""--plugin where results are shown: what it tells the pages, and that they do without it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support.commands import exit_code
from support.made_records import MakeRecord
from support.planned import request_of, results_of, setup_of

from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import Result
from benchsuite.records.store import Store
from benchsuite.setup import Protocol

PLUGIN = '''
from benchsuite import register_method, register_task

@register_method("mine", title="Mine of today", paper="me2026", equation=r"x^2")
class Mine:
    """Says what it does."""

@register_task("my-task", title="My task", version=1, metrics=(), measures=("error",), headline="error", better="lower")
class MyTask:
    """Measures errors."""
'''
DO_WITHOUT = ["not registered here: its plugin is not loaded", "Mine of the record", "my-task"]
KNOWN = ["<math", "Says what it does.", "Mine of today", "My task"]


@pytest.fixture
def folder(tmp_path: Path, make_record: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two configurations of a method and a task that nobody here knows, added to a built-in table."""
    store = Store(tmp_path / "runs")
    store.require_writable()
    setup = make_record()[0].setup
    setup = setup.model_copy(update={"protocols": {"errors": Protocol(task="my-task", version=1)}})
    results = {"errors": Result(task="my-task", version=1, metrics={}, measures={"error": 0.5}, counts={})}
    for tau in (0.1, 0.2):
        part = {"name": "mine", "title": "Mine of the record", "hyperparameters": {"tau": tau}}
        method = make_record()[0].method.model_copy(update=part)
        record, ranks = make_record(setup=setup, results=results, method=method)
        store.write(record, ranks)
    setup = setup_of(read_recipe("scenes-small"), "RN50")
    store.write(*make_record(setup=setup, results=results_of(setup, {}), method=method))
    store.add_request(request_of("temo/table1", "small", added=[{"method": "mine", "backbone": "RN50"}]))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def text_of_pages(folder: Path) -> str:
    return "\n".join(page.read_text() for page in (folder / "reports").rglob("*.html"))


def test_pages_without_the_plugin_show_its_records_and_say_so(folder: Path) -> None:
    assert exit_code("report") == 0
    pages = text_of_pages(folder)
    assert [text for text in (*DO_WITHOUT, *KNOWN) if text not in pages] == KNOWN
    assert 'class="rank"' not in pages, "what is better is not known"
    assert "(task not registered here" in pages


def test_pages_with_the_plugin_have_its_titles_equation_and_direction(
    folder: Path, plugin_file: Callable[..., Path]
) -> None:
    assert exit_code("report", "--plugin", str(plugin_file(PLUGIN))) == 0
    pages = text_of_pages(folder)
    assert [text for text in KNOWN if text not in pages] == []
    assert "not registered here" not in pages
    assert 'class="rank"' in pages


@pytest.mark.parametrize(
    "arguments", [["report"], ["claims", "temo"], ["export", "temo/table1"], ["export", "--all"], ["verify", "runs"]]
)
def test_commands_that_show_results_load_a_plugin(
    folder: Path, plugin_file: Callable[..., Path], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(*arguments, "--plugin", str(plugin_file("1 / 0"))) == 2
    assert "mine.py failed to import: ZeroDivisionError" in capsys.readouterr().err
