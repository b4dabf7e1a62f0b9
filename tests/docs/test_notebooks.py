"""The notebooks run from top to bottom, and are committed without outputs."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.files_of import module_of

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def texts(notebook: Any) -> str:
    """What the cells printed, and data frames as text."""
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return "\n".join("".join(o.get("text", o.get("data", {}).get("text/plain", ""))) for o in outputs)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
def test_nothing_that_a_run_leaves_is_committed(file: Path) -> None:
    cells = [cell for cell in json.loads(file.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert [cell for cell in cells if cell["outputs"] or cell["execution_count"] is not None] == []


@pytest.fixture
def executed(tmp_path: Path) -> Any:
    """Runs a notebook as `docs/notebooks/execute.py` does."""
    pytest.importorskip("nbclient", reason="nbclient and ipykernel are of the extra `test`")
    module = module_of(FOLDER / "execute.py")
    return lambda name: module.execute(FOLDER / f"{name}.ipynb", tmp_path)


def test_the_notebook_on_a_loss_ends_in_a_verdict_and_a_plot(executed: Any) -> None:
    notebook = executed("is-my-loss-better")
    shown = texts(notebook)
    assert "6 runs, 6 to do, 18 trials first" in shown
    assert "1 headline claim: 1 " in shown
    assert "MLP/Mine beats MLP/InfoNCE on Test R@10 (headline): " in shown
    assert "image/png" in notebook["cells"][-2]["outputs"][-1]["data"]


def test_the_notebook_on_the_leaderboard_reads_the_published_results(executed: Any) -> None:
    notebook = executed("leaderboard-as-a-data-frame")
    shown = texts(notebook)
    assert "amclr/table1" in shown
    assert "TeMo" in shown
    pictures = [o for cell in notebook["cells"] for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]
    assert len(pictures) == 1
