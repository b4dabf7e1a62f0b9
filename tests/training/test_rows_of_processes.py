"""Two processes that each compute their own rows of an objective: gradients, gauges and work."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.forked import in_processes
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from benchsuite.methods import create_method
from benchsuite.methods.base import Clock
from benchsuite.methods.batch import PairBatch
from benchsuite.objectives.blocks import Sizes, sized
from benchsuite.objectives.pairwise import by_rows, similarities
from benchsuite.objectives.shares import shared
from benchsuite.objectives.softmax import info_nce
from benchsuite.training.distributed import ProcessShares, gather_batch, share, world_size

pytestmark = pytest.mark.slow
ROWS, WIDTH = 12, 5
SIZES = {"whole": Sizes(), "blocks": Sizes(whole=0, rows=2)}
WORK = ("infonce", "dystress", "temo", "cwcl", "sogclr", "mm-ts-margin", "siglip")


class Entries(TorchDispatchMode):
    """Counts entries of products that have a column for each row of the batch."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.mm.default and result.shape[1] == ROWS:
            self.count += result.numel()
        return result


def mine(model: nn.Module) -> PairBatch:
    """The global batch from this process's rows."""
    generator = torch.Generator().manual_seed(1)
    names = ("image", "text", "image_view", "text_view")
    rows = {name: torch.randn(ROWS, WIDTH, generator=generator, dtype=torch.float64) for name in names}
    parts = {name: model(values[share(ROWS)]) for name, values in rows.items()}
    ids = {"index": torch.arange(ROWS), "cluster": torch.arange(ROWS) % 2}
    return gather_batch({**parts, **{name: values[share(ROWS)] for name, values in ids.items()}})


def mixed(batch: PairBatch, tau: Tensor) -> Tensor:
    """Terms of every kind: by rows in both directions, by rows and not linear in them, and computed as a whole."""
    s = similarities(batch.image, batch.text)
    each = by_rows(lambda block: torch.logsumexp(s.at(block) / tau, 1), s)
    views = batch.image_view @ batch.text_view.T
    return info_nce(s, s.map(lambda s: tau + s.square())) + each.square().mean() + info_nce(views, 2 * tau)


def odd(batch: PairBatch, tau: Tensor) -> Tensor:
    """A matrix whose rows the processes cannot share equally."""
    s = similarities(batch.image[:-1], batch.text)
    return by_rows(lambda block: torch.logsumexp(s.at(block) / tau, 1), s).mean()


def gradients(sizes: Sizes) -> dict[str, list[Tensor]]:
    """Values of terms, and their gradients averaged over processes as the engine does."""
    found = {}
    for name, term in {"mixed": mixed, "odd": odd}.items():
        torch.manual_seed(0)
        model, tau = nn.Linear(WIDTH, WIDTH, dtype=torch.float64), nn.Parameter(torch.tensor(0.3, dtype=torch.float64))
        with shared(ProcessShares()), sized(sizes):
            value = term(mine(model), tau)
        value.backward()
        slopes = [p.grad for p in (*model.parameters(), tau) if p.grad is not None]
        if world_size() > 1:
            for slope in slopes:
                dist.all_reduce(slope)
                slope /= world_size()
        found[name] = [value.detach(), *slopes]
    return found


def entries(name: str) -> int:
    """Entries of similarities that this process computes for a loss and its gradient."""
    torch.manual_seed(0)
    method = create_method(name, num_samples=ROWS).double()
    with Entries() as counted, shared(ProcessShares()), sized(SIZES["blocks"]):
        method(mine(nn.Linear(WIDTH, WIDTH, dtype=torch.float64)), Clock(1, 2)).total.backward()
    return counted.count


def messages() -> dict[str, Any]:
    """How often a batch of embeddings, teachers' embeddings, experts and numbers passes between processes."""
    own = {name: torch.randn(ROWS // 2, WIDTH, requires_grad=True) for name in ("image", "text", "image_view")}
    own |= {"image_teacher": torch.randn(ROWS // 2, WIDTH), "image_expert": torch.randn(ROWS // 2, 3)}
    own |= {"index": torch.arange(ROWS // 2), "cluster": torch.arange(ROWS // 2)}
    calls: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in ("all_gather", "all_reduce", "broadcast"):
            given = getattr(dist, name)
            patch.setattr(dist, name, lambda *a, g=given, n=name, **k: calls.append(n) or g(*a, **k))
        batch = gather_batch(own)
        (batch.image + batch.text).square().sum().backward()
    rows = {name: getattr(batch, name) for name in own}
    mine = {name: torch.equal(part[share(ROWS)], own[name]) and part.is_contiguous() for name, part in rows.items()}
    return {"calls": calls, "mine": mine, "learns": [name for name, part in rows.items() if part.requires_grad]}


def gauges(name: str) -> dict[str, float]:
    torch.manual_seed(0)
    with shared(ProcessShares()), sized(SIZES["blocks"]):
        loss = create_method(name, num_samples=ROWS)(mine(nn.Linear(WIDTH, WIDTH).double()), Clock(1, 2))
    return {key: float(torch.as_tensor(value).detach()) for key, value in {**loss.terms, **loss.gauges}.items()}


def found() -> dict[str, Any]:
    return {
        **{kind: gradients(sizes) for kind, sizes in SIZES.items()},
        "entries": {name: entries(name) for name in WORK},
        "gauges": {name: gauges(name) for name in ("dystress", "temo", "sogclr")},
    }


def process(number: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=number, world_size=2)
    torch.save({**found(), "messages": messages()}, f"{folder}/{number}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def together(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("together")
    in_processes(process, args=(str(folder),), nprocs=2)
    return [torch.load(Path(folder, f"{number}.pt"), weights_only=True) for number in range(2)]


@pytest.fixture(scope="module")
def alone() -> dict[str, Any]:
    return found()


@pytest.mark.parametrize("kind", SIZES)
@pytest.mark.parametrize("term", ["mixed", "odd"])
def test_shares_and_whole_terms_have_the_gradients_of_one_process(
    together: list[dict[str, Any]], alone: dict[str, Any], kind: str, term: str
) -> None:
    for values in together:
        torch.testing.assert_close(values[kind][term], alone["whole"][term], atol=1e-10, rtol=1e-10)


def test_each_process_does_half_of_the_work(together: list[dict[str, Any]], alone: dict[str, Any]) -> None:
    for name in WORK:
        for values in together:
            assert values["entries"][name] == alone["entries"][name] / 2, name
    assert alone["entries"]["infonce"] == 2 * ROWS**2  # forwards, and again backwards


def test_terms_and_gauges_are_those_of_the_whole_batch_on_every_process(
    together: list[dict[str, Any]], alone: dict[str, Any]
) -> None:
    for name, expected in alone["gauges"].items():
        assert together[0]["gauges"][name] == together[1]["gauges"][name] == pytest.approx(expected, abs=1e-6)


def test_a_batch_passes_in_one_message_for_each_kind_of_numbers(together: list[dict[str, Any]]) -> None:
    for values in together:
        found = values["messages"]
        assert found["calls"] == [*["all_gather"] * 3, "all_reduce"]
        assert all(found["mine"].values())
        assert found["learns"] == ["image", "text", "image_view"]
