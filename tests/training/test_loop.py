import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from benchsuite.data.base import Split
from benchsuite.errors import RunError, UsageError
from benchsuite.methods import Clock, Loss, PairBatch, create_method, method_class
from benchsuite.methods.infonce import InfoNCE, InfoNCELearnable
from benchsuite.models.towers import weights_digest
from benchsuite.setup import Augmentation, Optimizer, Setup
from benchsuite.training.curves import Curves, Meter
from benchsuite.training.deepspeed_deviations import engine_class, import_deepspeed
from benchsuite.training.loop import Trained, train

Make = Callable[..., Setup]
STAGES = [0, 1, 2]


class ImageOnly(InfoNCE):
    """A mean over pairs, so that two halves average to the whole."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        return Loss((batch.image[:, 0] - 0.5).square().mean() + 0 * batch.text.sum())


class Pushed(InfoNCELearnable):
    """Its learned scale is pushed up for six steps, then down."""

    def loss(self, batch: PairBatch, clock: Clock) -> Loss:
        push = -self.learned if clock.step < 6 else 10 * self.learned
        return Loss(push + 0 * (batch.image.sum() + batch.text.sum()), gauges={"temperature": self.temperature})


def weights(trained: Trained) -> Tensor:
    return torch.cat([p.detach().flatten() for p in trained.encoder.parameters()])


def infonce() -> InfoNCE:
    return InfoNCE(tau=0.1)


def test_one_seed_gives_all_methods_the_same_start_and_batches(make_setup: Make, split: Split) -> None:
    found = [train(make_setup(), create_method(name), split, 0).digests for name in ("infonce", "ts", "temo")]
    assert found[0] == found[1] == found[2]
    other = train(make_setup(), infonce(), split, 1).digests
    assert {key for key, value in other.items() if value != found[0][key]} == {"initial_weights", "batches"}


@pytest.mark.parametrize("name", ["infonce", "infonce-learnable", "temo"])
def test_the_same_seed_twice_is_the_same_to_the_bit(make_setup: Make, split: Split, name: str) -> None:
    one, two = (train(make_setup(resnet=True), create_method(name), split, 0) for _ in range(2))
    assert one.curves == two.curves
    assert weights_digest(one.encoder) == weights_digest(two.encoder)


def test_what_a_method_draws_does_not_move_the_others(make_setup: Make, split: Split) -> None:
    class Drawing(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            torch.rand(clock.step + 3)
            return super().loss(batch, clock)

    one, two = (train(make_setup(), method, split, 0) for method in (infonce(), Drawing(tau=0.1)))
    assert one.curves == two.curves


def test_a_loss_may_be_a_plain_scalar_tensor(make_setup: Make, split: Split) -> None:
    class Bare(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> torch.Tensor:  # type: ignore[override]
            return super().loss(batch, clock).total

    named, bare = (train(make_setup(), method, split, 0).curves for method in (infonce(), Bare(tau=0.1)))
    assert bare["loss"] == named["loss"]
    assert bare["gap"] == named["gap"]
    assert named.keys() - bare.keys() == {"temperature"}


def test_training_moves_both_towers_and_lowers_the_loss(make_setup: Make, split: Split) -> None:
    trained = train(make_setup(steps=12, dropout=0.0), infonce(), split, 0)
    assert trained.curves["loss"][-1] < trained.curves["loss"][0]
    still = train(make_setup(steps=1, lr=1e-12, dropout=0.0), infonce(), split, 0)
    for (name, after), before in zip(trained.encoder.named_parameters(), still.encoder.parameters(), strict=True):
        if name.endswith("projection.weight"):
            assert not torch.allclose(after, before, atol=1e-4), name
    assert not trained.encoder.training


class Waits(TorchDispatchMode):
    """Counts single numbers that are read, for which a GPU's queue has to run empty, and collectives."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.collectives = 0, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.read += func is torch.ops.aten._local_scalar_dense.default
        self.collectives += func.namespace == "c10d"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(("stage", "collectives"), [(0, 0), (1, 3), (2, 3)])
def test_a_step_waits_and_sends_no_more_often(
    make_setup: Make, split: Split, monkeypatch: pytest.MonkeyPatch, stage: int, collectives: int
) -> None:
    """Read are: loss, gradient norm, the text tower's mask, and two of the augmentation, which are never on a GPU."""
    monkeypatch.setattr(Curves, "keeps", lambda curves, step: False)
    found = []
    for steps in (2, 3):
        with Waits() as waits:
            train(make_setup(steps=steps, zero_stage=stage), infonce(), split, 0)
        found.append(waits)
    assert found[1].read - found[0].read <= 5
    assert found[1].collectives - found[0].collectives <= collectives


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Counts calls and updates of engines, and notes whether an optimizer ever steps outside of one."""
    deepspeed = import_deepspeed()
    seen: dict[str, Any] = {"engine": 0, "updates": 0, "outside": 0, "depth": 0, "types": set()}
    engine_step, optimizer_step = deepspeed.DeepSpeedEngine.step, torch.optim.AdamW.step

    def through_engine(engine: Any, *arguments: Any, **named: Any) -> Any:
        seen["engine"] += 1
        seen["types"].add(type(engine))
        seen["depth"] += 1
        try:
            return engine_step(engine, *arguments, **named)
        finally:
            seen["depth"] -= 1
            seen["updates"], seen["stage"] = engine.global_steps, engine.zero_optimization_stage()

    def through_optimizer(optimizer: Any, *arguments: Any, **named: Any) -> Any:
        seen["outside"] += seen["depth"] == 0
        return optimizer_step(optimizer, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(deepspeed.DeepSpeedEngine, "step", through_engine)
        patch.setattr(torch.optim.AdamW, "step", through_optimizer)
        yield seen


@pytest.mark.parametrize(("stage", "accumulation"), [(0, 1), (1, 1), (2, 1), (0, 2), (2, 2)])
def test_every_optimizer_step_goes_through_a_deepspeed_engine(
    make_setup: Make, split: Split, monkeypatch: pytest.MonkeyPatch, stage: int, accumulation: int
) -> None:
    with counted(monkeypatch) as seen:
        train(make_setup(zero_stage=stage, accumulation=accumulation), infonce(), split, 0)
    assert seen["types"] == {engine_class()}
    assert seen["stage"] == stage
    assert (seen["engine"], seen["updates"], seen["outside"]) == (4 * accumulation, 4, 0)


def test_accumulated_losses_are_averaged(make_setup: Make, split: Split) -> None:
    smooth = {"optimizer": Optimizer(lr=0.5, eps=1.0)}
    halves, whole, start = (
        train(make_setup(dropout=0.0, **sizes).model_copy(update=smooth), ImageOnly(), split, 0)
        for sizes in ({"batch": 8, "accumulation": 2}, {"batch": 16}, {"batch": 16, "steps": 1})
    )
    assert torch.allclose(weights(halves), weights(whole), atol=1e-5)
    assert not torch.allclose(weights(start), weights(whole), atol=1e-3)


def test_the_clock_counts_epochs_by_the_batches_that_were_read(make_setup: Make, split: Split) -> None:
    epochs: list[int] = []

    class Counting(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            epochs.append(clock.epoch)
            return super().loss(batch, clock)

    train(make_setup(steps=5, accumulation=2), Counting(tau=0.1), split, 0)
    assert epochs == [0, 0, 0, 0, 1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("name", ["infonce", "infonce-learnable"])
def test_zero_stages_agree(make_setup: Make, split: Split, name: str) -> None:
    found = [train(make_setup(zero_stage=stage), create_method(name, tau=0.1), split, 0) for stage in STAGES]
    for other in found[1:]:
        assert other.curves["loss"] == pytest.approx(found[0].curves["loss"], abs=1e-6)
        assert other.curves["gradient_norm"] == pytest.approx(found[0].curves["gradient_norm"], rel=1e-4)
        assert torch.allclose(weights(other), weights(found[0]), atol=1e-6, rtol=0)


@pytest.mark.parametrize("stage", STAGES)
def test_bf16_trains_close_to_fp32_and_keeps_fp32_weights(make_setup: Make, split: Split, stage: int) -> None:
    exact = train(make_setup(), infonce(), split, 0)
    rough = train(make_setup(precision="bf16", zero_stage=stage), infonce(), split, 0)
    assert rough.curves["loss"] != exact.curves["loss"]
    assert rough.curves["loss"][0] == pytest.approx(exact.curves["loss"][0], rel=0.05)
    assert all(parameter.dtype == torch.float32 for parameter in rough.encoder.parameters())


@pytest.mark.slow
def test_in_bf16_every_stage_adds_gradients_up_in_fp32(make_setup: Make, split: Split) -> None:
    setups = (make_setup(precision="bf16", zero_stage=stage, processes=2) for stage in STAGES)
    one, *others = (train(setup, infonce(), split, 0) for setup in setups)
    for other in others:
        assert torch.allclose(weights(other), weights(one), atol=1e-6, rtol=0)


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_clamped_temperature_stays_clamped_and_comes_back_at_once(
    make_setup: Make, split: Split, stage: int, precision: str
) -> None:
    scale = 15.0
    method = Pushed(max_scale=scale)
    setup = make_setup(steps=12, lr=0.05, zero_stage=stage, precision=precision)
    curve = train(setup, method, split, 0).curves["temperature"]
    assert curve[3:7] == pytest.approx([1 / scale] * 4, rel=1e-5)
    reference = Pushed(max_scale=scale)
    expected = train(make_setup(steps=12, lr=0.05), reference, split, 0).curves["temperature"]
    assert expected[-1] > 1.01 / scale
    assert curve == pytest.approx(expected, rel=1e-5)
    assert float(method.learned.detach()) == pytest.approx(float(reference.learned.detach()), rel=1e-5)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_loss_that_is_no_number_stops_the_run_by_name_and_step(make_setup: Make, split: Split, bad: float) -> None:
    class Broken(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            sound = super().loss(batch, clock)
            return Loss(sound.total * (bad if clock.step == 2 else 1), gauges={"temperature": 0.1})

    finished: list[int] = []
    with pytest.raises(RunError, match=rf"infonce: the loss is {bad} at step 2 \(temperature 0\.1, gap "):
        train(make_setup(), Broken(tau=0.1), split, 0, finished.append)
    assert finished == [1, 2]


def test_a_run_after_a_broken_one_is_not_affected(make_setup: Make, split: Split) -> None:
    class Broken(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(super().loss(batch, clock).total * math.nan)

    before = train(make_setup(), infonce(), split, 0)
    with pytest.raises(RunError):
        train(make_setup(), Broken(), split, 0)
    assert train(make_setup(), infonce(), split, 0).curves == before.curves


def test_needs_that_training_does_not_provide_are_refused(make_setup: Make, split: Split) -> None:
    class Needy(InfoNCE):
        needs: ClassVar = frozenset({"cluster", "image_view"})

    with pytest.raises(UsageError, match="infonce needs cluster, which the setup does not provide"):
        train(make_setup(), Needy(), split, 0)


def test_views_and_sample_ids_are_provided(make_setup: Make, split: Split) -> None:
    seen: list[PairBatch] = []

    class Looking(method_class("temo")):  # type: ignore[misc]
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            seen.append(batch)
            return super().loss(batch, clock)

    setup = make_setup(dropout=0.0).model_copy(update={"augmentation": Augmentation(crop=(0.5, 1.0))})
    train(setup, Looking(), split, 0)
    for batch in seen:
        assert len(set(batch.index.tolist())) == batch.size == 16
        assert not torch.allclose(batch.image, batch.image_view)
        assert not torch.allclose(batch.text, batch.text_view)
        assert torch.allclose(batch.text.norm(dim=1), torch.ones(16))


def test_a_batch_without_views_does_not_carry_them(make_setup: Make, split: Split) -> None:
    class Greedy(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(batch.image_view.sum())

    with pytest.raises(ValueError, match='the batch has no "image_view"'):
        train(make_setup(), Greedy(), split, 0)


def test_a_probe_hears_of_finished_steps_and_its_values_are_curves(make_setup: Make, split: Split) -> None:
    told: list[tuple[int, int]] = []

    def probe(done: int, last: int, *trained: object) -> dict[str, float]:
        told.append((done, last))
        return {"retrieval.i2t_r1": done / 4}

    trained = train(make_setup(), infonce(), split, 0, probe=probe)
    assert told == [(1, 0), (2, 1), (3, 2), (4, 3)]
    assert trained.curves["retrieval.i2t_r1"] == [0.25, 0.5, 0.75, 1]


def test_watch_is_told_each_finished_step_and_cost_counts_pairs(
    make_setup: Make, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    pairs: list[int] = []
    monkeypatch.setattr(Meter, "now", lambda self, done: pairs.append(done) or {})
    trained = train(make_setup(accumulation=2), infonce(), split, 0, told.append)
    assert told == [1, 2, 3, 4]
    assert pairs == [32, 64, 96, 128], "two losses of 16 a step"
    cost = trained.cost
    assert cost["pairs_per_second"] == pytest.approx(4 * 2 * 16 / cost["seconds"], rel=0.05)
    assert cost["trainable_parameters"] == sum(p.numel() for p in trained.encoder.parameters())
