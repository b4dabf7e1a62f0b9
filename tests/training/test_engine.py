from collections.abc import Callable

import pytest
import torch

from benchsuite.methods import create_method, method_class
from benchsuite.methods.base import Clock, Method, ParameterGroup
from benchsuite.methods.batch import PairBatch
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.registry import methods, register_method
from benchsuite.setup import Optimizer, Setup
from benchsuite.training.engine import parameter_groups, set_learning_rate, timm_optimizer

Make = Callable[..., Setup]


def decay_by_name(setup: Setup, method_name: str) -> dict[str, float]:
    encoder, method = seeded_encoder(setup, 120, 0), create_method(method_name)
    names = {id(p): name for module in (encoder, method) for name, p in module.named_parameters()}
    groups = parameter_groups(encoder, method, setup)
    return {names[id(p)]: group["weight_decay"] for group in groups for p in group["params"]}


def test_matrices_decay_and_vectors_and_temperatures_do_not(make_setup: Make) -> None:
    decay = decay_by_name(make_setup(), "infonce-learnable")
    encoder = seeded_encoder(make_setup(), 120, 0)
    assert decay.keys() == {"learned", *(name for name, _ in encoder.named_parameters())}
    for name, parameter in encoder.named_parameters():
        assert decay[name] == (0.02 if parameter.dim() > 1 else 0.0), name
    assert decay["learned"] == 0.0


def test_vectors_decay_if_the_setup_says_so(make_setup: Make) -> None:
    optimizer = Optimizer(lr=1e-3, weight_decay=0.02, decay_vectors=True)
    decay = decay_by_name(make_setup().model_copy(update={"optimizer": optimizer}), "infonce")
    assert set(decay.values()) == {0.02}


@pytest.mark.parametrize(("stated", "expected"), [(None, [0.02, 0.0]), (0.3, [0.3, 0.3]), (0.0, [0.0, 0.0])])
@pytest.mark.usefixtures("forgetful_registries")
def test_a_methods_single_numbers_decay_only_if_it_says_so(
    make_setup: Make, stated: float | None, expected: list[float]
) -> None:
    @register_method("decays-for-test")
    class Decays(Method):
        def setup(self) -> None:
            self.head, self.bias = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.tensor(0.1))

        def loss(self, batch: PairBatch, clock: Clock) -> torch.Tensor:
            return self.bias + self.head.sum()

        def parameter_groups(self) -> list[ParameterGroup]:
            return [ParameterGroup((self.bias, self.head), stated, lr_factor=0.5)]

    decay = decay_by_name(make_setup(), "decays-for-test")
    assert [decay["head"], decay["bias"]] == expected
    optimizer = Optimizer(lr=1e-3, weight_decay=0.02, decay_vectors=True)
    assert (
        decay_by_name(make_setup().model_copy(update={"optimizer": optimizer}), "decays-for-test")["bias"]
        == expected[1]
    )
    groups = parameter_groups(seeded_encoder(make_setup(), 120, 0), create_method("decays-for-test"), make_setup())
    assert sum(len(group["params"]) for group in groups if group["lr_factor"] == 0.5) == 2


def test_built_in_methods_state_a_decay_for_their_single_numbers(make_setup: Make) -> None:
    released = create_method("infonce-learnable", parameter="temperature")
    (group,) = released.parameter_groups()
    assert group.weight_decay == 0.02
    for name in sorted(methods):
        method = create_method(name, num_samples=4, width=3, **method_class(name).miniature)
        for group in method.parameter_groups():
            if any(parameter.dim() == 0 for parameter in group.parameters):
                assert group.weight_decay == 0.0, name


def test_a_groups_own_factor_stays_on_top_of_the_rate() -> None:
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    optimizer = torch.optim.AdamW([{"params": weights[:1]}, {"params": weights[1:], "lr_factor": 0.1}])
    set_learning_rate(optimizer, 0.5)
    assert [group["lr"] for group in optimizer.param_groups] == [0.5, pytest.approx(0.05)]


def test_adamw_is_what_timm_has_under_that_name() -> None:
    assert timm_optimizer("adamw") is torch.optim.AdamW
