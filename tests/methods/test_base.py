import inspect

import pytest
import torch

from benchsuite.errors import UsageError
from benchsuite.methods import create_method, described_method
from benchsuite.methods.base import Clock, Loss, Method
from benchsuite.methods.batch import PairBatch
from benchsuite.registry import methods, register_method

EMBEDDINGS = ("image", "text", "image_view", "text_view")
RARE = ("image_view2", "image_expert", "text_expert")


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({}, "given: nothing"),
        ({"image": torch.zeros(3, 2), "text": torch.zeros(4, 2)}, "'image': 3, 'text': 4"),
        ({"image": torch.zeros(3, 2), "index": torch.arange(2)}, "index"),
    ],
)
def test_a_batch_has_parts_of_one_length(parts: dict[str, torch.Tensor], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        PairBatch(**parts)


def test_a_part_that_no_batch_has_is_refused() -> None:
    with pytest.raises(TypeError, match=r"no imagee; there are image, text, "):
        PairBatch(image=torch.zeros(3, 2), imagee=torch.zeros(3, 2))


@pytest.mark.parametrize("name", [*EMBEDDINGS, *RARE, "index", "cluster"])
def test_a_part_that_was_not_given_is_an_error_that_names_it(name: str) -> None:
    batch = PairBatch(**{"text" if name == "image" else "image": torch.zeros(2, 2)})
    with pytest.raises(ValueError, match=rf'no "{name}" \(it has: (image|text)\); .* needs'):
        getattr(batch, name)


def test_every_part_comes_back_as_given() -> None:
    parts = {name: torch.full((2, 3), float(i)) for i, name in enumerate((*EMBEDDINGS, *RARE))}
    batch = PairBatch(**parts, index=torch.tensor([7, 8]), cluster=torch.tensor([1, 1]))
    assert batch.size == 2
    assert all(getattr(batch, name) is tensor for name, tensor in parts.items())
    assert batch.index.tolist() == [7, 8]
    assert batch.cluster.tolist() == [1, 1]


def test_normalizing_gives_every_embedding_length_one_and_leaves_ids_alone() -> None:
    raw = PairBatch(**{name: 7 * torch.ones(2, 3) for name in (*EMBEDDINGS, *RARE)}, index=torch.tensor([7, 8]))
    unit = raw.normalized()
    for name in (*EMBEDDINGS, *RARE):
        torch.testing.assert_close(getattr(unit, name).norm(dim=1), torch.ones(2))
    assert unit.index.tolist() == [7, 8]
    assert raw.image[0, 0].item() == 7


def test_a_batch_of_one_side_gives_that_side_and_its_view() -> None:
    one, two = torch.zeros(2, 3), torch.ones(2, 3)
    pictures, sentences = PairBatch(image=one, image_view=two), PairBatch(text=two, text_view=one)
    assert [batch.is_pair for batch in (pictures, sentences, PairBatch(image=one, text=two))] == [False, False, True]
    assert pictures.views[0] is one
    assert pictures.views[1] is two
    assert sentences.views[0] is two
    assert sentences.views[1] is one
    assert [pictures.has(name) for name in ("image", "image_view", "text")] == [True, True, False]


@pytest.mark.parametrize(("step", "total"), [(-1, 10), (11, 10), (0, 0)])
def test_a_moment_outside_of_the_training_is_refused(step: int, total: int) -> None:
    with pytest.raises(ValueError, match=f"step {step} of {total}"):
        Clock(step=step, total_steps=total)


def test_progress_goes_from_zero_to_one() -> None:
    assert [Clock(step=step, total_steps=4).progress for step in range(5)] == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.usefixtures("forgetful_registries")
def test_a_method_that_declines_normalization_sees_raw_embeddings() -> None:
    @register_method("raw-for-test")
    class Raw(Method):
        normalizes = False

        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(batch.image.sum())

    batch = PairBatch(image=torch.full((2, 3), 5.0))
    assert create_method("raw-for-test")(batch, Clock(step=0, total_steps=1)).total.item() == 30


def returning(result: object) -> Method:
    @register_method("returns-for-test")
    class Returns(Method):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss | torch.Tensor:
            return result  # type: ignore[return-value]

    return create_method("returns-for-test")


@pytest.mark.usefixtures("forgetful_registries")
def test_a_scalar_tensor_is_a_loss_without_terms_and_gauges() -> None:
    scalar = torch.tensor(2.0, requires_grad=True)
    loss = returning(scalar)(PairBatch(image=torch.ones(2, 3)), Clock(step=0, total_steps=1))
    assert loss.total is scalar
    assert (loss.terms, loss.gauges) == ({}, {})


@pytest.mark.usefixtures("forgetful_registries")
@pytest.mark.parametrize(
    ("result", "given"),
    [
        (None, "a NoneType;"),
        (0.5, "a float;"),
        (torch.ones(3, 2), r"a tensor of shape \[3, 2\];"),
        (torch.ones(1), r"a tensor of shape \[1\];"),
        ((torch.tensor(1.0), {}), "a tuple;"),
        (Loss(torch.ones(4)), r"a Loss whose total is a tensor of shape \[4\];"),
        (Loss(1.0), "a Loss whose total is a float;"),  # type: ignore[arg-type]
    ],
    ids=["none", "float", "matrix", "vector-of-one", "tuple", "loss-of-a-vector", "loss-of-a-float"],
)
def test_a_loss_that_is_no_scalar_is_refused_by_the_methods_name(result: object, given: str) -> None:
    method = returning(result)
    with pytest.raises(UsageError, match=f"^returns-for-test: loss returned {given} return a scalar tensor, or Loss"):
        method(PairBatch(image=torch.ones(2, 3)), Clock(step=0, total_steps=1))


@pytest.mark.usefixtures("forgetful_registries")
def test_parameters_go_to_the_optimizer_by_default_and_needs_come_from_the_decorator() -> None:
    @register_method("plain-for-test", needs=("cluster",))
    class Plain(Method):
        def setup(self) -> None:
            self.weight = torch.nn.Parameter(torch.zeros(2))

        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(self.weight.sum())

    method = create_method("plain-for-test")
    (group,) = method.parameter_groups()
    assert group.parameters == (method.weight,)
    assert (group.weight_decay, group.lr_factor) == (None, 1.0)
    assert method.needs == {"cluster"}
    assert method.serves == {"pair"}


@pytest.mark.usefixtures("forgetful_registries")
def test_a_method_serves_the_towers_its_decorator_names_and_knows_its_sizes() -> None:
    @register_method("alone-for-test", serves=("image", "text"))
    class Alone(Method):
        def loss(self, batch: PairBatch, clock: Clock) -> Loss:
            return Loss(batch.views[0].sum())

    method = create_method("alone-for-test", num_samples=7, width=3)
    assert method.serves == {"image", "text"}
    assert (method.num_samples, method.width) == (7, 3)


def test_a_method_without_a_loss_cannot_be_made() -> None:
    class Lossless(Method):
        pass

    assert inspect.isabstract(Lossless)
    with pytest.raises(TypeError, match="loss"):
        Lossless()


@pytest.mark.parametrize("name", [*methods])
def test_a_method_that_is_only_asked_says_the_same_and_draws_nothing(name: str) -> None:
    before = torch.random.get_rng_state()
    asked = described_method(name)
    assert torch.equal(torch.random.get_rng_state(), before)
    made = create_method(name, num_samples=1)
    assert (asked.options(), asked.needs, asked.serves) == (made.options(), made.needs, made.serves)
    assert asked.state_dict().keys() == made.state_dict().keys()


def test_a_method_that_is_only_asked_refuses_the_same() -> None:
    with pytest.raises(UsageError) as made:
        create_method("dystress", num_samples=1, tau_min=-1.0)
    with pytest.raises(UsageError) as asked:
        described_method("dystress", tau_min=-1.0)
    assert str(asked.value) == str(made.value)
