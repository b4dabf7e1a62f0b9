"""The reference of recipe keys is the schema's, complete and current."""

import json
import runpy
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from support.commands import exit_code

from benchsuite.paths import baselines
from benchsuite.planning.recipe_keys import recipe_keys

PAGE = Path(__file__).parents[2] / "docs" / "recipe-keys.md"
FREE = ("options", "config", "change", "missing")
"""Tables whose keys are not the recipe's."""
SAME = {
    "tuning.protocols.NAME.": "protocols.NAME.",
    "with_classes.NAME.": "protocols.NAME.",
    "text.mlp.": "backbones.NAME.tower.mlp.",
    "protocols.NAME.data.": "data.",
    "experts.text.": "experts.image.",
}
NAMED = ("tuned", "backbones", "variants", "stand_ins", "protocols", "with_classes", "primary", "tuning.protocols")


def test_the_page_is_current() -> None:
    script = runpy.run_path(str(PAGE.with_name("make_recipe_keys.py")))
    update = "run: benchsuite list recipes --keys --json | python docs/make_recipe_keys.py"
    assert script["HEAD"] + "".join(script["lines"](recipe_keys())) == PAGE.read_text("utf-8"), update


def test_every_key_says_what_it_is() -> None:
    items = recipe_keys()
    assert [item["name"] for item in items if not item["doc"] or not item["values"]] == []
    assert len({item["name"] for item in items}) == len(items)


def used(part: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in part.items():
        name = f"{prefix}{key}"
        for as_in, other in SAME.items():
            name = name.replace(as_in, other)
        yield name
        if isinstance(value, Mapping) and key not in FREE:
            by_name = [(f"{name}.NAME.", each) for each in value.values()] if name in NAMED else [(f"{name}.", value)]
            for inner, each in by_name:
                yield from used(each, inner)


@pytest.mark.parametrize("file", sorted((baselines() / "recipes").glob("*.toml")), ids=lambda file: file.stem)
def test_every_key_that_a_recipe_uses_is_listed(file: Path) -> None:
    listed = {item["name"].removesuffix(".NAME") for item in recipe_keys()}
    assert set(used(tomllib.loads(file.read_text("utf-8")))) <= listed


def test_keys_have_their_values_and_defaults() -> None:
    items = {item["name"]: item for item in recipe_keys()}
    assert (items["training.batch"]["values"], items["training.batch"]["default"]) == ("whole number >= 2", "")
    assert (items["optimizer.eps"]["values"], items["optimizer.eps"]["default"]) == ("number > 0", "1e-08")
    assert items["text.pool"]["values"] == '"first", "mean", "last"'
    assert items["augmentation.crop"]["values"] == "list of 2 x number > 0, <= 1"
    assert items["protocols.NAME.data"]["values"] == "as in `data`"
    assert items["clusters"]["default"] == "none"


def test_keys_are_those_of_recipes_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("list", "tasks", "--keys") == 2
    assert "--keys is for recipes" in capsys.readouterr().err
    assert exit_code("list", "recipes", "--keys", "--json") == 0
    assert json.loads(capsys.readouterr().out) == recipe_keys()
