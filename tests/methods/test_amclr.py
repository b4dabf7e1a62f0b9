import math
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from family import naive_average
from torch import Tensor

from benchsuite.errors import UsageError
from benchsuite.methods import create_method
from benchsuite.methods.base import Clock, Method
from benchsuite.methods.batch import PairBatch

NAMES = ["amclr", "xamclr"]
STATES = ["accumulated", "sequential", "per-pairing"]
PARTS = ("image", "text", "image_view", "text_view")
NOW = Clock(step=0, total_steps=9)
SAMPLES = 8
IDS = [[0, 3, 5, 6], [3, 1, 6, 7], [0, 3, 7, 2], [6, 5, 3, 0]]
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


def batches(steps: int = 4, dtype: torch.dtype = torch.float64) -> Iterator[PairBatch]:
    for step in range(steps):
        generator = torch.Generator().manual_seed(step)
        rows = {p: torch.randn(4, 3, generator=generator, dtype=torch.float64).to(dtype) for p in PARTS}
        yield PairBatch(**{p: r.requires_grad_() for p, r in rows.items()}, index=torch.tensor(IDS[step % len(IDS)]))


def gradients(total: Tensor, batch: PairBatch) -> list[Tensor]:
    return list(torch.autograd.grad(total, [getattr(batch, part) for part in PARTS], retain_graph=True))


def assert_close(ours: list[Tensor], twins: list[Tensor], tolerance: float = 1e-8) -> None:
    for mine, twin in zip(ours, twins, strict=True):
        torch.testing.assert_close(mine, twin, atol=tolerance, rtol=tolerance)


def make(name: str, **settings: Any) -> Method:
    return create_method(name, **{"num_samples": SAMPLES, "tau": 0.1, **settings})


def naive_gaps(batch: PairBatch, anchor: str, candidate: str, positive: bool = False) -> list[list[Tensor]]:
    x = [row / torch.sqrt((row * row).sum()) for row in getattr(batch, anchor)]
    y = [row / torch.sqrt((row * row).sum()) for row in getattr(batch, candidate)]
    return [[(x[i] * y[j] - x[i] * y[i]).sum() for j in range(len(y)) if j != i or positive] for i in range(len(x))]


def naive_term(batch: PairBatch, anchor: str, candidate: str, tau: float) -> Tensor:
    """F_k with a mean over the negatives in place of the paper's sum."""
    total = torch.zeros((), dtype=torch.float64)
    for gaps in naive_gaps(batch, anchor, candidate):
        total = total + tau * torch.log(sum(torch.exp(gap / tau) for gap in gaps) / len(gaps)) / batch.size
    return total


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
    for step, batch in enumerate(batches()):
        total = method(batch, Clock(step=step, total_steps=9, epoch=step // 2)).total
        value, pull = naive.step(batch, step // 2)
        assert total.item() == pytest.approx(value, abs=1e-8)
        assert_close(gradients(total, batch), gradients(pull, batch))
    stored = method.state_dict()
    assert {key.split(".")[1] for key in stored} == {key for key, _ in naive.u}
    for (key, sample), u in naive.u.items():
        assert stored[f"u.{key}.log_u"][sample].item() == pytest.approx(math.log(u), abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_are_the_papers(name: str) -> None:
    method = create_method(name, num_samples=2)
    assert method.options() == {
        "tau": 0.01,
        "gamma": 0.8,
        "first_visit": "g",
        "positive_in_denominator": False,
        "released_mean": False,
        "released_epsilon": "none",
        "state": "accumulated",
    }
    assert method.needs == {"index", "image_view", "text_view"}
    assert method.serves == {"pair"}


@pytest.mark.parametrize("name", NAMES)
def test_each_term_is_the_papers_f_k_up_to_its_constant(name: str) -> None:
    batch = next(batches())
    loss = make(name)(batch, NOW)
    assert set(loss.terms) == {"-".join(pairing) for pairing in TERMS[name]}
    for anchor, candidate in TERMS[name]:
        paper = 0.0
        for gaps in naive_gaps(batch, anchor, candidate):
            paper -= 0.1 * math.log(1 / sum(math.exp(gap.item() / 0.1) for gap in gaps)) / 4
        assert loss.terms[f"{anchor}-{candidate}"].item() == pytest.approx(paper - 0.1 * math.log(3), abs=1e-10)
    assert loss.total.item() == pytest.approx(sum(term.item() for term in loss.terms.values()), abs=1e-12)


def test_amclr_has_eight_terms_and_xamclr_twelve() -> None:
    assert [len(make(name)(next(batches()), NOW).terms) for name in NAMES] == [8, 12]


@pytest.mark.parametrize("name", NAMES)
def test_on_a_first_visit_a_state_per_pairing_has_the_values_gradient_and_an_accumulated_one_has_not(name: str) -> None:
    batch = next(batches())
    value = sum(naive_term(batch, *pairing, 0.1) for pairing in TERMS[name])
    expected = gradients(value, batch)
    for state in ("per-pairing", "accumulated"):
        total = make(name, state=state)(batch, NOW).total
        assert total.item() == pytest.approx(value.item(), abs=1e-8)
        difference = (gradients(total, batch)[0] - expected[0]).norm() / expected[0].norm()
        assert difference < 1e-8 if state == "per-pairing" else difference > 0.05


def test_a_sequential_slot_is_written_by_each_pairing_in_turn() -> None:
    for name, images in (("amclr", 4), ("xamclr", 6)):
        batch, method = next(batches()), make(name, state="sequential", gamma=0.5)
        method(batch, NOW)
        mine = [pairing for pairing in TERMS[name] if pairing[0].startswith("image")]
        assert len(mine) == images
        for i, sample in enumerate(IDS[0]):
            g = [sum(math.exp(x.item() / 0.1) for x in naive_gaps(batch, *p)[i]) / 3 for p in mine]
            u = g[0]
            for later in g[1:]:
                u = 0.5 * u + 0.5 * later
            assert method.u["image"].log_u[sample].item() == pytest.approx(math.log(u), abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_work_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=rf"{name}: it remembers each sample, so it needs num_samples"):
        create_method(name)
    with pytest.raises(UsageError, match=rf"{name}: gamma 0.0 would never"):
        make(name, gamma=0)
    with pytest.raises(UsageError, match=rf"{name}: state = 'shared' is not possible"):
        make(name, state="shared")
    with pytest.raises(ValueError, match="one has no negatives"):
        make(name)(PairBatch(**{p: torch.ones(1, 3) for p in PARTS}, index=torch.tensor([0])), NOW)
