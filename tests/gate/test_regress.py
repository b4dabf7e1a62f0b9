"""The gate on a tiny recipe: nothing changed is no alarm, and what is broken is named."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest
import torch
from support.commands import exit_code

from benchsuite.data.batches import BatchPlan
from benchsuite.errors import UsageError
from benchsuite.execution.evaluate import opened
from benchsuite.gate import regress
from benchsuite.gate.regress import (
    BAD,
    FIRST,
    Check,
    arithmetic,
    check_arithmetic,
    check_method,
    gate,
    gated,
    plan,
    read_expectations,
    update_expectations,
)
from benchsuite.methods import method_class
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.global_estimator import MovingAverage
from benchsuite.paths import baselines
from benchsuite.registry import methods

NAMES = ["infonce", "ts", "temo", "sogclr", "gap-hard-swap"]
STORED = read_expectations().methods


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> str:
    text = (baselines() / "recipes" / "scenes-smoke.toml").read_text().partition("[protocols.retrieval-gallery]")[0]
    for usual, small in (
        ("train = 1000, validation = 200, test = 200", "train = 64, validation = 8, test = 24"),
        ("batch = 64\nsteps = 15", "batch = 16\nsteps = 30"),
        ("k = 20", "k = 4"),
    ):
        assert usual in text
        text = text.replace(usual, small)
    file = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    file.write_text(text)
    return str(file)


def make_tiny(patch: pytest.MonkeyPatch, recipe: str) -> None:
    patch.setattr(regress, "RECIPES", {"pair": (recipe, "RN50")})
    patch.setattr(regress, "IMAGES", 32)
    patch.setattr(regress, "STEPS", 6)
    patch.setattr(regress, "expectations_file", lambda: Path(recipe).with_name("expected.json"))


@pytest.fixture(scope="module")
def expected(recipe: str) -> str:
    """The tiny recipe, with expectations of some methods beside it."""
    with pytest.MonkeyPatch.context() as patch:
        make_tiny(patch, recipe)
        update_expectations(NAMES, lambda line: None)
    return recipe


@pytest.fixture
def stored(expected: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    make_tiny(monkeypatch, expected)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def alarms(*names: str) -> list[Check]:
    checks = list(gate(names, lambda line: None))
    assert {check.subject for check in checks} == set(names)
    return [check for check in checks if check.kind in BAD]


@pytest.mark.slow
def test_unchanged_code_raises_no_alarm(stored: None) -> None:
    assert alarms(*NAMES) == []


def broken_ts(change: Callable[[Loss], Loss]) -> Callable[..., Loss]:
    sound = method_class("ts").loss

    def loss(self: object, batch: PairBatch, clock: Clock) -> Loss:
        return change(sound(self, batch, clock))  # type: ignore[arg-type]

    return loss


@pytest.mark.slow
def test_other_arithmetic_of_one_method_is_named_with_it_alone(stored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        method_class("ts"), "loss", broken_ts(lambda loss: Loss(loss.total * 1.001, gauges=loss.gauges))
    )
    found = alarms("infonce", "ts")
    assert {check.subject for check in found} == {"ts"}
    assert any(check.line.startswith("regressed: ts, loss on fixed embeddings (pair): found ") for check in found)


@pytest.mark.slow
def test_a_gradient_that_is_gone_is_named_though_the_loss_stays(stored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(loss: Loss) -> Loss:
        return Loss((loss.total + loss.total.detach()) / 2, gauges=loss.gauges)

    monkeypatch.setattr(method_class("ts"), "loss", broken_ts(half))
    found = {check.what for check in alarms("ts")}
    assert {"gradient norm on fixed embeddings (pair)", "first values of gradient norm"} <= found
    assert "loss on fixed embeddings (pair)" not in found


@pytest.mark.parametrize(
    ("error", "reason"),
    [(ZeroDivisionError("by nothing"), "ZeroDivisionError: by nothing"), (UsageError("ts: no."), "ts: no.")],
)
@pytest.mark.slow
def test_a_crash_is_named_and_the_others_are_still_checked(
    error: Exception, reason: str, stored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(loss: Loss) -> Loss:
        raise error

    monkeypatch.setattr(method_class("ts"), "loss", broken_ts(crash))
    (alarm,) = alarms("ts", "infonce")
    assert alarm.line == f"crashed: ts, run: {reason}"


@pytest.mark.slow
def test_what_a_method_forgets_is_named_though_its_loss_starts_alike(
    stored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = MovingAverage.forward
    monkeypatch.setattr(MovingAverage, "forward", lambda self, *values: forward(self.eval(), *values))
    found = alarms("infonce", "sogclr")
    assert {check.subject for check in found} == {"sogclr"}
    assert {"objective on fixed embeddings (pair)", "first values of objective"} <= {check.what for check in found}


@pytest.mark.slow
def test_what_a_method_rarely_does_is_made_to_show(stored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(method_class("gap-hard-swap"), "swap", lambda self, x, y: (x, y))
    assert {check.subject for check in alarms("gap-hard-swap")} == {"gap-hard-swap"}


@pytest.mark.slow
def test_another_order_of_batches_is_named_and_asks_for_no_version(
    stored: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = BatchPlan.index
    monkeypatch.setattr(BatchPlan, "index", lambda self, step: sound(self, step + 1))
    assert [(check.what, check.kind) for check in alarms("ts")] == [("setup and first batches", "outdated")]


@pytest.mark.parametrize("name", ["infonce", "simclr"])
def test_the_gate_meets_every_sample_again_and_some_twice_within_what_it_compares(name: str) -> None:
    setup = plan(name, 0).setup
    split = opened(setup.data).split("train")
    batches = BatchPlan(split, setup.training.batch, setup.augmentation, seed=0)
    met = Counter(int(i) for step in range(FIRST) for i in batches.index(step))
    assert setup.training.steps >= FIRST
    assert set(met) == set(range(len(split)))
    assert min(met.values()) >= 2
    assert max(met.values()) >= 3


def test_no_two_methods_are_expected_to_do_the_same() -> None:
    alike = [
        (first, second)
        for first, second in combinations(STORED, 2)
        if not any(check.kind in BAD for check in check_method(first, STORED[first], STORED[second]))
    ]
    assert alike == []


def test_the_stored_expectations_cover_every_built_in_method() -> None:
    assert set(STORED) == set(gated())


@pytest.mark.parametrize("name", sorted(STORED))
def test_arithmetic_is_as_stored(name: str) -> None:
    checks = list(check_arithmetic(name, STORED[name].arithmetic, arithmetic(name)))
    assert [check.line for check in checks if check.kind != "unchanged"] == []


command = partial(exit_code, "regress")


@pytest.mark.slow
def test_the_command_stores_finds_names_and_stores_again(
    stored: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "expected.json"
    monkeypatch.setattr(regress, "expectations_file", lambda: file)
    request = ("infonce", "ts")

    assert command(*request) == 1
    assert "outdated: ts, values: none stored" in capsys.readouterr().out
    assert command(*request, "--update") == 0
    kept = file.read_bytes()
    assert command(*request, "--update") == 0
    assert file.read_bytes() == kept
    capsys.readouterr()

    assert command(*request) == 0
    printed = capsys.readouterr().out
    checks = int(printed.split(" checks: ")[0])
    assert f"{checks} checks: {checks} unchanged." in printed

    scaled = broken_ts(lambda loss: Loss(loss.total * 1.001, gauges=loss.gauges))
    with monkeypatch.context() as broken:
        broken.setattr(method_class("ts"), "loss", scaled)
        assert command(*request) == 1
        printed = capsys.readouterr().out
        assert "regressed: ts, loss on fixed embeddings (pair): found " in printed
        assert "values changed under version 1: raise the version of ts" in printed
        kept = file.read_bytes()
        assert command("ts", "--update") == 2
        assert "values changed under the same version of ts. Nothing was stored" in capsys.readouterr().err
        assert file.read_bytes() == kept

        raised = replace(methods.card("ts"), about={**methods.card("ts").about, "version": 2})
        broken.setitem(methods._live_cards, "ts", raised)
        assert command(*request) == 1
        assert "outdated: ts, version: values are stored for version 1, and ts is at 2" in capsys.readouterr().out
        assert command("ts", "--update") == 0
        assert file.read_bytes() != kept
        assert command(*request) == 0
