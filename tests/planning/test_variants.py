from typing import Any

import pytest

from benchsuite.errors import UsageError
from benchsuite.planning.recipe import Primary, Recipe, StandIn, Variant, overlaid, read_recipe
from benchsuite.setup import Data, differences


def recipe(**changes: Any) -> Recipe:
    plain = read_recipe("scenes-smoke").model_copy(update=changes)
    return Recipe.model_validate(plain.model_dump(exclude_unset=True))


def variants(**changes: dict[str, Any]) -> dict[str, Variant]:
    return {name: Variant(description=name, change=change) for name, change in changes.items()}


def test_a_variant_changes_what_it_names_and_nothing_else() -> None:
    plain = recipe(variants=variants(AdamP={"optimizer": {"name": "adamp"}}, same={}))
    before, after = plain.setup("RN50"), plain.setup("RN50", ["AdamP"])
    assert differences(before.model_dump(), after.model_dump()) == {"optimizer.name": ("adamw", "adamp")}
    assert plain.setup("RN50", ["same", ""]) == before


def test_later_variants_lie_over_earlier_ones() -> None:
    plain = recipe(variants=variants(a={"training": {"steps": 7, "batch": 8}}, b={"training": {"steps": 9}}))
    both = plain.setup("RN50", ["a", "b"]).training
    assert (both.steps, both.batch) == (9, 8)


def test_a_variant_keeps_where_data_lies() -> None:
    data = Data(name="cifar10", folder="somewhere")
    plain = read_recipe("cifar10-smoke").model_copy(
        update={"data": data, "variants": variants(a={"data": {"options": {"imbalance": 100}}})}
    )
    changed = plain.setup("RN50", ["a"]).data
    assert (changed.folder, changed.options) == ("somewhere", {"imbalance": 100})


def test_a_misspelt_setting_of_a_variant_is_named() -> None:
    plain = recipe(variants=variants(bad={"optimizer": {"nam": "adamp"}}))
    with pytest.raises(UsageError, match=r'recipe "scenes, smoke", variant bad: optimizer\.nam'):
        plain.setup("RN50", ["bad"])


def test_an_unknown_variant_is_named_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r'variant "AdamQ" does not exist .* Did you mean "AdamP"\?'):
        recipe(variants=variants(AdamP={})).setup("RN50", ["AdamQ"])


@pytest.mark.parametrize(
    ("where", "settings"),
    [
        (
            "stand-in for retrieval-coco",
            {"stand_ins": {"retrieval-coco": StandIn(protocol="retrievl", description="")}},
        ),
        ("primary", {"primary": {"retrievl": Primary(metric="t2i_r1", difference=0.01)}}),
    ],
)
def test_what_speaks_of_a_protocol_names_one_that_is_there(where: str, settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f'{where}: protocol "retrievl" does not exist'):
        recipe(**settings)


def test_all_names_of_protocols_that_are_not_there_are_told_at_once() -> None:
    with pytest.raises(
        ValueError, match=r'primary: protocol "a" does not exist .*Neither do: primary "b", variant c, p.* "a"\.'
    ):
        recipe(
            primary={name: Primary(metric="t2i_r1", difference=0.01) for name in "ab"},
            variants=variants(c={"protocols": {"a": {}}}),
        )


def test_what_a_scale_lacks_is_told_with_its_reason() -> None:
    plain = recipe(missing={"CC12M": "too large"})
    assert plain.lacks("RN50", "CC12M") == "too large"
    assert plain.lacks("RN50", "") == ""


def test_settings_are_laid_over_one_another_by_key() -> None:
    assert overlaid({"a": {"b": 1, "c": [1]}, "d": 1}, {"a": {"c": [2]}, "e": {}}) == {
        "a": {"b": 1, "c": [2]}, "d": 1, "e": {},
    }  # fmt: skip
