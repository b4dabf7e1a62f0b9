"""What somebody may write into a results folder, sealed as if it had been measured: `verify` finds it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.commands import exit_code
from support.edited import edit
from support.forged import REQUEST, add, edited, honest
from support.made_records import sound_record
from support.whole_folder import drawn_trials

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.recompute import recompute
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, trials_digest, write_trials
from benchsuite.verify.audit import counting


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = honest(tmp_path / "runs", ("InfoNCE", "TS"))
    assert exit_code("verify", folder, "--update") == 0
    return folder


def problems(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What `verify` finds beside the manifest, which a forger writes anew."""
    (folder / "MANIFEST.json").unlink(missing_ok=True)
    capsys.readouterr()
    code = exit_code("verify", folder, "--json")
    told = json.loads(capsys.readouterr().out)
    assert code == (not told["verified"])
    return "\n".join(one["message"] for one in told["problems"] if "MANIFEST" not in one["message"])


def test_an_honest_run_more_is_no_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(folder, "TS", 9)
    assert problems(folder, capsys) == ""


def test_a_replicate_cannot_be_sealed_again_under_another_seed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = folder.glob("infonce-s0-*.json")
    record = Record.model_validate_json(file.read_text())
    kept = ("method", "setup", "results", "curves", "cost", "digests", "environment", "created", "ranks")
    again = Record.seal(**{part: getattr(record, part) for part in kept}, seed=14)
    (folder / f"infonce-s14-{again.run_id}.json").write_text(json.dumps(again.as_json()))
    assert "its ranks are those of seed 0" in problems(folder, capsys)


def test_a_copy_with_another_nearest_image_is_a_copy() -> None:
    ranks = {"i2t": np.array([1, 9, 3]), "t2i": np.array([2, 4, 1])}
    told = {**ranks, "i2t_nearest": np.array([2, 3, 1]), "t2i_nearest": np.array([3, 1, 2])}
    others = {**told, "t2i_nearest": np.array([2, 1, 2])}
    counted = [
        counting(RULES)(Path(record.ranks.file), record, content)
        for record, content in (sound_record(ranks=each) for each in (ranks, told, others))
    ]
    assert [numbers.problems for numbers in counted] == [[], [], []]
    assert len({numbers.ranks for numbers in counted}) == 1


def test_equal_ranks_where_all_answers_are_right_are_no_problem(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = honest(tmp_path, ("TS",))
    first = Record.model_validate_json(next(folder.glob("ts-s0-*.json")).read_text())
    ones = {way: np.ones(size, np.int32) for way, size in (("i2t", 32), ("t2i", 64))}
    for seed in (7, 8):
        retrieval = sound_record(seed, ones)[0].results["retrieval"]
        results = {**first.results, "retrieval": retrieval}
        Store(folder).write(*sound_record(seed, ones, method=first.method, setup=first.setup, results=results))
    assert problems(folder, capsys) == ""


SEALED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a metric that nothing recomputes": (
        lambda content: content["results"]["geometry"]["metrics"].update(ir1=0.9), "ir1 is nothing that the task",
    ),
    "an empty digest": (lambda content: content["digests"].update(batches=""), "no digest of its batches"),
    "no digest": (lambda content: content["digests"].pop("initial_weights"), "no digest of its initial_weights"),
    "a curve that no sum can hold": (
        lambda content: content["curves"].update(loss=[1e308, -1e308]), "curves.loss has 1e+308",
    ),
    "a measure that no sum can hold": (
        lambda content: content["results"]["geometry"]["measures"].update(gap=1e308), "gap is 1e+308",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", SEALED)
def test_a_sealed_record_cannot_have(what: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change, says = SEALED[what]
    (file,) = folder.glob("ts-s1-*.json")
    edit(file, change, sealed=True)
    assert says in problems(folder, capsys)
    assert exit_code("report", "--results", folder, "--report", folder.parent / "pages") in (0, 1)


def test_tuning_seeds_and_keys_of_other_methods_are_problems(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(folder, "TS", 1003)
    add(folder, "TS", 8, {"hyperparameters": {"tau_min": 0.02, "tau_max": 0.1, "periods": 5.0, "extra": 1.0}})
    told = problems(folder, capsys)
    assert "seed 1003 is none of a reported run" in told
    assert "extra is a hyper-parameter that ts does not have" in told


def test_a_files_change_is_one_problem_and_so_is_a_key_of_an_older_request(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = folder / "recipes" / "tiny.toml"
    text = recipe.read_text()
    recipe.write_text(text.replace("difference = 0.01", "difference = 0.0001"))
    assert problems(folder, capsys) == "the recipe has changed since its runs were asked for"
    recipe.write_text(text)
    edited(folder / REQUEST, lambda content: content.update(stand_ins={}))
    assert "not a table's request" in problems(folder, capsys)


def test_scores_of_trials_are_part_of_what_binds_them() -> None:
    trials = drawn_trials().trials
    other = [*trials[:1], trials[1].model_copy(update={"score": 0.9}), *trials[2:]]
    assert trials_digest(other) != trials_digest(trials)


def test_a_rule_with_a_missing_key_is_a_problem(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = folder / TRIALS / "latents-pairs.parquet"
    write_trials(file, drawn_trials())
    assert problems(folder, capsys) == ""
    whole = drawn_trials()
    for key in ("protocols", "measure", "trials"):
        write_trials(file, whole.model_copy(update={"rule": {k: v for k, v in whole.rule.items() if k != key}}))
        assert key in problems(folder, capsys)


@pytest.mark.parametrize("ends", ["sys.exit(0)", "raise SystemExit"])
def test_a_plugin_that_ends_the_program_is_an_error(
    folder: Path, ends: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = folder.parent / "mine.py"
    plugin.write_text(f"import sys\n{ends}\n")
    assert exit_code("verify", folder, "--plugin", plugin) == 2
    assert "failed to import: SystemExit" in capsys.readouterr().err


def test_a_rule_that_ends_the_program_is_a_difference() -> None:
    def rule(ranks: object) -> None:
        raise SystemExit(0)

    result = Result(task="retrieval", version=1, metrics={"i2t_r1": 0.5}, counts={})
    rules = {"retrieval": replace(RULES["retrieval"], scores=rule)}  # type: ignore[arg-type]
    done = recompute(result, {"i2t": np.array([1, 2])}, {}, rules)
    assert "SystemExit" in done.differs[0]
