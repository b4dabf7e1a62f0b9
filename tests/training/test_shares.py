"""One process that plays several shares does what as many processes would do."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.prepared import Prepared
from benchsuite.errors import UsageError
from benchsuite.methods import Clock, create_method, method_class
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.tokenizer import Tokens, words_for
from benchsuite.models.towers import image_encoder, weights_digest
from benchsuite.setup import Setup
from benchsuite.tower_settings import ImageTower
from benchsuite.training import distributed, shares
from benchsuite.training.feed import Feed, Inputs
from benchsuite.training.loop import Trainee, train

Make = Callable[..., Setup]
CLOCK = Clock(2, 4)


@pytest.fixture
def setup(make_setup: Make) -> Setup:
    """Two shares of eight pairs, with batch norm and dropout."""
    return make_setup(resnet=True, processes=2)


@pytest.fixture
def inputs(setup: Setup, split: Split) -> Inputs:
    words = words_for(setup.text, setup.data, split)
    return Feed(setup, BatchPlan(split, 16, setup.augmentation, 0), words, frozenset(), Prepared())(0, 0)


@pytest.fixture
def drops(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """`drops(True)`: activations are dropped, as on a GPU."""
    return lambda yes: monkeypatch.setattr(shares, "drops_activations", lambda count: yes)


def trainee(setup: Setup) -> Trainee:
    return Trainee(seeded_encoder(setup, 120, 0).train(), create_method("infonce"), 0, setup.training.processes)


def alone(setup: Setup, inputs: Inputs, number: int, patch: pytest.MonkeyPatch) -> tuple[dict[str, Tensor], nn.Module]:
    """The rows of one share, and the encoder after it, in a process that has no other share."""
    model = trainee(setup)
    with patch.context() as here:
        here.setattr(shares, "shares_here", lambda count: range(number, number + 1))
        return model.parts(inputs.shares(2)[number], CLOCK), model.encoder


@pytest.mark.parametrize("dropped", [False, True])
def test_each_share_has_the_dropout_and_batch_norm_of_a_process_of_its_own(
    setup: Setup, inputs: Inputs, drops: Callable[[bool], None], dropped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drops(dropped)
    both = trainee(setup).parts(inputs, CLOCK)
    first, second = (alone(setup, inputs, number, monkeypatch)[0] for number in range(2))
    for name in ("image", "text", "index"):
        assert torch.equal(both[name], torch.cat([first[name], second[name]])), name
    whole = setup.model_copy(update={"training": setup.training.model_copy(update={"processes": 1})})
    assert not torch.equal(both["text"], trainee(whole).parts(inputs, CLOCK)["text"])


@pytest.mark.parametrize("dropped", [False, True])
def test_running_statistics_are_those_of_the_first_share(
    setup: Setup, inputs: Inputs, drops: Callable[[bool], None], dropped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    drops(dropped)
    model = trainee(setup)
    before = {name: buffer.clone() for name, buffer in model.encoder.named_buffers()}
    rows = model.parts(inputs, CLOCK)
    (rows["image"].sum() + rows["text"].sum()).backward()
    _, expected = alone(setup, inputs, 0, monkeypatch)
    after = dict(model.encoder.named_buffers())
    moved = [name for name, buffer in expected.named_buffers() if not torch.equal(before[name], buffer)]
    assert moved
    for name, buffer in expected.named_buffers():
        assert torch.equal(after[name], buffer), name


@pytest.mark.parametrize(("method", "stage"), [("infonce", 2), ("byol", 0)])
def test_dropping_activations_changes_no_bit(
    setup: Setup, split: Split, drops: Callable[[bool], None], method: str, stage: int
) -> None:
    """Under byol a teacher has running statistics too."""
    training = setup.training.model_copy(update={"zero_stage": stage})
    under = setup.model_copy(update={"training": training} | ({"text": None} if method == "byol" else {}))
    found = []
    for dropped in (False, True):
        drops(dropped)
        torch.manual_seed(0)
        found.append(train(under, create_method(method, width=8, **method_class(method).miniature), split, 0))
    kept, again = found
    assert kept.curves == again.curves
    assert weights_digest(kept.encoder) == weights_digest(again.encoder)


def deep(setup: Setup, **training: object) -> Setup:
    """With two layers in each tower; the ResNet of the fixture has as many blocks in a stage."""
    text = setup.text.model_copy(update={"config": {**setup.text.config, "n_layers": 2}})
    return setup.model_copy(update={"text": text, "training": setup.training.model_copy(update=training)})


@pytest.mark.parametrize("training", [{"processes": 1}, {"zero_stage": 2}, {"precision": "bf16"}], ids=str)
@pytest.mark.parametrize(
    "tower", [{"timm": "test_vit", "options": {"img_size": 32, "depth": 2}}, {"timm": "test_resnet"}]
)
def test_keeping_only_inputs_of_blocks_changes_no_bit(
    setup: Setup, split: Split, monkeypatch: pytest.MonkeyPatch, training: dict[str, object], tower: dict[str, object]
) -> None:
    under = deep(setup, **training).model_copy(update={"image": ImageTower(**tower)})
    found = []
    for activations in ("", "blocks"):
        monkeypatch.setenv("BENCHSUITE_ACTIVATIONS", activations)
        torch.manual_seed(0)
        found.append(train(under, create_method("infonce"), split, 0))
    kept, again = found
    assert kept.curves == again.curves
    assert weights_digest(kept.encoder) == weights_digest(again.encoder)
    assert not any("forward" in vars(part) for part in again.encoder.modules())


@pytest.mark.parametrize(("name", "share"), [("test_resnet", 0.75), ("test_vit", 0.3), ("test_efficientnet", 0.5)])
def test_of_blocks_little_but_the_inputs_is_kept(name: str, share: float) -> None:
    """The stems of these small towers are large beside their blocks."""
    tower = image_encoder(ImageTower(timm=name))
    blocks, saved = shares.blocks_of(tower), []
    for kept in ([], blocks):
        sizes: list[int] = []
        hooks = torch.autograd.graph.saved_tensors_hooks(lambda t, s=sizes: s.append(t.nbytes) or t, lambda t: t)  # type: ignore[misc]
        with shares.inputs_kept(kept), hooks:
            tower(torch.rand(8, 3, 160, 160))
        saved.append(sum(sizes))
    assert len(blocks) > 3
    assert saved[1] < share * saved[0]


def test_in_bf16_gradients_of_shares_add_up_in_fp32(
    setup: Setup, inputs: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of processes do; autocast keeps its bf16 copy of a weight, in which they would."""

    def gradients(parts: Callable[[], tuple[dict[str, Tensor], nn.Module]]) -> Tensor:
        with torch.autocast("cpu", torch.bfloat16):
            rows, encoder = parts()
        (rows["image"].square().sum() + rows["text"].square().sum()).backward()
        return torch.cat([p.grad.flatten() for p in encoder.parameters() if p.grad is not None])

    model = trainee(setup)
    both = gradients(lambda: (model.parts(inputs, CLOCK), model.encoder))
    apart = sum(gradients(lambda number=number: alone(setup, inputs, number, monkeypatch)) for number in range(2))  # type: ignore[misc]
    assert torch.allclose(both, apart, rtol=1e-5, atol=1e-6)  # type: ignore[arg-type]


def test_activations_are_dropped(setup: Setup, inputs: Inputs, drops: Callable[[bool], None]) -> None:
    """Of two shares a forward pass keeps less than of one that is kept."""
    kept = []
    for dropped in (False, True):
        drops(dropped)
        sizes: list[int] = []
        with torch.autograd.graph.saved_tensors_hooks(lambda t, s=sizes: s.append(t.nbytes) or t, lambda t: t):  # type: ignore[misc]
            trainee(setup).parts(inputs, CLOCK)
        kept.append(sum(sizes))
    assert kept[1] < kept[0] / 10


def test_of_many_shares_none_is_kept_on_a_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert [shares.drops_activations(count) for count in (1, 2, 3, 16)] == [False, False, True, True]


def test_texts_of_a_share_are_padded_to_its_own_longest(setup: Setup, split: Split) -> None:
    texts = [captions[0] for captions in split.captions[:16]]
    words = words_for(setup.text, setup.data, split)
    together, apart = words(texts), words(texts[8:])
    assert isinstance(together, Tokens)
    assert isinstance(apart, Tokens)
    part = together[8:16]
    assert torch.equal(part.ids, apart.ids)
    assert torch.equal(part.mask, apart.mask)
    short = Tokens(torch.tensor([[2, 5, 3, 0], [2, 5, 5, 3]]), torch.tensor([[1, 1, 1, 0], [1, 1, 1, 1]]))
    assert short[0:1].ids.tolist() == [[2, 5, 3]]


def test_a_process_has_neighbouring_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("world_size", 2), ("rank", 1)):
        monkeypatch.setattr(distributed, name, lambda value=value: value)
    assert list(distributed.shares_here(6)) == [3, 4, 5]


def test_processes_that_do_not_divide_the_shares_are_refused(
    make_setup: Make, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchsuite.training.loop.world_size", lambda: 3)
    with pytest.raises(UsageError, match="3 processes are running; the setup is for 2, or fewer that divide it"):
        train(make_setup(processes=2), create_method("infonce"), split, 0)
