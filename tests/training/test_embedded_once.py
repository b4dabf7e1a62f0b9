"""Frozen towers are run once: with the values of a training that runs them at every step."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support.resuming import STEPS, Outcome, require_equal, stopped_and_resumed, trained

from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.models.clip_models import Projected
from benchsuite.running import SKIP_BAD_PICTURES
from benchsuite.setup import Augmentation, Projection, Setup
from benchsuite.training import loop
from benchsuite.training.embedded_once import sides_once

Make = Callable[..., Setup]
FROZEN = {"train": "none", "projection": "new"}


@pytest.fixture
def at_every_step(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Outcome]:
    """`trained`, with every tower run at every step."""

    def train(*given: Any) -> Outcome:
        with monkeypatch.context() as patch:
            patch.setattr(loop, "sides_once", lambda *_: frozenset())
            return trained(*given)

    return train


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each run of a side of a pretrained model in a training."""
    seen: list[int] = []
    forward = Projected.forward

    def counted(self: Projected, inputs: Any) -> torch.Tensor:
        out = forward(self, inputs)
        seen.append(len(out))
        return out

    monkeypatch.setattr(Projected, "forward", counted)
    return seen


@pytest.fixture
def few(split: Split) -> Split:
    """32 pictures of two or three captions, some longer, and paraphrases: as many texts as five steps of 16 read."""
    texts = [[*captions[: 1 + i % 2], " ".join(captions[1:3])] for i, captions in enumerate(split.captions[:32])]
    return Split("few", split.images[:32], texts, [captions[3:] for captions in split.captions[:32]])


Towers = dict[str, Any]
PROJECTED: Towers = {"projection": "new"}
FROZEN: Towers = {"train": "none", **PROJECTED}
WAYS: list[tuple[str, str, Towers, Towers, dict[str, Any], set[str]]] = [
    ("clip", "infonce", FROZEN, {}, {}, {"image"}),
    ("clip", "temo", {"train": "none"}, {}, {"processes": 2}, {"image"}),
    ("open_clip", "slip", FROZEN, PROJECTED, {"zero_stage": 2}, {"image"}),
    ("siglip", "siglip", {}, {"train": "none"}, {"accumulation": 2}, {"text"}),
    ("siglip", "temo", FROZEN, FROZEN, {"precision": "bf16"}, {"image", "text"}),
    ("clip", "temo", PROJECTED, FROZEN, {}, {"text"}),
]


@pytest.mark.parametrize(("kind", "method", "image", "text", "more", "sides"), WAYS)
def test_a_frozen_tower_gives_what_it_gives_at_every_step(
    kind: str,
    method: str,
    image: Towers,
    text: Towers,
    more: dict[str, Any],
    sides: set[str],
    tuning: Make,
    few: Split,
    at_every_step: Callable[..., Outcome],
) -> None:
    setup = tuning(kind, image, text, **more)
    assert sides_once(setup, BatchPlan(few, 16, setup.augmentation, 0)) == sides
    once, each = trained(method, setup, few), at_every_step(method, setup, few)
    assert once.digests == each.digests
    if sides == {"image"}:
        require_same(once, each)
    assert once.curves["loss"] == pytest.approx(each.curves["loss"], rel=1e-5)  # texts are padded to others


def require_same(one: Outcome, other: Outcome) -> None:
    assert repr(one.curves) == repr(other.curves)
    assert [name for name, value in one.state.items() if not torch.equal(value, other.state[name])] == []


def test_a_teacher_reads_what_its_own_frozen_tower_would_give(
    of_timm: Make, few: Split, at_every_step: Callable[..., Outcome]
) -> None:
    setup = of_timm("resnet", train="none").model_copy(update={"text": None, "projection": Projection(width=8)})
    require_same(trained("byol", setup, few), at_every_step("byol", setup, few))


def test_a_frozen_tower_runs_once_for_all_trainings(
    tuning: Make, few: Split, runs: list[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In blocks of a share of the batch; the text tower at every step."""
    monkeypatch.setenv("BENCHSUITE_CACHE", str(tmp_path))
    setup = tuning("clip", FROZEN, PROJECTED, lr=2e-3)
    steps, blocks = STEPS, len(few) // 16
    makes = 2 * [1]  # one picture or text, to see its width
    for method, own in (("infonce", blocks), ("siglip", 0)):
        runs.clear()
        trained(method, setup, few)
        assert runs == makes + (own + steps) * [16]


def test_it_goes_on_to_the_same_bits(tuning: Make, few: Split, tmp_path: Path) -> None:
    setup = tuning("clip", FROZEN, {**FROZEN, "train": "last 1"}, zero_stage=2)
    require_equal(trained("temo", setup, few), stopped_and_resumed("temo", setup, few, tmp_path / "run"))


@pytest.mark.parametrize(
    ("tower", "augmentation", "steps", "sides"),
    [
        (FROZEN, {}, 5, {"image", "text"}),
        (FROZEN, {"jitter": 0.5, "text_view": "dropout"}, 5, {"image", "text"}),
        (FROZEN, {"crop": (0.5, 1.0)}, 5, {"text"}),
        (FROZEN, {"flip": True}, 5, {"text"}),
        (FROZEN, {}, 2, {"image"}),
        (FROZEN, {}, 1, set()),
        ({"train": "last 1"}, {}, 5, set()),
    ],
)
def test_only_what_every_step_would_give_is_made_once(
    tower: Towers, augmentation: dict[str, Any], steps: int, sides: set[str], tuning: Make, few: Split
) -> None:
    """And only what is read so often: two steps read 32 pictures, but not 80 texts."""
    setup = tuning("clip", tower, tower, steps=steps).model_copy(update={"augmentation": Augmentation(**augmentation)})
    assert sides_once(setup, BatchPlan(few, 16, setup.augmentation, 0)) == sides


def test_pictures_that_may_be_skipped_are_read_at_every_step(
    tuning: Make, few: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SKIP_BAD_PICTURES, "1")
    assert sides_once(tuning("clip", FROZEN), BatchPlan(few, 16, Augmentation(), 0)) == frozenset()
