"""The averaged copy of the towers: what it is, what it sees, and how it moves."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor

from benchsuite import Clock, Loss, Method, PairBatch, register_method
from benchsuite.data.base import Split
from benchsuite.errors import RunError, UsageError
from benchsuite.methods import base, create_method, method_class
from benchsuite.models.dual_encoder import DualEncoder, seeded_encoder
from benchsuite.setup import Augmentation, Optimizer, Setup
from benchsuite.training import loop
from benchsuite.training.engine import parameter_groups
from benchsuite.training.loop import Trainee, train
from benchsuite.training.needs import passes

Make = Callable[..., Setup]
PAIR = ("image_teacher", "text_teacher")


@pytest.fixture
def make_method(forgetful_registries: None) -> Callable[..., Method]:
    """`make_method(momentum=, evaluates=, needs=, serves=)`: embeddings agree with the teacher's."""

    def make(momentum: Any = 0.5, judged: str = "student", needs: tuple[str, ...] = PAIR, **about: Any) -> Method:
        @register_method("taught-for-test", needs=needs, **about)
        class Taught(Method):
            evaluates: ClassVar = judged

            def loss(self, batch: PairBatch, clock: Clock) -> Loss:
                self.seen: list[PairBatch] = [*getattr(self, "seen", []), batch]
                pairs = [
                    (batch._given[name.removesuffix("_teacher")], batch._given[name])
                    for name in PAIR
                    if batch.has(name)
                ]
                return Loss(torch.stack([(a - b.roll(1, 0)).square().mean() for a, b in pairs]).sum())

            def teacher_momentum(self, clock: Clock) -> float:
                return momentum(clock) if callable(momentum) else momentum

        return create_method("taught-for-test")

    return make


@pytest.fixture
def caught(monkeypatch: pytest.MonkeyPatch) -> list[Trainee]:
    """The trainees of this test's trainings."""
    made: list[Trainee] = []

    class Caught(Trainee):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(loop, "Trainee", Caught)
    return made


def snapshots(encoder: DualEncoder) -> list[Tensor]:
    return [p.detach().clone() for p in encoder.parameters()]


@pytest.mark.parametrize(
    "settings",
    [{}, {"zero_stage": 1}, {"zero_stage": 2}, {"zero_stage": 2, "precision": "bf16"}, {"accumulation": 2}],
    ids=str,
)
def test_after_each_step_the_copy_keeps_m_of_itself_and_takes_the_rest(
    make_setup: Make, split: Split, make_method: Callable[..., Method], caught: list[Trainee], settings: dict[str, Any]
) -> None:
    students: list[list[Tensor]] = []
    setup = make_setup(**settings)
    schedule = [0.9, 0.5, 0.0, 0.25]
    method = make_method(lambda clock: schedule[clock.step])
    train(setup, method, split, 0, watch=lambda step: students.append(snapshots(caught[0].encoder)))
    expected = [p.detach().double() for p in seeded_encoder(setup, 120, 0).parameters()]
    for m, student in zip(schedule, students, strict=True):
        expected = [m * e + (1 - m) * s.double() for e, s in zip(expected, student, strict=True)]
    for mine, other in zip(caught[0].teacher.parameters(), expected, strict=True):
        torch.testing.assert_close(mine.double(), other, atol=1e-6, rtol=1e-5)
    moved = [not torch.equal(a, b) for a, b in zip(caught[0].teacher.parameters(), students[-1], strict=True)]
    assert all(moved[i] for i, p in enumerate(students[-1]) if p.dim() > 1)


def test_the_copy_starts_equal_runs_without_gradient_and_sees_the_same_inputs(
    make_setup: Make, split: Split, make_method: Callable[..., Method], caught: list[Trainee]
) -> None:
    method = make_method()
    trained = train(make_setup(dropout=0.0), method, split, 0)
    first, second, *_ = method.seen
    assert torch.equal(first.image, first.image_teacher)
    assert torch.equal(first.text, first.text_teacher)
    assert not torch.equal(second.image, second.image_teacher)
    assert not any(batch._given[name].requires_grad for batch in method.seen for name in PAIR)
    assert all(p.grad is None and not p.requires_grad for p in caught[0].teacher.parameters())
    torch.testing.assert_close(first.image_teacher.norm(dim=1), torch.ones(16))
    assert trained.cost["trainable_parameters"] == sum(p.numel() for p in trained.encoder.parameters())


def test_it_trains_in_train_mode_with_batch_norms_of_its_own(
    make_setup: Make, split: Split, make_method: Callable[..., Method], caught: list[Trainee]
) -> None:
    train(make_setup(resnet=True, steps=3), make_method(1.0), split, 0)
    trainee = caught[0]
    names = [name for name, _ in trainee.encoder.named_buffers() if name.endswith("running_mean")]
    student, teacher, start = (
        dict(e.named_buffers())
        for e in (trainee.encoder, trainee.teacher, seeded_encoder(make_setup(resnet=True), 120, 0))
    )
    for name in names:
        assert not torch.equal(teacher[name], start[name])
    assert any(not torch.equal(teacher[name], student[name]) for name in names)


def test_the_students_dropout_is_as_without_a_teacher(
    make_setup: Make, split: Split, make_method: Callable[..., Method]
) -> None:
    method = make_method()
    train(make_setup(dropout=0.5, steps=1), method, split, 0)
    assert not torch.equal(method.seen[0].text, method.seen[0].text_teacher)
    plain: list[Tensor] = []

    class Looking(type(create_method("infonce"))):  # type: ignore[misc]
        def loss(self, batch: base.PairBatch, clock: Clock) -> Loss:
            plain.append(batch.text)
            return super().loss(batch, clock)

    train(make_setup(dropout=0.5, steps=1), Looking(), split, 0)
    assert torch.equal(plain[0], method.seen[0].text)


@pytest.mark.parametrize("judged", ["student", "teacher"])
def test_the_method_says_which_encoder_is_evaluated(
    make_setup: Make, split: Split, make_method: Callable[..., Method], caught: list[Trainee], judged: str
) -> None:
    probed: list[DualEncoder] = []

    def probe(step: int, last: int, encoder: DualEncoder, words: object) -> dict[str, float]:
        assert not encoder.training
        probed.append(encoder)
        return {}

    trained = train(make_setup(), make_method(judged=judged), split, 0, probe=probe)
    trainee = caught[0]
    chosen = trainee.teacher if judged == "teacher" else trainee.encoder
    assert all(encoder is chosen for encoder in (*probed, trained.encoder))
    assert len(probed) == 4
    assert not trained.encoder.training


def test_a_teacher_leaves_initial_weights_and_batches_alone_and_is_saved(
    make_setup: Make, split: Split, make_method: Callable[..., Method], caught: list[Trainee]
) -> None:
    taught = train(make_setup(), make_method(), split, 0)
    assert taught.digests == train(make_setup(), create_method("infonce"), split, 0).digests
    saved = caught[0].state_dict()
    assert {name for name in saved if name.startswith("teacher.")} == {
        f"teacher.{name}" for name in caught[0].encoder.state_dict()
    }
    assert caught[1].teacher is None
    again = Trainee(seeded_encoder(make_setup(), 120, 0), make_method(), 0)
    again.load_state_dict(saved)


@pytest.mark.parametrize("side", ["image", "text"])
def test_one_tower_has_the_teachers_view_without_encoding_it_itself(
    make_setup: Make, split: Split, make_method: Callable[..., Method], side: str
) -> None:
    names = ("image_teacher", "image_view_teacher", "text_teacher", "text_view_teacher")
    setup = Setup.model_validate(
        make_setup(dropout=0.0, steps=2).model_copy(update={"augmentation": Augmentation(crop=(0.5, 1.0))}).model_dump()
        | {"text" if side == "image" else "image": None}
    )
    method = make_method(needs=names, serves=("image", "text"))
    train(setup, method, split, 0)
    batch = method.seen[0]
    assert set(batch._given) == {side, f"{side}_teacher", f"{side}_view_teacher", "index"}
    assert batch.side == side
    assert torch.equal(batch.teacher_views[0], batch._given[f"{side}_teacher"])
    both = make_method(needs=(*names, "image_view", "text_view"), serves=("image", "text"))
    train(setup, both, split, 0)
    for one, other in zip(both.seen[0].views, both.seen[0].teacher_views, strict=True):
        assert torch.equal(one, other)
    assert not torch.equal(*both.seen[0].views)


def test_a_pair_has_a_view_by_the_teacher_alone(
    make_setup: Make, split: Split, make_method: Callable[..., Method]
) -> None:
    method = make_method(needs=("image_teacher", "image_view_teacher"))
    train(make_setup(steps=1), method, split, 0)
    assert set(method.seen[0]._given) == {"image", "text", "index", "image_teacher", "image_view_teacher"}


def test_a_method_that_does_not_say_its_momentum_is_refused_when_it_is_made(forgetful_registries: None) -> None:
    @register_method("no-momentum-for-test", needs=PAIR)
    class NoMomentum(Method):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(batch.image.sum())

    with pytest.raises(
        UsageError,
        match=r"no-momentum-for-test: it has an averaged copy, so it must define teacher_momentum\(self, clock\)",
    ):
        create_method("no-momentum-for-test")


def test_evaluating_a_teacher_that_is_not_there_is_refused(make_method: Callable[..., Method]) -> None:
    with pytest.raises(UsageError, match="evaluates the teacher and has none; needs can name image_teacher"):
        make_method(judged="teacher", needs=())


@pytest.mark.parametrize("share", [1.5, -0.1, float("nan")])
def test_a_momentum_outside_of_its_range_stops_the_run(
    make_setup: Make, split: Split, make_method: Callable[..., Method], share: float
) -> None:
    with pytest.raises(
        RunError, match=rf"taught-for-test: teacher_momentum is {share} at step 2; it must be a number in \[0, 1\]"
    ):
        train(make_setup(), make_method(lambda clock: share if clock.step == 2 else 0.5), split, 0)


def test_a_teacher_costs_a_forward_pass_of_each_input(make_setup: Make, make_method: Callable[..., Method]) -> None:
    pair, image = make_setup(), make_setup().model_copy(update={"text": None})
    assert passes(create_method("infonce"), pair) == 1
    assert passes(create_method("temo"), pair) == 2
    assert passes(create_method("simclr"), image) == 2
    assert passes(make_method(), pair) == pytest.approx(1 + 1 / 3)
    both = make_method(needs=("image_view", "image_teacher", "image_view_teacher", "text_teacher"), serves=("image",))
    assert passes(both, image) == pytest.approx(2 + 2 / 3)
    keys = make_method(needs=("image_view_teacher", "text_view_teacher"), serves=("image",))
    assert passes(keys, image) == pytest.approx(1 + 1 / 3)


@pytest.mark.parametrize("stage", [0, 2])
def test_heads_are_trained_and_their_copies_follow(make_setup: Make, split: Split, stage: int) -> None:
    setup = make_setup(zero_stage=stage).model_copy(update={"text": None})
    torch.manual_seed(0)
    method: Any = create_method("dino", **method_class("dino").miniature, momentum=0.5, rises=False)
    method.head["mlp"].build(8)
    first = [p.detach().clone() for p in method.head.parameters()]
    seen: list[list[Tensor]] = []
    train(
        setup, method, split, 0, watch=lambda step: seen.append([p.detach().clone() for p in method.head.parameters()])
    )
    expected = first
    for weights in seen:
        expected = [0.5 * e + 0.5 * w for e, w in zip(expected, weights, strict=True)]
    for mine, copied, start in zip(method.teacher_head.parameters(), expected, first, strict=True):
        torch.testing.assert_close(mine, copied)
        assert not torch.equal(mine, start)


@pytest.mark.parametrize("decay_vectors", [False, True])
def test_biases_and_norms_of_heads_decay_as_those_of_the_towers(make_setup: Make, decay_vectors: bool) -> None:
    optimizer = Optimizer(lr=1e-3, weight_decay=0.02, decay_vectors=decay_vectors)
    setup = make_setup().model_copy(update={"text": None, "optimizer": optimizer})
    method = create_method("byol", width=8, hidden=16)
    groups = parameter_groups(seeded_encoder(setup, 120, 0), method, setup)
    decay = {id(p): group["weight_decay"] for group in groups for p in group["params"]}
    assert [decay[id(p)] for p in method.parameters()] == [
        0.02 if p.dim() > 1 or decay_vectors else 0.0 for p in method.parameters()
    ]
