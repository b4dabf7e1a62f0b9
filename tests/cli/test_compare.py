"""`benchsuite compare`: the question, the budget, the answer, and runs that come with benchsuite."""

import json
import lzma
import re
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from support import tiny_tuning
from support.commands import exit_code
from support.shipping import ship

from benchsuite.cli.compare import Question
from benchsuite.cli.shared.training_options import TrainingOptions
from benchsuite.records import shipped
from benchsuite.records.contents import read_contents
from benchsuite.records.store import Store

MINE = """
    from benchsuite import Method, register_method
    from benchsuite.fields import Temperature
    from benchsuite.objectives.softmax import info_nce

    @register_method("mine", title="Mine")
    class Mine(Method):
        "InfoNCE, warm."

        tau: Temperature = 0.2

        def loss(self, batch, clock):
            return info_nce(batch.image @ batch.text.T, self.tau)
"""
SECONDS = 10.0
TOOL = Path(__file__).parents[2] / "tools" / "ship_runs.py"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plugin_file: Callable[..., Path], in_process: None) -> None:
    """A folder with `mine.py` and `tiny.toml`, a recipe whose runs take a moment; the pace is not measured."""
    monkeypatch.chdir(tmp_path)
    plugin_file(MINE)
    Path("tiny.toml").write_text(
        tiny_tuning.RECIPE.replace("longer = [2.0]", "").replace("trials = 3", "trials = 6\nprinted_trials = 6")
    )
    monkeypatch.setattr("benchsuite.work.duration.seconds_of", lambda run: SECONDS)


def compare(*arguments: object) -> int:
    return exit_code("compare", *arguments, "--recipe", "tiny.toml", "--jobs", 1)


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    capsys.readouterr()
    assert compare(*arguments, "--json") == 0
    content: dict[str, object] = json.loads(capsys.readouterr().out)
    return content


def pages() -> str:
    return "".join(file.read_text("utf-8") for file in Path("reports/tables").glob("*.html"))


def test_a_plan_can_be_read_by_programs(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare("mine.py", "--replicates", 3, "--dry-run", "--json") == 0
    planned = json.loads(capsys.readouterr().out)
    assert planned["to_tune"] > 0
    assert {"to do"} == {run["state"] for run in planned["runs"]}


def test_what_cannot_be_measured_here_is_estimated_by_the_recipe(
    tiny: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchsuite.work.session.Workplace.can_measure", lambda *_: False)
    assert compare("mine.py", "--replicates", 3, "--dry-run") == 0
    shown = capsys.readouterr()
    assert re.search(r"12 runs, 12 to do, \d+ trials first; about .* \(without evaluation", shown.out.splitlines()[-1])
    assert "measuring" not in shown.err
    assert compare("mine.py", "--replicates", 3, "--dry-run", "--budget", "1h") == 0
    assert "measuring" in capsys.readouterr().err, "a budget needs it"


def test_a_budget_is_for_this_machine(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("compare", "mine.py", "--recipe", "tiny.toml", "--cluster", "slurm", "--budget", "1h", "--dry-run")
    assert exit_code(*asked) == 2
    assert "--budget is for this machine: on a cluster, give --replicates and --trials." in capsys.readouterr().err


def test_data_that_the_recipe_does_not_read_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("infonce", "ts", "--recipe", "latents-pairs", "--data", "emoji", "--dry-run")
    assert exit_code("compare", *asked) == 2
    assert "--data emoji: recipe latents-pairs is on latents. Leave out one of the two." in capsys.readouterr().err


def test_a_file_is_compared_with_the_reference(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    content = told(capsys, "mine.py", "--replicates", 3, "--trials", 2)
    claims = content["claims"]
    assert isinstance(claims, list)
    asked = [one for one in claims if one["headline"]]
    assert [(one["row"], one["reference"]) for one in asked] == [("mlp/Mine", "mlp/InfoNCE")] * 2
    assert {one["family"] for one in asked} == {"headline claims of infonce-vs-mine at scale latents"}
    assert {len(one["seeds"]) for one in asked} == {3}
    stored = read_contents(Path("runs")).records
    records = stored.values()
    assert sorted(one.method.name for one in records) == ["infonce"] * 6 + ["mine"] * 6
    runs: dict[str, dict[str, str]] = content["runs"]  # type: ignore[assignment]
    for regime, searched in (("printed", False), ("tuned", True)):
        taken = {title: stored[run] for title, run in runs[regime].items()}
        assert [(title, one.method.title, one.seed) for title, one in taken.items()] == [
            ("InfoNCE", "InfoNCE", 0),
            ("Mine", "Mine", 0),
        ]
        assert {bool(one.tuned and one.tuned.searched) for one in taken.values()} == {searched}
    (trials,) = read_contents(Path("runs")).trials.values()
    assert len(trials.trials) == 2 * 3 * (2 + 2)
    assert all(Path(file).read_text().startswith("<?xml") for file in content["figures"].values())  # type: ignore[attr-defined]
    assert "Mine" in pages()
    assert "published" not in pages().partition('id="board-1"')[2].partition("</table>")[0]
    capsys.readouterr()
    assert compare("mine.py", "--replicates", 3, "--trials", 2) == 0
    out = capsys.readouterr().out
    assert "12 runs, 0 to do" in out, "the same command trains nothing again"
    assert out.splitlines()[-1].endswith(", ".join(f"{title} {run}" for title, run in runs["tuned"].items()))
    assert "has changed" not in out

    Path("mine.py").write_text(Path("mine.py").read_text().replace("tau)", "tau / 6)"))
    assert compare("mine.py", "--replicates", 3, "--trials", 2, "--dry-run") == 0
    out = capsys.readouterr().out
    assert "12 runs, 0 to do" in out
    assert "mine.py has changed since 18 runs of it were stored, and mine is still at version 1." in out
    assert "write version=2 in @register_method" in out


def test_a_run_that_is_stored_says_so_and_whether_its_method_has_changed_since(
    tiny: None, capsys: pytest.CaptureFixture[str]
) -> None:
    command = "run", "mine", "--plugin", "mine.py", "--recipe", "tiny.toml"
    said = []
    for change in ("", "", "# a word\n"):
        Path("mine.py").write_text(Path("mine.py").read_text() + change)
        assert exit_code(*command) == 0
        said.append(capsys.readouterr().out)
    first, again, edited = said
    assert "not trained again" not in first
    assert "stored before, not trained again" in again
    assert "has changed" not in again
    assert "note: mine.py has changed since a run of it was stored" in edited
    Store(Path("runs")).pack()
    assert exit_code(*command) == 0
    shown = re.findall("^record: (.*)$", capsys.readouterr().out, re.M)
    assert [Path(file).is_file() for file in shown] == [True], "that of its pack"


def test_another_backbone_is_a_table_of_its_own_and_of_the_same_family(
    tiny: None, capsys: pytest.CaptureFixture[str]
) -> None:
    one = Path("tiny.toml").read_text()
    (line,) = (line for line in one.splitlines() if line.startswith("backbones.mlp"))
    two = line.replace("backbones.mlp", 'backbones."MLP/2"').replace("layers = 1", "layers = 2")
    Path("tiny.toml").write_text(one.replace(line, f"{line}\n{two}"))
    brief = ("mine.py", "--replicates", 3, "--trials", 0)
    first, second, again = (
        [one for one in told(capsys, *brief, *given)["claims"] if one["headline"]]  # type: ignore[attr-defined]
        for given in ((), ("--backbone", "MLP/2"), ("--backbone", "mlp"))
    )
    assert [(one["table"], one["row"], one["reference"], one["family_size"]) for one in (*first, *second, *again)] == [
        ("infonce-vs-mine/latents", "mlp/Mine", "mlp/InfoNCE", 1),
        ("infonce-vs-mine/latents-mlp-2", "MLP/2/Mine", "MLP/2/InfoNCE", 2),
        ("infonce-vs-mine/latents", "mlp/Mine", "mlp/InfoNCE", 2),
    ], "whoever asks twice is corrected for it"
    assert [one["difference"] for one in first] == [one["difference"] for one in again]
    layers = sorted(record.setup.image.mlp.layers for record in read_contents(Path("runs")).records.values())  # type: ignore[union-attr]
    assert layers == [1] * 6 + [2] * 6
    assert compare(*brief, "--backbone", "mlp3") == 2
    assert 'backbone "mlp3" does not exist' in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("backbone", "to_do"), [("RN50", 0), ("ViT-B/16", 6)])
def test_of_another_backbone_no_runs_come_with_benchsuite(
    backbone: str, to_do: int, tiny: None, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("cwcl", "--regime", "tuned", "--replicates", 3, "--dry-run", "--json", "--backbone", backbone)
    assert exit_code("compare", *asked) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert len([run for run in runs if run["state"] == "to do"]) == to_do
    assert len(runs) == (18 if backbone == "RN50" else 6), "beside the two that are asked for, those that come with it"


@pytest.mark.slow
def test_an_added_method_changes_no_verdict(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    def verdicts(content: dict[str, object]) -> dict[tuple[str, str], tuple[object, object]]:
        claims = content["claims"]
        assert isinstance(claims, list)
        return {
            (one["row"], one["family"]): (one["p_adjusted"], one["added"])
            for one in claims
            if one["headline"] and one["row"] != "mlp/CWCL"
        }

    before = verdicts(told(capsys, "infonce", "mine.py", "--trials", 0, "--replicates", 3))
    content = told(capsys, "infonce", "mine.py", "--add", "cwcl", "--trials", 0, "--replicates", 3)
    assert verdicts(content) == before
    assert before
    assert "CWCL" in pages()


@pytest.mark.slow
def test_all_later_methods_are_one_family(tiny: None, capsys: pytest.CaptureFixture[str]) -> None:
    names = ["infonce", "mine.py", "cwcl", "siglip", "max-margin", "gap-flt"]
    claims = told(capsys, *names, "--trials", 0, "--replicates", 3)["claims"]
    assert isinstance(claims, list)
    asked = [one for one in claims if one["headline"]]
    assert {(one["family"], one["family_size"]) for one in asked} == {
        ("headline claims of infonce-vs-mine-vs-cwcl-vs-siglip-vs-2-more at scale latents", 5)
    }


@pytest.mark.parametrize(
    ("budget", "replicates", "trials"),
    [("10h", 6, 6), ("19m", 4, 6), ("13m", 3, 5), ("11m", 3, 4), ("9m", 3, 4)],
)
def test_a_budget_costs_replicates_first_and_then_trials(
    budget: str, replicates: int, trials: int, tiny: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """A replicate is 2 methods x 2 regimes x (6 trials + 1 run) x 10 s = 4.7 minutes."""
    assert compare("mine.py", "--replicates", 6, "--dry-run", "--budget", budget) == 0
    first, *_, second = capsys.readouterr().out.splitlines()
    counts = f"{replicates} replicates, {trials} trials a search as printed and {trials} trials a search tuned"
    assert first.endswith(counts)
    assert ("more than --budget" in second) == (budget == "9m")
    assert not Path("runs").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("a_run", "trials"), [(10.0, 4), (100.0, 16)])
def test_a_budget_counts_runs_that_fewer_trials_train_again(
    a_run: float, trials: int, tiny: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that come with benchsuite have its number of trials. With fewer, those beside mine are to be done."""
    monkeypatch.setattr(
        "benchsuite.work.duration.seconds_of", lambda run: {"mine": SECONDS}.get(run.method.name, a_run)
    )
    assert exit_code("compare", "mine.py", "--dry-run", "--budget", "1m") == 0
    first, *_, second = capsys.readouterr().out.splitlines()
    assert first.endswith(
        f"3 replicates, {min(trials, 5)} trials a search as printed and {trials} trials a search tuned"
    )
    assert ("42 runs, 6 to do, 36 come with benchsuite" in second) == (trials == 16)
    assert "more than --budget" in second


@pytest.mark.slow
def test_runs_that_come_with_benchsuite_are_not_trained_again(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare("infonce", "cwcl", "--replicates", 3) == 0
    ship(Path("runs"), "tiny", tmp_path / "built-in", monkeypatch)
    tool = runpy.run_path(str(TOOL))["main"]
    monkeypatch.setitem(tool.__globals__, "baselines", lambda: tmp_path / "by-tool")
    tool("runs", "tiny", "infonce", "cwcl")
    packs = (tmp_path / folder / shipped.SHIPPED / "tiny.jsonl.xz" for folder in ("built-in", "by-tool"))
    assert len({frozenset(lzma.decompress(pack.read_bytes()).splitlines()) for pack in packs}) == 1
    asked = Question.of(["mine.py"], ["cwcl"], TrainingOptions(), "tiny.toml", None, again=False)
    assert (asked.added, asked.beside) == (["cwcl"], [])
    content = told(capsys, "mine.py", "--replicates", 3, "--results", "own")
    records = [*read_contents(Path("own")).records.values()]
    assert sorted(one.method.name for one in records) == ["cwcl"] * 6 + ["infonce"] * 6 + ["mine"] * 6
    measured = [one for one in records if one.digest not in shipped.shipped_digests()]
    assert {one.method.name for one in measured} == {"mine"}
    claims = content["claims"]
    assert isinstance(claims, list)
    assert {len(one["seeds"]) for one in claims if one["headline"]} == {3}
    assert "12 runs came with benchsuite" in pages()
    capsys.readouterr()
    assert exit_code("verify", "own", "--plugin", "mine.py") == 0
    notes = capsys.readouterr().out
    assert notes.count("without its ranks") == 12
    edited = next(Path("own").glob("infonce-*.json"))
    edited.write_text(edited.read_text().replace('"temperature"', '"warmth"'))
    assert exit_code("verify", "own", "--plugin", "mine.py") == 1
    capsys.readouterr()
    assert compare("mine.py", "--replicates", 3, "--results", "own", "--again") == 2
    assert "Give another --results FOLDER" in capsys.readouterr().err
    assert compare("mine.py", "--replicates", 3, "--results", "again", "--again", "--regime", "tuned") == 0
    assert {one.method.name for one in read_contents(Path("again")).records.values()} == {"infonce", "mine"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("infonce",), "infonce is the reference itself"),
        (("infonce", "temo", "--budget", "soon"), "write a number and s, m or h"),
        (("infonce", "temo", "--data", "nothing"), "there is no such dataset"),
        (("infonce", "temo", "--data", "latents", "--data", "scenes"), "one dataset at a time"),
        (("infonce", "simclr", "--data", "latents"), "trains infonce, simclr"),
        (("infonce", "tmo"), 'Did you mean "temo"'),
    ],
)
def test_wrong_usage_is_one_message(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("compare", *arguments) == 2
    assert message in capsys.readouterr().err
