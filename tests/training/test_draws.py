"""What a step draws: dropout for each process, the method's own draws the same for all of them."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from benchsuite.data.base import Split
from benchsuite.methods.base import Clock, Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.methods.infonce import InfoNCE
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.tokenizer import Tokens
from benchsuite.setup import Setup
from benchsuite.training import loop, shares
from benchsuite.training.feed import Inputs
from benchsuite.training.loop import train

Draws = Callable[..., tuple[Tensor, float]]


@pytest.fixture
def draws(make_setup: Callable[..., Setup], monkeypatch: pytest.MonkeyPatch) -> Draws:
    """`draws(seed=, step=, process=)`: text embeddings under dropout, and what the method draws."""
    encoder = seeded_encoder(make_setup(dropout=0.5), 120, 0).train()
    tokens = Tokens(torch.ones(4, 5, dtype=torch.long), torch.ones(4, 5, dtype=torch.long))

    def at(seed: int = 0, step: int = 0, process: int = 0) -> tuple[Tensor, float]:
        seen: list[tuple[Tensor, float]] = []

        class Looking(InfoNCE):
            def loss(self, batch: PairBatch, clock: Clock) -> Loss:
                seen.append((batch.text.detach(), torch.rand(()).item()))
                return Loss(batch.text.sum())

        monkeypatch.setattr(shares, "shares_here", lambda count: range(process, process + 1))
        trainee = loop.Trainee(encoder, Looking(), seed)
        trainee.number = step
        trainee(Inputs({}, {"text": tokens}, {"index": torch.arange(4)}), Clock(step, 4))
        return seen[0]

    return at


def test_dropout_is_another_at_each_step_seed_and_process(draws: Draws) -> None:
    text, _ = draws()
    assert torch.equal(text, draws()[0])
    for other in ({"step": 1}, {"seed": 1}, {"process": 1}):
        assert not torch.equal(text, draws(**other)[0]), other


def test_a_methods_draws_are_others_at_each_step_and_seed_and_equal_on_all_processes(draws: Draws) -> None:
    _, number = draws()
    assert draws(process=1)[1] == number
    assert len({number, draws(step=1)[1], draws(seed=1)[1]}) == 3


def test_each_loss_of_a_step_has_draws_of_its_own(make_setup: Callable[..., Setup], split: Split) -> None:
    drawn: list[float] = []

    class Drawing(InfoNCE):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            drawn.append(torch.rand(()).item())
            return super().loss(batch, clock)

    train(make_setup(accumulation=2, steps=3), Drawing(tau=0.1), split, 0)
    assert len({*drawn}) == len(drawn) == 6
    alone, drawn = [*drawn], []
    train(make_setup(accumulation=1, steps=6), Drawing(tau=0.1), split, 0)
    assert drawn == alone, "by the number of the loss"
