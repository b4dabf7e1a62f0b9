import math
from typing import Any

import pytest
import torch
from family import naive_average
from global_batches import NOW, SAMPLES, assert_close, batches, gradients
from torch import Tensor

from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch

NAMES = ["amclr", "xamclr"]
STATES = ["accumulated", "sequential", "per-pairing"]
# F_1 .. F_12, anchor then candidates, in the order of the paper's equations 50 to 61.
EQUATIONS = [
    ("image", "text"),
    ("image", "text_view"),
    ("image_view", "text"),
    ("image_view", "text_view"),
    ("text", "image"),
    ("text", "image_view"),
    ("text_view", "image"),
    ("text_view", "image_view"),
    ("image", "image_view"),
    ("image_view", "image"),
    ("text", "text_view"),
    ("text_view", "text"),
]
TERMS = {"amclr": EQUATIONS[:8], "xamclr": EQUATIONS}


def make(name: str, **settings: Any) -> Method:
    return create_method(name, **{"num_samples": SAMPLES, "tau": 0.1, **settings})


def naive_gaps(batch: PairBatch, anchor: str, candidate: str, positive: bool = False) -> list[list[Tensor]]:
    x = [row / torch.sqrt((row * row).sum()) for row in getattr(batch, anchor)]
    y = [row / torch.sqrt((row * row).sum()) for row in getattr(batch, candidate)]
    return [[(x[i] * y[j] - x[i] * y[i]).sum() for j in range(len(y)) if j != i or positive] for i in range(len(x))]


class Naive:
    """Literal loops: raw exponentials, and u in dictionaries keyed by what the kind of state tells apart."""

    def __init__(self, name: str, method: Method) -> None:
        self.pairings, self.m = TERMS[name], method
        self.u: dict[tuple[str, int], float] = {}

    def visited(self, key: tuple[str, int], g: float, epoch: int) -> float:
        return naive_average(self.u, key, g, epoch, self.m)

    def step(self, batch: PairBatch, epoch: int) -> tuple[float, Tensor]:
        value, pull, tau = 0.0, torch.zeros((), dtype=torch.float64), self.m.tau
        for i, sample in enumerate(batch.index.tolist()):
            for side in ("image", "text"):
                mine = [pairing for pairing in self.pairings if pairing[0] in (side, f"{side}_view")]
                gaps = {p: naive_gaps(batch, *p, self.m.positive_in_denominator)[i] for p in mine}
                g = {p: sum(math.exp(x.item() / tau) for x in gaps[p]) / len(gaps[p]) for p in mine}
                if self.m.state == "accumulated":
                    u = dict.fromkeys(mine, self.visited((side, sample), sum(g.values()) / len(mine), epoch))
                elif self.m.state == "sequential":
                    u = {p: self.visited((side, sample), g[p], epoch) for p in mine}
                else:
                    u = {p: self.visited(("-".join(p), sample), g[p], epoch) for p in mine}
                for p in mine:
                    value += tau * math.log(g[p]) / batch.size
                    weights = [math.exp(x.item() / tau) / u[p] / len(gaps[p]) for x in gaps[p]]
                    pull = pull + sum(w * x for w, x in zip(weights, gaps[p], strict=True)) / batch.size
        return value, pull


@pytest.mark.parametrize("rule", ["g", "gamma-g", "first-epoch"])
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", NAMES)
def test_matches_the_naive_twin_over_several_steps(name: str, state: str, positive: bool, rule: str) -> None:
    method = make(name, gamma=0.6, state=state, first_visit=rule, positive_in_denominator=positive)
    naive = Naive(name, method)
    for step, batch in enumerate(batches("views")):
        total = method(batch, Clock(step=step, total_steps=9, epoch=step // 2)).total
        value, pull = naive.step(batch, step // 2)
        assert total.item() == pytest.approx(value, abs=1e-8)
        assert_close(gradients(total, batch), gradients(pull, batch))
    stored = method.state_dict()
    assert {key.split(".")[1] for key in stored} == {key for key, _ in naive.u}
    for (key, sample), u in naive.u.items():
        assert stored[f"u.{key}.log_u"][sample].item() == pytest.approx(math.log(u), abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_each_term_is_the_papers_f_k_up_to_its_constant(name: str) -> None:
    batch = next(batches("views"))
    loss = make(name)(batch, NOW)
    assert set(loss.terms) == {"-".join(pairing) for pairing in TERMS[name]}
    for anchor, candidate in TERMS[name]:
        paper = 0.0
        for gaps in naive_gaps(batch, anchor, candidate):
            paper -= 0.1 * math.log(1 / sum(math.exp(gap.item() / 0.1) for gap in gaps)) / 4
        assert loss.terms[f"{anchor}-{candidate}"].item() == pytest.approx(paper - 0.1 * math.log(3), abs=1e-10)
    assert loss.total.item() == pytest.approx(sum(term.item() for term in loss.terms.values()), abs=1e-12)
