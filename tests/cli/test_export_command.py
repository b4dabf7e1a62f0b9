import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, fill

import benchsuite
from benchsuite.cli.export import harmless_texts

command = partial(exit_code, "export")


@pytest.fixture
def runs(tmp_path: Path, make_record: MakeRecord) -> Path:
    return fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH})


def test_all_runs_are_the_data_frame(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = benchsuite.load_results(runs)
    assert command("--all", "--format", "parquet", "--out", tmp_path / "all.parquet", "--results", runs) == 0
    assert "8 runs, 24 rows" in capsys.readouterr().out
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "all.parquet"), frame, check_dtype=False)
    assert command("--all", "--results", runs) == 0
    (tmp_path / "all.csv").write_text(capsys.readouterr().out)
    assert pd.read_csv(tmp_path / "all.csv").value.tolist() == frame.value.tolist()


CROISSANT = """
import json, mlcroissant
read = mlcroissant.Dataset(jsonld="all/croissant.json")
rows = [[row["results/value"], row["results/metric"].decode(), row["results/seed"]]
        for row in read.records(record_set="results")]
issues = [*read.metadata.ctx.issues.errors, *read.metadata.ctx.issues.warnings]
context = mlcroissant.Metadata(name="any").to_json()["@context"]
fields = [field.name for field in read.metadata.record_sets[0].fields]
print(json.dumps([rows, [*map(str, issues)], context, fields]))
"""
"""In a process of its own: absl, which it imports, closes the file to which a test's output goes."""


def test_croissant_reads_all_runs(runs: Path, tmp_path: Path) -> None:
    frame = benchsuite.load_results(runs)
    assert command("--all", "--format", "croissant", "--out", tmp_path / "all", "--results", runs) == 0
    read = subprocess.run([sys.executable, "-c", CROISSANT], cwd=tmp_path, capture_output=True, text=True, check=True)
    rows, issues, context, fields = json.loads(read.stdout.splitlines()[-1])
    assert issues == []
    assert rows == frame[["value", "metric", "seed"]].to_numpy().tolist()
    assert context == json.loads((tmp_path / "all" / "croissant.json").read_text("utf-8"))["@context"]
    assert fields == [*frame.columns]


def test_a_table_goes_to_a_file(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("temo/table1", "--format", "csv", "--results", runs) == 0
    printed = capsys.readouterr().out
    assert command("temo/table1", "--format", "csv", "--results", runs, "--out", tmp_path / "table.csv") == 0
    assert (tmp_path / "table.csv").read_text("utf-8") == printed


def test_the_options_choose_what_is_printed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = ("--show", "ours", "--spread", "sd", "--digits", "2")
    assert command("temo/table1", "--results", runs, *plain) == 0
    table, _, about = capsys.readouterr().out.partition("\n\n")
    assert table.splitlines()[2].startswith("| RN50: InfoNCE | 11.75 ± 1.26 |")
    assert "Mean ± standard deviation over 4 seeds." in about


def test_a_broken_record_is_skipped_with_exit_code_1(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = next(runs.glob("*.json"))
    broken.write_text("{}")
    assert command("--all", "--results", runs) == 1
    told = capsys.readouterr()
    assert len(told.out.splitlines()) == 1 + 21
    assert broken.name in told.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "name one table, or give --all"),
        (["temo/table1", "--all"], "name one table, or give --all"),
        (["--all", "--format", "latex"], "all runs are exported as csv, parquet or croissant"),
        (["temo/table1", "--format", "parquet"], "a table is exported as csv, json, latex or md"),
        (["--all", "--format", "parquet"], "--out results.parquet"),
        (["temo/tabel1"], 'Did you mean "temo/table1"'),
        (["--all"], "does not exist"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(*arguments, "--results", "nowhere") == 2
    assert says in capsys.readouterr().err


def test_texts_of_all_runs_are_no_formulas_and_numbers_are_the_same() -> None:
    switches = pd.array([True, None], dtype="boolean")
    frame = pd.DataFrame({"=name": ["=1+1", None], "value": [-0.5, float("nan")], "on": switches, "hp": [-1, "-x\n"]})
    found = harmless_texts(frame)
    assert found.columns.tolist() == ["'=name", "value", "on", "hp"]
    assert found.iloc[0].tolist() == ["'=1+1", -0.5, True, -1]
    assert found.hp[1] == "'-x\\n"
    assert found.iloc[:, :3].isna().to_numpy().tolist() == [[False, False, False], [True, True, True]]
    pd.testing.assert_series_equal(found.value, frame.value)
    plain = pd.DataFrame({"row": ["RN50/TeMo", None], "value": [-0.5, 1e-9], "on": switches})
    pd.testing.assert_frame_equal(harmless_texts(plain), plain)


@pytest.mark.parametrize("option", [("--scale", "small"), ("--regime", "tuned"), ("--digits", 2), ("--show", "ours")])
def test_options_of_a_table_do_not_go_with_all_runs(
    runs: Path, option: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("--all", "--results", runs, *option) == 2
    assert "--all is of all runs as they are" in capsys.readouterr().err


def test_a_folder_without_the_table_says_how_to_fill_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "my runs"
    folder.mkdir()
    assert command("temo/table1", "--results", folder) == 2
    assert f"Run `benchsuite repro temo/table1 --results '{folder}'` first" in capsys.readouterr().err
    (tmp_path / "file").write_text("")
    assert command("temo/table1", "--results", tmp_path / "file") == 2
    assert "file is no folder" in capsys.readouterr().err
