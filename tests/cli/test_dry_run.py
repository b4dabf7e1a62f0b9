"""`benchsuite run --dry-run`: what would be done and whether it can be, without doing it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from support import tiny_tuning
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, fill
from support.tiny_recipes import VECTORS

from benchsuite.execution.events import Failed
from benchsuite.planning.plan import plan_run
from benchsuite.work.duration import without_data
from benchsuite.work.session import failure

MINE = """
    from benchsuite import Method, register_method
    from benchsuite.objectives.softmax import info_nce

    @register_method("mine")
    class Mine(Method):
        def loss(self, batch, clock):
            return info_nce(batch.image @ batch.text.T, 0.1)
"""
RECIPE = VECTORS.replace("hidden = 16 } } }", "hidden = 16 } }, step_seconds = 30 }")


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: None) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "tiny.toml"
    file.write_text(RECIPE)
    return file


def test_a_dry_run_tells_the_run_its_time_and_whether_it_is_stored(
    recipe: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("run", "infonce", "--recipe", recipe)
    assert exit_code(*command, "--dry-run") == 0
    state, run_id, label = capsys.readouterr().out.strip().split("  ")
    assert (state, label) == (
        "to do",
        "mlp infonce seed 0; about 75 s with 1 in parallel "
        "(without evaluation, whose time is known once a run is stored)",
    )
    assert not Path("runs").exists()
    assert exit_code(*command) == 0
    assert f"run {run_id}" in capsys.readouterr().out
    assert exit_code(*command, "--dry-run") == 0
    assert capsys.readouterr().out == f"stored  {run_id}  mlp infonce seed 0\n"
    assert exit_code(*command, "--seed", "1", "--dry-run") == 0
    assert capsys.readouterr().out.endswith(" s with 1 in parallel (evaluation included)\n")


@pytest.mark.parametrize(
    ("precision", "said"), [("bf16", ": about 16 min of a GPU that trains 2,000 a second"), ("fp32", "\n")]
)
def test_without_a_known_time_a_dry_run_counts_pairs(
    recipe: Path, capsys: pytest.CaptureFixture[str], precision: str, said: str
) -> None:
    """Steps, losses of a step and batch: 30,000 times 2 times 32. A GPU was measured in bf16 alone."""
    long = VECTORS.replace("steps = 2", f'steps = 30_000, accumulation = 2, precision = "{precision}"')
    assert long != VECTORS
    recipe.write_text(long)
    assert exit_code("run", "infonce", "--recipe", recipe, "--dry-run") == 0
    assert f"together 1,920,000 pairs{said}" in capsys.readouterr().out


def test_a_dry_run_finds_what_the_run_would_be_refused_for(recipe: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recipe.write_text(RECIPE.replace("batch = 32", "batch = 320"))
    assert exit_code("run", "infonce", "--recipe", recipe, "--dry-run") == 2
    assert "320 is larger than split train" in capsys.readouterr().err
    assert not Path("runs").exists()


def test_an_added_row_without_its_reference_is_told(
    tmp_path: Path,
    plugin_file: Callable[..., Path],
    make_record: MakeRecord,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A reference that was asked for before is there."""
    monkeypatch.chdir(tmp_path)
    note = "note: no verdict on RN50/mine without its reference, RN50/InfoNCE: --rows infonce,mine"
    command = "repro", "temo/table1", "--scale", "small", "--plugin", plugin_file(MINE), "--dry-run"
    for rows, results, told in (("mine", "new", True), ("infonce,mine", "new", False), ("mine", "stored", False)):
        fill(tmp_path / "stored", make_record, {"InfoNCE": LOW, "TeMo": HIGH})
        assert exit_code(*command, "--rows", rows, "--results", results) == 0
        assert (note in capsys.readouterr().out) == told


@pytest.mark.parametrize(("total", "said"), [(1, "the run failed."), (2, "1 of 2 runs failed; the others are stored.")])
def test_a_failure_speaks_of_others_where_there_are_some(recipe: Path, total: int, said: str) -> None:
    failed = Failed(plan_run("infonce", str(recipe), "mlp", 0, {}), "the loss is nan")
    assert failure([failed], total, Path("logs")).lines[0] == said


def test_a_table_s_plan_has_a_line_for_each_row_and_regime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny_tuning.own_folder(Path("own"))
    assert (
        exit_code("repro", tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--rows", "TS", "--dry-run") == 0
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if "to do" in line][1:]
    assert lines == [
        f"  mlp TS {part}{regime}: 2 replicates to do" for regime in (", as printed", "") for part in ("end", "start")
    ]


def test_a_row_that_is_not_run_is_named_once_for_both_regimes(
    in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("repro", "mm-ts/table6", "--scale", "latents", "--replicates", "1", "--regime", "both", "--dry-run")
    assert exit_code(*command, "--rows", "headlines") == 0
    (said,) = (line for line in capsys.readouterr().out.splitlines() if "VAST-v(video)" in line)
    assert said.startswith("  not run  mm-ts/table6 VAST/video clusters/VAST-v(video): clusters come from captions")


def test_of_a_paper_headlines_are_rows_of_the_tables_that_have_some(
    in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("repro", "modality-gap", "--scale", "smoke", "--seeds", "1", "--regime", "printed", "--dry-run")
    assert exit_code(*command, "--rows", "headlines") == 0
    said = capsys.readouterr().out
    assert said.startswith("4 tables at scale smoke")
    assert "modality-gap/table3 RN50 4.00E-02" in said
    assert "modality-gap/table3 RN50 2.00E-02" not in said
    assert "figure" not in said
    assert exit_code("repro", "modality-gap/figure2", "--scale", "smoke", "--rows", "headlines", "--dry-run") == 2
    assert "modality-gap/figure2 makes no headline claim" in capsys.readouterr().err


def test_without_data_a_table_s_dry_run_says_what_a_run_takes(
    in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """Steps and batch of cc3m-paper: 42,480 times 2,048."""
    assert exit_code("repro", "mm-ts/table1", "--scale", "paper", "--dry-run") == 2
    said = capsys.readouterr()
    assert "mm-ts/table1 at scale paper: 0 runs, 0 to do, and 2 rows that cannot be planned yet.\n" in said.out
    assert "recipe cc3m-paper: a run sees 86,999,040 pairs: about 12 hours of a GPU" in said.out
    assert "up to 8 devices can share it" in said.out
    assert "cc3m: no folder was given" in said.err


def test_without_data_a_recipe_for_a_cpu_takes_its_own_seconds(
    in_process: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """400 steps of 0.15 s, and a recipe that says no seconds."""
    assert exit_code("repro", "temo/table1", "--scale", "emoji", "--dry-run") == 2
    assert "a run sees 51,200 pairs: about 60 s of InfoNCE on a core" in capsys.readouterr().out
    assert without_data("finetune-tiny").endswith(" pairs")


def test_tune_takes_a_backbone_with_a_slash(in_process: None, capsys: pytest.CaptureFixture[str]) -> None:
    command = ("tune", "temo/table1", "--scale", "latents", "--replicates", "1", "--dry-run", "--regime", "printed")
    assert exit_code(*command, "--backbone", "ViT-B/16") == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert len(rows) == 5
    assert all(row.startswith("  ViT-B/16 ") for row in rows)
    assert exit_code(*command, "--backbone", "ViT-B") == 2
