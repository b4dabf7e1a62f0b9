"""Heads of a method: their layers, their first weights, both precisions, and who trains them."""

import copy
from contextlib import nullcontext
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from benchsuite import Clock, Head, Loss, Method, PairBatch, create_method, register_method
from benchsuite.errors import UsageError
from benchsuite.methods.base import ParameterGroup, averaged_heads, with_heads
from benchsuite.methods.heads import HeadModule

NOW = Clock(0, 4)
DTYPES = (torch.float32, torch.float64)


def rows(seed: int = 0, width: int = 4, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(6, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def batch(dtype: torch.dtype = torch.float64) -> PairBatch:
    return PairBatch(image=rows(0, dtype=dtype).requires_grad_(), text=rows(1, dtype=dtype).requires_grad_())


@pytest.fixture(autouse=True)
def _forget(forgetful_registries: None) -> None:
    pass


def make(heads: dict[str, Head], width: int | None = 4, seed: int = 0, **extra: Any) -> Method:
    @register_method("headed-for-test")
    class Headed(Method):
        def setup(self) -> None:
            torch.rand(extra.get("draws", 0))
            self.scale = nn.Parameter(torch.tensor(1.0))

        def heads(self) -> dict[str, Head]:
            return heads

        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            whole = torch.stack([head(batch.image).square().mean() for head in self.head.values()]).sum()
            return Loss(self.scale * whole)

        def teacher_momentum(self, clock: Clock) -> float:
            return 0.5

    torch.manual_seed(seed)
    return create_method("headed-for-test", width=width)


def test_a_head_is_linear_batch_norm_relu_linear() -> None:
    head = HeadModule(Head(layers=3, hidden=5, out=2), 0, 4)
    weight = {name: p.detach().double() for name, p in head.layers.named_parameters()}
    assert set(weight) == {"0.weight", "1.weight", "1.bias", "3.weight", "4.weight", "4.bias", "6.weight", "6.bias"}
    x = rows()
    for linear, norm in (("0", "1"), ("3", "4")):
        x = x @ weight[f"{linear}.weight"].T
        x = (x - x.mean(0)) / torch.sqrt(x.var(0, correction=0) + 1e-5)
        x = relu(x * weight[f"{norm}.weight"] + weight[f"{norm}.bias"])
    torch.testing.assert_close(head(rows()), x @ weight["6.weight"].T + weight["6.bias"])
    assert not list(head.buffers())


@pytest.mark.parametrize(("out", "expected"), [(None, 4), (7, 7)])
def test_without_a_width_of_its_own_the_result_is_as_wide_as_the_input(out: int | None, expected: int) -> None:
    assert HeadModule(Head(hidden=5, out=out), 0, 4)(rows()).shape == (6, expected)
    assert HeadModule(Head(layers=1, out=out, width=3), 0, 4)(rows(width=3)).shape == (6, out or 3)


def test_without_a_norm_layers_have_a_bias_and_gelu_is_gelu() -> None:
    head = HeadModule(Head(hidden=5, norm="none", activation="gelu"), 0, 4)
    assert [type(layer) for layer in head.layers] == [nn.Linear, nn.GELU, nn.Linear]
    assert head.layers[0].bias is not None


def test_a_norm_of_the_result_has_no_weights_and_no_bias_in_front() -> None:
    head = HeadModule(Head(layers=2, hidden=5, out=3, out_norm="batch"), 0, 4)
    assert {name for name, _ in head.layers.named_parameters()} == {"0.weight", "1.weight", "1.bias", "3.weight"}
    plain = HeadModule(Head(layers=2, hidden=5, out=3), 0, 4)
    plain.layers[-1].weight, plain.layers[-1].bias = head.layers[3].weight, nn.Parameter(torch.zeros(3))
    x = plain(rows())
    torch.testing.assert_close(head(rows()), (x - x.mean(0)) / torch.sqrt(x.var(0, correction=0) + 1e-5))
    assert not list(head.buffers())
    with pytest.raises(UsageError, match="prototypes gives cosines, and out_norm would rescale them"):
        Head(prototypes=True, out_norm="batch")


@pytest.mark.parametrize(
    ("head", "refused"),
    [(Head(hidden=5), True), (Head(layers=1, out_norm="batch"), True), (Head(hidden=5, norm="none"), False)],
)
def test_one_sample_alone_is_refused_where_a_head_has_a_batch_norm(head: Head, refused: bool) -> None:
    for width in (4, None):
        alone = PairBatch(image=rows()[:1], text=rows()[:1])
        with pytest.raises(UsageError, match=r"headed-for-test: a batch of one sample") if refused else nullcontext():
            make({"head": head}, width)(alone, NOW)


def test_prototypes_have_length_one_and_no_bias() -> None:
    head = HeadModule(Head(layers=1, out=9, prototypes=True), 0, 4)
    assert [name for name, _ in head.layers.named_parameters()] == ["0.weight"]
    x = normalize(rows(), dim=1)
    torch.testing.assert_close(head(x), x @ normalize(head.layers[0].weight.double(), dim=1).T)
    assert head(x).abs().max() <= 1 + 1e-9


def test_frozen_weights_get_no_gradient_and_let_it_through() -> None:
    head, x = HeadModule(Head(hidden=5), 0, 4), rows().requires_grad_()
    head(x, frozen=True).sum().backward()
    assert all(p.grad is None for p in head.parameters())
    assert x.grad is not None
    torch.testing.assert_close(head(x, frozen=True), head(x))


@pytest.mark.parametrize("width", [4, None])
def test_a_head_works_in_both_precisions_with_and_without_a_width(width: int | None) -> None:
    method = make({"one": Head(hidden=5)}, width)
    values = []
    for dtype in (*DTYPES, torch.float32):
        given = batch(dtype)
        loss = method(given, NOW).total
        loss.backward()
        assert loss.dtype == given.image.grad.dtype == dtype
        assert all(p.dtype == torch.float32 and p.grad is not None for p in method.parameters())
        values.append(loss.item())
    assert values[0] == values[2] == pytest.approx(values[1], rel=1e-5)


def weights(method: Method, name: str = "one") -> Tensor:
    return torch.cat([p.detach().flatten() for p in method.head[name].parameters()])


def test_first_weights_depend_on_seed_and_name_alone() -> None:
    first = weights(make({"one": Head(hidden=5)}))
    late = make({"other": Head(hidden=9), "one": Head(hidden=5)}, None, draws=3)
    torch.rand(5)
    late(batch(), NOW)
    assert torch.equal(weights(late), first)
    assert not torch.equal(weights(make({"one": Head(hidden=5)}, seed=1)), first)
    twins = make({"one": Head(hidden=5), "two": Head(hidden=5)})
    assert not torch.equal(weights(twins), weights(twins, "two"))
    state = torch.random.get_rng_state()
    HeadModule(Head(hidden=5), 3, 4)
    assert torch.equal(torch.random.get_rng_state(), state)


def test_first_weights_are_spread_as_torch_spreads_them() -> None:
    head = HeadModule(Head(layers=1, out=4000), 0, 16)
    reference = nn.Linear(16, 4000)
    for mine, theirs in ((head.layers[0].weight, reference.weight), (head.layers[0].bias, reference.bias)):
        assert mine.abs().max() <= 0.25
        assert mine.std().item() == pytest.approx(theirs.std().item(), rel=0.03)


def test_an_averaged_head_has_a_copy_that_starts_equal_and_is_not_trained() -> None:
    for width in (4, None):
        method = make({"one": Head(hidden=5, averaged=True), "two": Head(hidden=5)}, width)
        assert set(method.teacher_head) == {"one"}
        torch.testing.assert_close(method.teacher_head["one"](rows()), method.head["one"](rows()))
        assert not any(p.requires_grad for p in method.teacher_head.parameters())
        ((mine, student),) = averaged_heads(method)
        assert (mine, student) == (method.teacher_head["one"], method.head["one"])
        in_groups = {id(p) for group in with_heads(method) for p in group.parameters}
        assert in_groups == {id(p) for p in (*method.head.parameters(), method.scale)} or width is None


def test_heads_are_trained_where_a_method_groups_only_its_own_parameters() -> None:
    method = make({"one": Head(hidden=5)})
    type(method).parameter_groups = lambda self: [ParameterGroup((self.scale,), weight_decay=0.0)]
    own, heads = with_heads(method)
    assert own.parameters == (method.scale,)
    assert {id(p) for p in heads.parameters} == {id(p) for p in method.head.parameters()}
    assert heads.weight_decay is None


def test_a_checkpoint_is_read_by_a_method_without_a_width() -> None:
    saved = make({"one": Head(hidden=5, averaged=True)}, seed=3)
    loaded = make({"one": Head(hidden=5, averaged=True)}, None)
    loaded.load_state_dict(copy.deepcopy(saved.state_dict()))
    assert torch.equal(weights(loaded), weights(saved))
    assert loaded(batch(), NOW).total.item() == saved(batch(), NOW).total.item()


def test_an_averaged_head_without_a_momentum_is_refused(forgetful_registries: None) -> None:
    @register_method("half-for-test")
    class Half(Method):
        def heads(self) -> dict[str, Head]:
            return {"one": Head(averaged=True)}

        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(batch.image.sum())

    with pytest.raises(UsageError, match="half-for-test: it has an averaged copy, so it must define teacher_momentum"):
        create_method("half-for-test")


@pytest.mark.parametrize(
    ("field", "value"),
    [("layers", 0), ("hidden", 0), ("out", -1), ("width", -2), ("norm", "layer"), ("activation", "tanh")],
)
def test_impossible_heads_are_refused_by_name(field: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"Head: {field} = .*{value}.* is not possible"):
        Head(**{field: value})


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_plain_linear_layer_of_setup_works_in_both_precisions(dtype: torch.dtype, lazy: bool) -> None:
    @register_method("plain-layer-for-test")
    class PlainLayer(Method):
        normalizes: ClassVar = False

        def setup(self) -> None:
            self.layer = nn.LazyLinear(3) if lazy else nn.Linear(4, 3)

        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(self.layer(batch.image).square().mean())

    method, given = create_method("plain-layer-for-test"), batch(dtype)
    loss = method(given, NOW).total
    loss.backward()
    assert loss.dtype == dtype
    assert all(p.grad is not None for p in (*method.parameters(), given.image))
    by_hand = given.image @ method.layer.weight.to(dtype).T + method.layer.bias.to(dtype)
    torch.testing.assert_close(loss, by_hand.square().mean())
