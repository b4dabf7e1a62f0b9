import math

import pytest
import torch

from benchsuite.conformance.declared import impossible
from benchsuite.conformance.subject import Subject, modes, nasty, parts, tensors, unlike
from benchsuite.fields import Count, NonNegative, Positive, Real, Share, Temperature, temperatures


@pytest.mark.parametrize("name", ["infonce", "ts", "temo", "gap-ts-cosine"])
def test_cold_methods_keep_the_ratios_of_their_temperatures(name: str) -> None:
    subject = Subject(name)
    warm, cold = subject.make(), subject.make_cold()
    found = [getattr(cold, field) for field in temperatures(subject.cls)]
    assert min(found) == pytest.approx(0.005)
    ratios = [getattr(cold, field) / getattr(warm, field) for field in temperatures(subject.cls)]
    assert ratios == pytest.approx([ratios[0]] * len(ratios))


def test_a_batch_carries_what_is_declared_and_no_more() -> None:
    assert parts(Subject("infonce").make(), "pair") == ["image", "text"]
    assert parts(Subject("temo").make(), "pair") == ["image", "text", "image_view", "text_view"]
    assert parts(Subject("temo").make(), "image") == ["image", "image_view"]
    assert modes(Subject("infonce").make()) == ["pair"]


def test_a_part_is_the_same_whatever_else_is_asked_for() -> None:
    few, many = tensors(["text", "index"], 4, seed=3), tensors(["image", "text", "index", "cluster"], 4, seed=3)
    assert torch.equal(few["text"], many["text"])
    assert torch.equal(few["index"], many["index"])
    assert len(few["index"].unique()) == 4


def test_nasty_batches_are_what_their_names_say() -> None:
    found = dict(nasty(["image", "text", "image_view"], 6, torch.float32))
    assert len({tuple(row) for row in found["collapsed"]["image"].tolist()}) == 1
    assert torch.equal(found["anti-aligned pairs"]["image"], -found["anti-aligned pairs"]["text"])
    assert torch.equal(found["anti-aligned views"]["image"], -found["anti-aligned views"]["image_view"])
    assert len({tuple(row) for row in found["duplicated"]["image"].tolist()}) == 3


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0),
        ([1.0, 2.0], [1.0, 1.0], 0.5),
        ([0.0], [0.0], 0),
        ([0.0], [1.0], 1),
        ([-math.inf, 1.0], [-math.inf, 1.0], 0),
        ([-math.inf, 1.0], [math.inf, 1.0], math.inf),
        ([-math.inf, 1.0], [0.0, 1.0], math.inf),
        ([math.nan], [math.nan], math.inf),
        ([1.0], [1.0, 1.0], math.inf),
        ([], [], 0),
    ],
)
def test_differences_are_shares_of_the_largest_entry(a: list[float], b: list[float], expected: float) -> None:
    assert unlike(torch.tensor(a), torch.tensor(b)) == expected


@pytest.mark.parametrize(
    ("annotation", "values"),
    [
        (Real, {math.inf}),
        (Positive, {math.inf, 0}),
        (Temperature, {math.inf, 0}),
        (NonNegative, {math.inf, -1}),
        (Share, {math.inf, -1, 2}),
        (Count, {0}),
        (Positive | None, {math.inf, 0}),
        (str, set()),
    ],
)
def test_impossible_values_follow_from_the_type(annotation: object, values: set[float]) -> None:
    found = {value for value in impossible(annotation) if not isinstance(value, str) and value == value}
    assert found == values
