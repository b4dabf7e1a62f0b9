"""The reference of recipe keys is the schema's, complete and current."""

from pathlib import Path

from support.files_of import module_of

PAGE = Path(__file__).parents[2] / "docs" / "recipe-keys.md"
MADE = module_of(PAGE.with_name("make_recipe_keys.py"))


def test_the_page_is_current() -> None:
    assert MADE.page() == PAGE.read_text("utf-8"), "run: python docs/make_recipe_keys.py"


def test_every_key_says_what_it_is() -> None:
    items = MADE.recipe_keys()
    assert [item["name"] for item in items if not item["doc"] or not item["values"]] == []
    assert len({item["name"] for item in items}) == len(items)


def test_keys_have_their_values_and_defaults() -> None:
    items = {item["name"]: item for item in MADE.recipe_keys()}
    assert (items["training.batch"]["values"], items["training.batch"]["default"]) == ("whole number >= 2", "")
    assert (items["optimizer.eps"]["values"], items["optimizer.eps"]["default"]) == ("number > 0", "1e-08")
    assert items["text.pool"]["values"] == '"first", "mean", "last"'
    assert items["augmentation.crop"]["values"] == "list of 2 x number > 0, <= 1"
    assert items["protocols.NAME.data"]["values"] == "as in `data`"
    assert items["clusters"]["default"] == "none"
