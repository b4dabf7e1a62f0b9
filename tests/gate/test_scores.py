"""Scores that are kept and measured again: which falls fail, how often by chance, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.commands import exit_code
from support.tiny_recipes import VECTORS

from benchsuite.analysis.stats import half_width
from benchsuite.gate.regress import Check
from benchsuite.gate.scores import Scores, check_scores
from benchsuite.methods import method_class

SMALLEST = 0.01
SCORE = "retrieval.r_mean"
three_scores = st.lists(st.floats(0, 1), min_size=3, max_size=3)


def scores(mine: list[float], reference: list[float]) -> Scores:
    return Scores(
        recipe="any",
        setup={},
        smallest={SCORE: SMALLEST},
        reference="infonce",
        versions={"mine": 1, "infonce": 1},
        scores={"mine": {SCORE: mine}, "infonce": {SCORE: reference}},
    )


def check(stored: Scores, mine: list[float], reference: list[float]) -> Check:
    (only,) = check_scores(stored, scores(mine, reference))
    return only


@given(three_scores, three_scores, st.floats(-5, 5), st.floats(-3, 3))
def test_what_falls_by_less_than_is_allowed_never_fails_and_what_falls_by_more_always_does(
    mine: list[float], reference: list[float], both: float, halves: float
) -> None:
    differences = [a - b for a, b in zip(mine, reference, strict=True)]
    allowed = max(half_width(stdev(differences), 3), SMALLEST)
    moved = [value + both + halves * allowed for value in mine]
    kind = check(scores(mine, reference), moved, [value + both for value in reference]).kind
    if abs(halves) < 0.999:
        assert kind == "unchanged"
    elif abs(halves) > 1.001:
        assert kind == ("improved" if halves > 0 else "regressed")


@pytest.mark.parametrize(("raised", "said"), [((1, 1), ""), ((2, 1), " (mine is at version 2 and was at 1)")])
def test_a_score_of_another_version_says_so(raised: tuple[int, int], said: str) -> None:
    three = [0.5, 0.6, 0.7]
    now = scores(three, three).model_copy(update={"versions": dict(zip(("mine", "infonce"), raised, strict=True))})
    (only,) = check_scores(scores(three, three), now)
    assert only.line.startswith(f"unchanged: mine, {SCORE} less that of infonce{said}:")


@pytest.mark.parametrize("luck", [0.02, 0.2])
def test_a_method_as_good_as_before_fails_by_chance_as_often_as_is_said(luck: float) -> None:
    """The next time on other replicates; the data's own luck, which the reference shares, does not count."""
    draws = np.random.default_rng(0)
    failed = []
    for _ in range(4000):
        data, own = draws.normal(0, luck, (2, 3)), draws.normal(0, 0.02, (2, 3))
        first, second = ((data[i] + 0.05 + own[i]).tolist() for i in range(2))
        kind = check(scores(first, data[0].tolist()), second, data[1].tolist()).kind
        failed.append(kind == "regressed")
    assert 0.035 < fmean(failed) < 0.055


RECIPE = f"""{
    VECTORS.replace("train = 200, validation = 20, test = 60", "train = 1500, validation = 20, test = 200")
    .replace("steps = 2 ", "steps = 60 ")
    .replace("lr = 1e-3", "lr = 6e-3")
}
primary.retrieval = {{ metric = "t2i_r10", difference = 0.01 }}
"""
MINE = """
    from benchsuite import Clock, Loss, Method, PairBatch, register_method
    from benchsuite.objectives.softmax import info_nce

    @register_method("mine")
    class Mine(Method):
        sign = 1

        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(self.sign * info_nce(batch.image @ batch.text.T, 0.1))
"""


@pytest.mark.slow
def test_the_command_keeps_scores_and_fails_when_they_fall(
    plugin_file: Callable[..., Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    mine = plugin_file(MINE)
    Path("tiny.toml").write_text(RECIPE)
    Path("other.toml").write_text(RECIPE.replace("lr = 6e-3", "lr = 5e-3"))

    def regress(*options: str) -> tuple[int, str]:
        code, said = exit_code("regress", mine, *options), capsys.readouterr()
        return code, said.out + said.err

    assert regress("--store", "kept/scores.json", "--recipe", "tiny.toml")[0] == 0
    kept: dict[str, Any] = json.loads(Path("kept/scores.json").read_text("utf-8"))
    assert all(len(each["retrieval.t2i_r10"]) == len(each[SCORE]) == 3 for each in kept["scores"].values())
    assert fmean(kept["scores"]["mine"][SCORE]) > 0.05, "it learns something that can be lost"

    code, said = regress("--against", "kept/scores.json")
    assert code == 0
    assert "2 checks: 2 unchanged." in said

    code, said = regress("--against", "kept/scores.json", "--recipe", "other.toml")
    assert code == 2
    assert "setup.optimizer.lr 0.006 against 0.005" in said

    monkeypatch.setattr(method_class("mine"), "sign", -1)
    code, said = regress("--against", "kept/scores.json", "--json")
    assert code == 1
    assert "regressed: mine, retrieval.t2i_r10 less that of infonce: found -" in said
    torch.set_num_threads(threads)


@pytest.mark.slow
def test_the_included_data_need_no_recipe_to_be_named(
    plugin_file: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = torch.get_num_threads()
    monkeypatch.chdir(tmp_path)
    assert exit_code("regress", plugin_file(MINE), "--store", "scores.json") == 0
    kept = Scores.model_validate_json(Path("scores.json").read_text("utf-8"))
    assert kept.recipe == "emoji-features-pairs"
    assert min(fmean(scores[SCORE]) for scores in kept.scores.values()) > 0.05
    torch.set_num_threads(threads)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--store", "a.json", "--against", "a.json"], "exclude each other"),
        (["--recipe", "latents-pairs"], "--recipe goes with"),
        (["--store", "a.json", "--json"], "--store makes none"),
        (["--against", "none.json"], "--store none.json writes it"),
        (["--against", "cut.json"], "cut.json: scores.mine.retrieval.r_mean"),
        (["--against", "theirs.json"], "of theirs, infonce, and asked for of ts, infonce"),
        (["--store", "a.json", "--recipe", "scenes-image-smoke"], "has no retrieval protocol"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_any_run(
    options: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = scores([0.5, 0.6, 0.7], [0.4, 0.5, 0.6]).model_copy(update={"recipe": "latents-pairs"})
    text = whole.model_dump_json()
    Path("theirs.json").write_text(text.replace('"mine"', '"theirs"'))
    Path("cut.json").write_text(text.replace("0.6,0.7]", "0.6]"))
    assert exit_code("regress", "ts", *options) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert "replicate" not in printed.err


def test_the_reference_alone_is_compared_with_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("regress", "infonce", "--store", "a.json") == 2
    assert "infonce: scores are compared with the reference's. Name another method" in capsys.readouterr().err


def test_expectations_are_of_methods_of_this_package(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("benchsuite.gate.regress.gated", lambda: ["infonce"])
    assert exit_code("regress", "ts", "--update") == 2
    assert "--update is for methods of this package, and ts is none" in capsys.readouterr().err


def test_a_measure_of_which_less_is_better_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    primary = 'primary.retrieval = { metric = "t2i_median_rank", difference = 1.0 }\n'
    Path("ranks.toml").write_text(VECTORS + primary)
    assert exit_code("regress", "ts", "--store", "a.json", "--recipe", "ranks.toml") == 2
    assert "retrieval.t2i_median_rank is no share of which more is better" in capsys.readouterr().err
