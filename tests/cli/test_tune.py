"""Tuning on the real command line: stopped and continued, then a user's method from its file to a tuned row."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support import tiny_tuning
from support.commands import exit_code
from support.forked import Forked

from benchsuite import registry
from benchsuite.analysis.building import build_views
from benchsuite.analysis.results import load_results, load_table
from benchsuite.planning.recipe import Tuning
from benchsuite.planning.search_space import draws
from benchsuite.records.schema import Record, trial_seed
from benchsuite.records.store import Store
from benchsuite.records.trials import TrialsFile, read_trials, write_trials

pytestmark = pytest.mark.slow

TUNE = ["tune", tiny_tuning.NAME, "--tables", "own", "--jobs", "1", "--regime", "tuned"]
TABLE = ["repro", tiny_tuning.NAME, "--scale", "latents", "--tables", "own", "--jobs", "1"]
REPRO = [*TABLE, "--regime", "tuned"]
MINE = ["--plugin", "mine.py"]


@dataclass(frozen=True)
class Done:
    """A folder in which tuning was killed, and then everything done by one command."""

    folder: Path
    first: TrialsFile
    """What the killed command left."""
    again: str
    """What the second command told of its progress."""
    out: str

    @property
    def file(self) -> Path:
        return self.folder / "runs" / "trials" / "vectors.parquet"

    @property
    def trials(self) -> TrialsFile:
        return read_trials(self.file)

    @property
    def records(self) -> dict[tuple[str, str, int], Record]:
        """By row, part and seed."""
        (view,), _ = build_views(Store(self.folder / "runs").read())
        return {
            (row.label, cell.column.part, seed): record
            for row in view.rows
            for cell in row.cells
            for seed, record in cell.records.items()
        }


def kill_after_first_trial(folder: Path) -> TrialsFile:
    """SIGKILL to the command and its workers, once a trial is stored."""
    file = folder / "runs" / "trials" / "vectors.parquet"
    process = Forked(TUNE, folder)
    while not file.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return read_trials(file)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("tuned")
    tiny_tuning.own_folder(folder / "own")
    rule = Tuning(trials=3, measure="v.m", protocols={"v": {"task": "retrieval"}})
    (folder / "mine.py").write_text(tiny_tuning.PLUGIN.replace("LOW", "0"))
    card = next(iter(registry.read_cards("method", folder / "mine.py", "mine")))
    low = sorted(next(draws(card, {}, number, 0, rule, 1e-3)).hyperparameters["tau"] for number in range(3))[:2]
    (folder / "mine.py").write_text(tiny_tuning.PLUGIN.replace("LOW", str(sum(low) / 2)))
    first = kill_after_first_trial(folder)
    code, out, again = Forked([*REPRO, *MINE], folder).communicate()
    assert code == 0, again
    return Done(folder, first, again, out)


def test_a_killed_command_goes_on_and_repeats_no_trial(done: Done) -> None:
    assert len(done.first.trials) == 1
    kept = [trial for trial in done.trials.trials if trial.run_id == done.first.trials[0].run_id]
    assert kept == done.first.trials
    assert done.again.count("start  mlp ts (periods = 5.0), replicate 0 trial") == 2
    assert f"start  mlp ts (periods = 5.0), replicate 0 trial {kept[0].number}\n" not in done.again


def test_every_row_has_the_same_trials_in_each_replicate(done: Done) -> None:
    numbers = {(t.method.name, tuple(t.fixed.items()), t.replicate, t.number, t.seed) for t in done.trials.trials}
    rows = [("ts", (("periods", 5.0),)), ("ts", (("periods", 9.0),)), ("infonce", ()), ("mine", ())]
    assert numbers == {(*row, r, k, trial_seed(r, k)) for row in rows for r in (0, 1) for k in range(3)}
    assert len({trial.setup_id for trial in done.trials.trials}) == 1
    for replicate in (0, 1):
        own = [trial for trial in done.trials.trials if trial.replicate == replicate and trial.score is not None]
        assert len({trial.digests["data"] for trial in own}) == 1
        assert len({(trial.number, trial.method.learning_rate) for trial in own}) == 3
    (setup,) = done.trials.setups.values()
    assert list(setup.protocols) == ["validation"]


def test_what_diverges_is_a_trial_without_score_and_never_chosen(done: Done) -> None:
    mine = [trial for trial in done.trials.trials if trial.method.name == "mine" and trial.replicate == 0]
    (lost,) = [trial for trial in mine if trial.score is None]
    assert "the loss is nan at step 0" in lost.error
    best = max((t for t in mine if t.score is not None), key=lambda t: t.score or 0)
    assert done.records["Mine", "end", 0].tuned.trial == best.number


@pytest.mark.parametrize("replicate", [0, 1])
def test_rows_have_the_values_of_the_best_trial_of_their_replicate(done: Done, replicate: int) -> None:
    own = [t for t in done.trials.trials if t.fixed == {"periods": 9.0} and t.replicate == replicate]
    record = done.records["TS, 9 periods", "end", replicate]
    best = max(own, key=lambda trial: trial.score or 0)
    assert record.method == best.method
    assert record.method.hyperparameters["periods"] == 9
    assert record.tuned.searched == ["tau_max", "tau_min"]
    assert (record.tuned.trials, record.tuned.trial, record.cost["tuning_trials"]) == (3, best.number, 3)
    assert record.seed == replicate
    assert record.digests["data"] == best.digests["data"]


def test_the_rate_belongs_to_the_row_and_replicates_share_a_setup(done: Done) -> None:
    rows = [record for (_, part, seed), record in done.records.items() if (part, seed) == ("end", 1)]
    assert len(rows) == 4
    for name in ("setup_id", "seed"):
        assert len({getattr(record, name) for record in rows}) == 1
    for digest in ("initial_weights", "batches", "data"):
        assert len({record.digests[digest] for record in rows}) == 1
    rate = rows[0].method.learning_rate
    assert rows[0].curves["lr"][0] == pytest.approx(rate)
    assert rows[0].setup.optimizer.lr == 1e-3
    first, second = (done.records["TS", "end", seed] for seed in (0, 1))
    assert (first.setup_id, first.row_id) == (second.setup_id, second.row_id)
    assert first.digests["data"] != second.digests["data"]


def test_a_variant_that_changes_the_rate_keeps_the_ratio(done: Done) -> None:
    end, start = (done.records["TS", part, 0].method.learning_rate for part in ("end", "start"))
    assert start == pytest.approx(end * 1e-6)


def test_the_reference_is_trained_longer_too(done: Done) -> None:
    record = done.records["InfoNCE, 2 times the steps", "end", 0]
    assert record.method.longer == 2
    assert record.curves["step"][-1] == 5
    assert len({r.row_id for (_, part, _), r in done.records.items() if part == "end"}) == 4


def test_one_command_ends_with_the_row_and_where_its_verdict_is(done: Done) -> None:
    assert done.out.startswith(f"{tiny_tuning.NAME} at scale latents, tuned: 16 runs, 16 to do, 23 trials first")
    assert "mine/first at scale latents, tuned: My method" in done.out
    assert (done.folder / "reports" / "tables" / "mine-first-latents.html").exists()
    for name in ("Mine", "InfoNCE, 2 times the steps"):
        assert name in done.out


Command = Callable[..., tuple[int, str]]


@pytest.fixture
def command(
    done: Done,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    forgetful_registries: None,
) -> Iterator[Command]:
    """`command(*arguments)`: exit code and output, in a copy of the folder."""
    shutil.copytree(done.folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        capfd.readouterr()
        code = exit_code(*arguments)
        return code, "".join(capfd.readouterr())

    yield call
    sys.modules.pop("benchsuite_plugin_mine", None)


def test_done_searches_do_nothing_and_tell_what_came_out(command: Command) -> None:
    code, out = command(*TUNE, *MINE)
    assert code == 0
    assert "mine/first: 24 trials, 0 to do.\n" in out
    assert "mlp mine, replicate 0: 3 trials, 1 of them diverged; best validation.t2i_r10 0." in out


def test_repro_says_which_searches_still_climb_by_more_than_the_recipes_difference_of_interest(
    command: Command,
) -> None:
    recipe = Path("own/recipes/vectors.toml")
    whole = recipe.read_text()
    for difference, told in (("1e-9", True), ("0.99", False)):
        recipe.write_text(whole.replace("difference = 0.01", f"difference = {difference}"))
        code, out = command(*REPRO, *MINE)
        assert code == 0
        assert (": its searches still climb: the best of 3 trials is +" in out) is told


def test_the_tuned_table_is_shown_unless_another_is_asked_for(command: Command, done: Done) -> None:
    table = load_table(tiny_tuning.NAME, "latents", done.folder / "runs")
    assert set(table.regime) == {"tuned"}
    assert set(load_results(done.folder / "runs").regime) == {"tuned"}
    code, out = command("export", tiny_tuning.NAME, "--scale", "latents", "--regime", "printed")
    assert (code, "not printed at scale latents in runs, only latents, tuned" in out) == (2, True)
    assert "My method" in command("export", tiny_tuning.NAME, "--scale", "latents", "--format", "md")[1]
    claims = [
        json.loads(command("claims", "mine", "--json", *regime)[1])["claims"]
        for regime in ((), ("--regime", "printed"))
    ]
    assert [bool(claim["verdict"] != "not run") for claim in claims[0][:1]] == [True]
    assert {claim["verdict"] for claim in claims[1]} == {"not run"}


def test_both_regimes_are_planned_and_counted_apart(command: Command) -> None:
    shutil.rmtree("runs")
    code, out = command(*TABLE, *MINE, "--dry-run")
    assert code == 0
    assert "mine/first at scale latents, as printed and tuned: 28 runs, 28 to do, 54 trials first; about" in out
    assert "to search  mlp mine: 6 trials in 2 replicates" in out
    assert "to search  mlp mine, as printed: 10 trials in 2 replicates" in out
    code, out = command(*TABLE, "--dry-run", "--replicates", "3", "--regime", "printed", "--trials", "2")
    assert (code, "12 runs, 12 to do, 12 trials first" in out) == (0, True)
    assert not Path("runs").exists()


def test_a_run_that_several_searches_found_is_in_the_rows_of_all(command: Command) -> None:
    """The best of three may be the best of four."""
    before = Store(Path("runs")).read().records

    def shown() -> list[Record]:
        views, refused = build_views(Store(Path("runs")).read())
        assert refused == []
        assert command("verify", "runs")[0] == 0
        return [r for view in views for row in view.rows for cell in row.cells for r in cell.records.values()]

    for trials in ("4", "3"):
        assert command(*REPRO, *MINE, "--trials", trials)[0] == 0
        records = shown()
        assert {record.tuned.trials for record in records if record.tuned} == {int(trials)}
        assert len({record.run_id for record in records}) == len(before)
        assert "0 to do" in command(*REPRO, *MINE, "--trials", trials, "--dry-run")[1]
    assert any(record.also_tuned for record in Store(Path("runs")).read().records.values())


def test_rows_as_printed_can_do_without_any_trial(command: Command) -> None:
    shutil.rmtree("runs")
    code, out = command(*TABLE, "--trials", "0", "--dry-run")
    assert (code, "mine/first at scale latents: 8 runs, 8 to do;" in out) == (0, True)
    assert command(*REPRO, "--trials", "0")[0] == 2


def test_the_row_that_is_trained_longer_has_a_name(command: Command) -> None:
    code, out = command(*REPRO, "--rows", "mlp/InfoNCE, 2 times the steps", "--dry-run")
    assert code == 0, out
    assert "at scale latents, tuned: 4 runs, 0 to do." in out


def test_another_rule_is_refused(command: Command) -> None:
    recipe = Path("own/recipes/vectors.toml")
    recipe.write_text(recipe.read_text().replace("trials = 3", "trials = 3\nspread = 2"))
    code, out = command(*TUNE)
    assert (code, "the recipe's tuning differs in spread" in out) == (2, True)


@pytest.mark.parametrize(
    "arguments", [["run", "infonce", "--seed", "1000"], [*REPRO, "--seed", "1000"], [*REPRO, "--seeds", "3,1001"]]
)
def test_tuning_seeds_are_never_reported(command: Command, arguments: list[str]) -> None:
    code, out = command(*arguments)
    assert (code, "seeds from 1000 on are those of tuning trials" in out) == (2, True)


def test_a_sound_folder_is_verified_without_torch(command: Command) -> None:
    code = "import sys; sys.modules['torch'] = None; from benchsuite.cli import main; main(['verify', 'runs'])"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "24 tuning trials" in process.stdout
    assert "whether the trials of mine are what was drawn is unknown" in process.stdout


def edited(**changes: object) -> Callable[[dict], dict]:
    return lambda trial: {**trial, **changes}


TAMPERING = {
    "another value": (lambda t: {**t, "method": {**t["method"], "hyperparameters": {"tau": 0.05}}}, "run_id is"),
    "another number": (edited(number=7, seed=1007), "trial 7 is there, but not trial 0"),
    "another seed": (edited(seed=3), "its seed is 3, but its replicate and number give 1000"),
    "a better score": (edited(score=1.0), "its score is 1.0, but validation.t2i_r10 is"),
    "no score": (edited(score=None, metrics={}), "neither a score nor an error"),
}


def rewrite(change: Callable[[dict], dict], method: str = "infonce") -> None:
    """Change the first trial of a method."""
    file = Path("runs/trials/vectors.parquet")
    content = read_trials(file)
    first = next(trial for trial in content.trials if trial.method.name == method)
    trials = [
        type(trial).model_validate(change(trial.model_dump())) if trial is first else trial for trial in content.trials
    ]
    write_trials(file, content.model_copy(update={"trials": trials}))


@pytest.mark.parametrize("name", TAMPERING)
def test_edited_trials_are_noticed(command: Command, name: str) -> None:
    change, message = TAMPERING[name]
    rewrite(change)
    code, out = command("verify", "runs")
    assert code == 1
    assert message in out


def test_values_that_the_number_does_not_draw_are_noticed(command: Command) -> None:
    """Even if all identities are made to fit."""

    def change(trial: dict) -> dict:
        part = {**trial["method"], "hyperparameters": {"tau": 0.05}}
        from benchsuite.records.schema import MethodPart, run_id

        read = {"data": trial["digests"]["data"]}
        right = run_id(trial["setup_id"], MethodPart(**part).method_id, trial["seed"], read)
        return {**trial, "method": part, "run_id": right}

    rewrite(change)
    assert (
        "replicate 0, trial 0: its hyper-parameters are not those that its number draws (tau 0."
        in command("verify", "runs")[1]
    )


def test_a_removed_file_of_trials_is_noticed(command: Command) -> None:
    assert command("verify", "runs", "--update")[0] == 0
    Path("runs/trials/vectors.parquet").unlink()
    assert "trials/vectors.parquet: listed in MANIFEST.json, but gone" in command("verify", "runs")[1]


def test_the_file_is_compact(done: Done) -> None:
    assert pq.read_metadata(done.file).num_rows == 24
    assert done.file.stat().st_size < 60_000
