import json
import re
import textwrap
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from benchsuite.cards import Card, read_cards
from benchsuite.errors import UsageError
from benchsuite.fields import declared
from benchsuite.registry import Registry, datasets, embeddings, load_plugin, methods, tasks

PluginFile = Callable[..., Path]
REGISTERED = [(registry, name) for registry in (methods, tasks, datasets) for name in registry]
IDS = [f"{registry.kind}-{name}" for registry, name in REGISTERED]
TEMO = ["tau", "tau_min", "tau_alpha", "schedule", "similarity_map", "detach_temperature", "base", "modulated"]


@cache
def unread_cards(kind: str, package: str) -> dict[str, Card]:
    return Registry(kind, package).cards()


def unread(registry: Registry, name: str) -> Card:
    """The card as a registry sees it that has imported nothing."""
    return unread_cards(registry.kind, registry.package)[name]


def cards(folder: Path, **files: str) -> dict[str, Card]:
    for name, source in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(source), "utf-8")
    return {card.name: card for card in read_cards("method", folder, "package")}


@pytest.mark.parametrize(("registry", "name"), REGISTERED, ids=IDS)
def test_the_card_read_from_source_is_the_card_of_the_class(registry: Registry, name: str) -> None:
    live = registry.get(name).card  # type: ignore[attr-defined]
    assert unread(registry, name) == live
    assert registry.card(name) == live


@pytest.mark.parametrize(("registry", "name"), REGISTERED, ids=IDS)
def test_a_card_shows_the_fields_and_defaults_the_class_has(registry: Registry, name: str) -> None:
    cls, card = registry.get(name), unread(registry, name)
    assert [field.name for field in card.fields] == list(declared(cls))
    assert {f.name: f.default for f in card.fields} == {
        field: getattr(cls, field, "required") for field in declared(cls)
    }


@pytest.mark.parametrize(("registry", "name"), REGISTERED, ids=IDS)
def test_a_card_says_what_it_is_and_each_field_too(registry: Registry, name: str) -> None:
    card = unread(registry, name)
    assert card.summary.endswith(".")
    assert all(field.doc.endswith(".") for field in card.fields)
    assert json.loads(json.dumps(card.as_json()))["name"] == name


def test_a_card_as_json_has_what_the_decorator_said() -> None:
    found = unread(methods, "temo").as_json()
    assert found["title"] == "TeMo"
    assert list(found["needs"]) == ["image_view", "text_view"]
    assert found["owner"] == "benchsuite.methods.temo"
    assert found["fields"]["tau_min"] | {"doc": ""} == {
        "type": "float, above 0, finite, a temperature",
        "default": 0.01,
        "doc": "",
    }


def test_source_is_read_and_not_run(tmp_path: Path) -> None:
    found = cards(
        tmp_path,
        one='''
        raise SystemExit("this was run")

        @register_method("one", title="One", needs=("cluster",))
        class One(Method):
            """First line.

            More.
            """

            tau: Temperature = 0.1
            """How warm."""
            size: Count
            kind: ClassVar[str] = "x"
            _hidden: int = 1
            free = 3
        ''',
    )
    card = found["one"]
    assert (card.title, card.summary, card.about["needs"]) == ("One", "First line.", ("cluster",))
    assert (card.module, card.qualname, card.kind) == ("package.one", "One", "method")
    assert [(f.name, f.type, f.default, f.doc) for f in card.fields] == [
        ("tau", "Temperature", 0.1, "How warm."),
        ("size", "Count", "required", ""),
    ]


def test_types_are_said_in_words_also_of_imported_and_own_names(tmp_path: Path) -> None:
    found = cards(
        tmp_path,
        one="""
        from benchsuite.fields import Share as Part
        from elsewhere import Other

        Mode = Literal["a", "b"]

        @register_method("one")
        class One(Method):
            share: Part = 0.5
            mode: Mode = "a"
            other: Other = 1
        """,
    )
    assert [field.words for field in found["one"].fields] == ["float, 0 to 1", "'a' or 'b'", "Other"]


@pytest.mark.parametrize("registry", [methods, tasks, datasets, embeddings])
def test_no_type_of_a_built_in_field_is_an_internal_name(registry: Registry) -> None:
    words = {field.words for card in registry.cards().values() for field in card.fields}
    assert not [text for text in words if re.search(r"\b[A-Z]", re.sub("'[^']*'", "", text))]


@pytest.mark.parametrize(
    ("owner", "paper", "whose"),
    [
        ("benchsuite.methods.temo", "temo", "the paper"),
        ("benchsuite.methods.own", "", "the method's author"),
        ("/home/me/mine.py", "me2026", "the method's author"),
    ],
)
def test_only_defaults_of_built_in_methods_are_a_papers(owner: str, paper: str, whose: str) -> None:
    assert replace(unread(methods, "temo"), owner=owner, about={"paper": paper}).defaults_are_of == whose


def test_a_method_says_whose_defaults_it_has_if_not_its_papers() -> None:
    assert unread(methods, "fastclip").defaults_are_of == "the released script for v3 on CC3M"


def test_without_a_title_the_name_is_the_title(tmp_path: Path) -> None:
    assert cards(tmp_path, one='@register_method("plain")\nclass Plain: pass')["plain"].title == "plain"


def test_fields_come_down_from_bases_in_other_files(tmp_path: Path) -> None:
    found = cards(
        tmp_path,
        family="from benchsuite.methods.ts import TemperatureSchedule\n"
        '@register_method("child")\nclass Child(TemperatureSchedule):\n    tau_min: float = 0.2\n    beta: float = 0.9',
    )
    fields = [(f.name, f.default) for f in found["child"].fields]
    assert fields == [("tau_min", 0.2), ("tau_max", 0.05), ("periods", 5.0), ("beta", 0.9)]


def test_helpers_of_one_name_in_two_files_are_not_confused(tmp_path: Path) -> None:
    found = cards(
        tmp_path,
        first='class Shared:\n    a: int = 1\n\n@register_method("one")\nclass One(Shared):\n    pass',
        second='class Shared:\n    b: int = 2\n\n@register_method("two")\nclass Two(Shared):\n    pass',
    )
    assert [[f.name for f in found[name].fields] for name in ("one", "two")] == [["a"], ["b"]]


@pytest.mark.parametrize("decorator", ["register_method()", "register_method(NAME)", "register_method('x', title=T)"])
def test_a_decorator_that_cannot_be_read_is_refused_with_its_line(decorator: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"one\.py, line 2: .*a name and literals only"):
        cards(tmp_path, one=f"\n@{decorator}\nclass One: pass")


def test_decorators_of_other_kinds_are_not_methods(tmp_path: Path) -> None:
    assert cards(tmp_path, one='@register_task("x")\nclass X: pass\n\n@other\nclass Y: pass') == {}


def test_a_plugins_subclass_of_temo_has_temos_fields_on_its_card(plugin_file: PluginFile) -> None:
    source = '''
        from benchsuite import register_method
        from benchsuite.fields import NonNegative, Temperature
        from benchsuite.methods.temo import TeMo

        @register_method("temo-plus", title="TeMo+")
        class Plus(TeMo):
            """TeMo and more."""

            tau_alpha: Temperature = 0.1
            """Wider."""
            extra: NonNegative = 0.5
            """What is added."""
        '''
    load_plugin(plugin_file(source))
    card = methods.card("temo-plus")
    assert [field.name for field in card.fields] == [*TEMO, "unimodal", "expert", "extra"]
    assert {field.name: field.default for field in card.fields}["tau_alpha"] == 0.1
    assert (card.doc, card.owner.endswith("mine.py")) == ("TeMo and more.", True)
    assert methods.get("temo-plus")(extra=1).options()["tau_alpha"] == 0.1


def test_a_default_that_a_subclass_changes_without_annotation_is_on_its_card(plugin_file: PluginFile) -> None:
    source = """
        from benchsuite import register_method
        from benchsuite.methods.temo import TeMo

        @register_method("temo-wide")
        class Wide(TeMo):
            tau_alpha = 0.1
        """
    load_plugin(plugin_file(source))
    defaults = {field.name: field.default for field in methods.card("temo-wide").fields}
    assert defaults == methods.get("temo-wide")().options()


def test_the_default_of_a_loaded_class_is_its_value(plugin_file: PluginFile) -> None:
    source = """
    from benchsuite import Loss, Method, register_method
    from benchsuite.fields import Count

    @register_method("computed", title="Computed", equation="x")
    class Computed(Method):
        layers: Count = 2 * 4

        def loss(self, batch, clock):
            return batch.image.sum()
    """
    load_plugin(plugin_file(source))
    assert [field.default for field in methods.card("computed").fields] == [8]
