"""Wrong usage: one message that says what was wrong and what would be right, exit code 2, nothing started."""

from pathlib import Path

import pytest

from benchsuite.cli import main

REPRO = ["repro", "temo/table1", "--scale", "smoke"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["repro", "temo/tabel1"],
            'table "temo/tabel1" does not exist. Did you mean "temo/table1"? `benchsuite list tables` shows all.',
        ),
        (
            ["repro", "temo/table1", "--scale", "huge"],
            'scale "huge" does not exist '
            "(known: emoji, features, finetune, gpu, icons-features, latents, own-features, paper, small, smoke)",
        ),
        ([*REPRO, "--rows", "tmeo"], 'row "tmeo" does not exist'),
        ([*REPRO, "--seeds", "some"], '--replicates "some": give how many (3), or different ones with commas (4,7)'),
        ([*REPRO, "--results", "/proc/runs"], "--results /proc/runs: No such file or directory"),
        ([*REPRO, "--report", "/proc/pages"], "--report /proc/pages: No such file or directory"),
        ([*REPRO, "--plugin", "fails.py"], "plugin fails.py failed to import: ZeroDivisionError: division by zero"),
        (["run", "infonze"], 'Did you mean "infonce"'),
        (["run", "temo", "--set", "tau_aplha=0.1"], 'Did you mean "tau_alpha"?'),
        (["run", "temo", "--set", "tau=-1"], "tau = '-1' is not possible: Input should be greater than 0"),
        (["run", "ts", "--set", "tau_min=0.5"], "tau_min"),
        (["run", "temo", "--set", "tau"], "write name=value"),
        (["run", "temo", "--backbone", "RN51"], 'backbone "RN51" does not exist'),
        (
            ["run", "temo", "--recipe", "scenes-image-smoke", "--backbone", "ResNet-18"],
            "temo trains an image and a text tower; the setup has an image tower alone.",
        ),
        (["report", "--results", "absent"], "results folder absent does not exist"),
    ],
)
def test_wrong_usage_is_one_clear_message(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fails.py").write_text("1 / 0\n")
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    printed = capsys.readouterr()
    assert stop.value.code == 2
    assert told in printed.err
    assert printed.err.startswith("benchsuite: ")
    assert "Traceback" not in printed.err
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["repro"], ["list", "nothing"], ["repro", "--jobs", "0", "temo/table1"]]
)
def test_what_the_parser_refuses_is_wrong_usage_too(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "Usage: benchsuite" in capsys.readouterr().err


def test_debug_shows_the_traceback_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "infonze", "--debug"])
    assert "Traceback" in capsys.readouterr().err
