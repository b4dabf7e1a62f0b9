"""The gate on a tiny recipe: nothing changed is no alarm, and what is broken is named."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from benchsuite.analysis.regression import BAD, Check, Expectations
from benchsuite.data.batches import BatchPlan
from benchsuite.errors import UsageError
from benchsuite.evaluation import ranks
from benchsuite.experiments import regress
from benchsuite.experiments.regress import Track, expect, gate
from benchsuite.methods import method_class
from benchsuite.methods.base import Clock, Loss, PairBatch
from benchsuite.paths import baselines

NAMES = ["infonce", "ts"]
METRICS = ("retrieval.r_mean",)


@pytest.fixture(scope="module")
def recipe(tmp_path_factory: pytest.TempPathFactory) -> str:
    text = (baselines() / "recipes" / "scenes-smoke.toml").read_text().partition("[protocols.retrieval-gallery]")[0]
    for usual, small in (
        ("train = 2000, validation = 200, test = 200", "train = 64, validation = 8, test = 24"),
        ("batch = 64\nsteps = 30", "batch = 16\nsteps = 4"),
        ("k = 20", "k = 4"),
    ):
        assert usual in text
        text = text.replace(usual, small)
    file = tmp_path_factory.mktemp("recipe") / "tiny.toml"
    file.write_text(text)
    return str(file)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch, recipe: str) -> Iterator[None]:
    monkeypatch.setattr(regress, "TRACKS", (Track("pair", recipe, "RN50", METRICS),))
    monkeypatch.setattr(regress, "NOISE_SEEDS", 3)
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def expectations(recipe: str) -> Iterator[Expectations]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(regress, "TRACKS", (Track("pair", recipe, "RN50", METRICS),))
        patch.setattr(regress, "NOISE_SEEDS", 3)
        yield expect(NAMES, lambda line: None)


def alarms(expectations: Expectations) -> list[Check]:
    """Without costs, which are times."""
    checks = list(gate(expectations, NAMES, lambda line: None))
    assert len(checks) > 8
    return [check for check in checks if check.kind in BAD and not check.what.startswith("cost")]


def test_unchanged_code_raises_no_alarm(expectations: Expectations) -> None:
    assert alarms(expectations) == []


def broken_ts(change: Callable[[Loss], Loss]) -> Callable[..., Loss]:
    sound = method_class("ts").loss

    def loss(self: object, batch: PairBatch, clock: Clock) -> Loss:
        return change(sound(self, batch, clock))  # type: ignore[arg-type]

    return loss


def test_other_arithmetic_of_one_method_is_named_with_it_alone(
    expectations: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        method_class("ts"), "loss", broken_ts(lambda loss: Loss(loss.total * 1.001, gauges=loss.gauges))
    )
    found = alarms(expectations)
    assert {check.subject for check in found} == {"ts"}
    assert found[0].line.startswith("regressed: ts, first values of loss: found ")


def test_a_gradient_that_is_gone_is_named_though_the_loss_stays(
    expectations: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(loss: Loss) -> Loss:
        return Loss((loss.total + loss.total.detach()) / 2, gauges=loss.gauges)

    monkeypatch.setattr(method_class("ts"), "loss", broken_ts(half))
    assert "first values of gradient norm" in {check.what for check in alarms(expectations)}


def test_a_crash_is_named_and_the_others_are_still_checked(
    expectations: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(loss: Loss) -> Loss:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(method_class("ts"), "loss", broken_ts(crash))
    (one,) = alarms(expectations)
    assert one.line == "crashed: ts, run: ZeroDivisionError: by nothing"


def test_another_order_of_batches_changes_every_method(
    expectations: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = BatchPlan.index
    monkeypatch.setattr(BatchPlan, "index", lambda self, step: sound(self, step + 1))
    assert {check.subject for check in alarms(expectations)} == {"infonce", "ts"}


def test_a_kinder_rule_for_ties_shows_on_collapsed_towers(
    expectations: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = ranks.not_below
    monkeypatch.setattr(ranks, "not_below", lambda scores, own: strict(scores, own) & (scores != own))
    assert {check.subject for check in alarms(expectations)} == {"collapsed towers (pair)"}


def test_expectations_of_another_setup_are_not_compared(expectations: Expectations) -> None:
    other = expectations.model_copy(update={"setups": {"pair": "another"}})
    with pytest.raises(UsageError, match=r"another setup .* `benchsuite regress --update`"):
        list(gate(other, NAMES, lambda line: None))


def test_the_stored_expectations_cover_every_built_in_method() -> None:
    stored = Expectations.model_validate_json(regress.stored_file().read_text("utf-8"))
    assert set(stored.methods) == set(regress.gated())


def test_expectations_lie_beside_the_golden_values() -> None:
    assert regress.stored_file().parent == Path(baselines() / "regression")
