import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import benchsuite
from benchsuite.errors import UsageError
from benchsuite.methods import method_class
from benchsuite.registry import datasets, load_plugin, methods, register_method, tasks

PluginFile = Callable[..., Path]
PACKAGE = Path(benchsuite.__file__).parents[1]
LIGHT = """
from benchsuite import register_method

@register_method("{name}", title="{title}")
class {cls}:
    '''Needs no torch.'''
"""


def python(code: str, *paths: Path) -> str:
    """What `code` prints in a fresh interpreter."""
    environment = {"PYTHONPATH": ":".join(str(path) for path in (*paths, PACKAGE)), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_public_names_load_on_first_use() -> None:
    code = "import benchsuite, sys; print('torch' in sys.modules); benchsuite.Method; print('torch' in sys.modules)"
    assert python(code).split() == ["False", "True"]


def test_public_names_are_all_there_and_others_are_not() -> None:
    assert all(getattr(benchsuite, name) is not None for name in benchsuite.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Methods'"):
        _ = benchsuite.Methods


def test_a_registered_class_is_found_under_its_name() -> None:
    assert methods.get("temo").__name__ == "TeMo"
    assert tasks.get("retrieval").__name__ == "Retrieval"
    assert datasets.get("scenes").__name__ == "Scenes"


def test_names_come_sorted_and_can_be_asked_for() -> None:
    assert list(methods) == sorted(methods)
    assert "temo" in methods
    assert "tomo" not in methods


@pytest.mark.parametrize("look", [methods.get, methods.card])
def test_an_unknown_name_is_refused_with_the_nearest(look: Callable[[str], object]) -> None:
    with pytest.raises(
        UsageError,
        match=r'method "temoo" does not exist \(known: temo, [^,]+, [^,]+ and \d+ others.*Did you mean "temo"',
    ):
        look("temoo")


@pytest.mark.usefixtures("forgetful_registries")
def test_a_version_is_1_unless_the_decorator_says_otherwise() -> None:
    register_method("first")(type("First", (), {}))
    register_method("third", version=3)(type("Third", (), {}))
    assert (methods.card("first").version, methods.card("third").version) == (1, 3)
    assert [methods.card(name).as_json()["version"] for name in ("first", "third")] == [1, 3]


@pytest.mark.parametrize("version", [0, -1, True, 1.0, "2", None])
def test_a_version_that_is_no_whole_number_from_1_on_is_refused(version: object) -> None:
    with pytest.raises(UsageError, match=f'method "mine": version = {version!r} is not possible'):
        register_method("mine", version=version)


def test_a_plugin_adds_what_it_registers(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file(LIGHT.format(name="mine", title="Mine", cls="Mine")))
    assert methods.card("mine").title == "Mine"
    assert methods.get("mine").__name__ == "Mine"
    assert "temo" in methods


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import sys; sys.exit('no GPU')", "SystemExit: no GPU"),
        ("class Halt(BaseException): pass\nraise Halt('now')", "Halt: now"),
        ("import no_such_module_here", "ModuleNotFoundError: No module named 'no_such_module_here'"),
        ("def broken(:", "SyntaxError: invalid syntax (mine.py, line 1)."),
        ("1 / 0", "ZeroDivisionError: division by zero (mine.py, line 1)."),
        (
            "from benchsuite.objective import x",
            "ModuleNotFoundError: No module named 'benchsuite.objective' (mine.py, "
            'line 1). Did you mean "objectives"?',
        ),
    ],
)
def test_whatever_ends_the_import_of_a_plugin_is_an_error_that_names_it(
    line: str, told: str, plugin_file: PluginFile
) -> None:
    path = plugin_file(line)
    with pytest.raises(UsageError, match=re.escape(f"plugin {path} failed to import: {told}")):
        load_plugin(path)
    assert f"benchsuite_plugin_{path.stem}" not in sys.modules


def test_a_misspelt_import_is_named_with_its_line_and_the_nearest_name(plugin_file: PluginFile) -> None:
    path = plugin_file("import math\nfrom benchsuite.objectives.softmax import infonce")
    with pytest.raises(UsageError) as refused:
        load_plugin(path)
    assert str(refused.value).endswith('(mine.py, line 2). Did you mean "info_nce"?')


def test_a_word_in_the_place_of_a_tuple_is_refused(plugin_file: PluginFile) -> None:
    text = 'from benchsuite import register_method\n@register_method("mine", needs="text_view")\nclass Mine: 1'
    with pytest.raises(UsageError, match=re.escape('needs are several: write needs=("text_view",)')):
        load_plugin(plugin_file(text))


@pytest.mark.usefixtures("forgetful_registries")
def test_a_class_that_is_no_method_is_refused_when_it_is_used(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file('from benchsuite import register_method\n@register_method("bare")\nclass Bare: 1'))
    with pytest.raises(UsageError, match=re.escape('method "bare": write class Bare(Method)')):
        method_class("bare")


def test_a_plugin_named_twice_is_loaded_once(plugin_file: PluginFile) -> None:
    path = plugin_file(LIGHT.format(name="mine", title="Mine", cls="Mine"))
    load_plugin(path)
    first = methods.get("mine")
    load_plugin(path)
    load_plugin(path.parent / "." / path.name)
    assert methods.get("mine") is first


def test_a_plugin_with_names_of_its_own_choice_needs_no_literals(plugin_file: PluginFile) -> None:
    source = """
        from benchsuite import register_method

        NAME = "com" + "puted"

        @register_method(NAME)
        class Computed:
            a: int = 3
        """
    load_plugin(plugin_file(source))
    assert [(field.name, field.default) for field in methods.card("computed").fields] == [("a", 3)]


def test_a_missing_plugin_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"plugin .*absent\.py: no such file"):
        load_plugin(tmp_path / "absent.py")
    (tmp_path / "present.py").touch()
    with pytest.raises(UsageError, match=r"no such file\. Did you mean .*present\.py"):
        load_plugin(tmp_path / "presnt.py")
    with pytest.raises(UsageError, match=r"zeal\.py: no such file\.$"):
        load_plugin(tmp_path / "zeal.py")


def test_a_plugin_that_is_no_python_file_is_refused(plugin_file: PluginFile) -> None:
    with pytest.raises(UsageError, match=r"notes\.txt: .*must end in \.py"):
        load_plugin(plugin_file("", "notes.txt"))


def test_a_plugin_can_be_repaired_and_loaded_again(plugin_file: PluginFile) -> None:
    with pytest.raises(UsageError):
        load_plugin(plugin_file(LIGHT.format(name="mine", title="Broken", cls="Mine") + "\n1 / 0"))
    load_plugin(plugin_file(LIGHT.format(name="mine", title="Repaired", cls="Mine")))
    assert methods.card("mine").title == "Repaired"


def test_a_plugin_that_registers_a_taken_name_is_refused_naming_both(plugin_file: PluginFile) -> None:
    with pytest.raises(UsageError, match=r"^plugin .*mine\.py: method \"ts\" of .*mine\.py.*benchsuite\.methods\.ts"):
        load_plugin(plugin_file(LIGHT.format(name="ts", title="Mine", cls="Mine")))
    assert methods.get("ts").__name__ == "TemperatureSchedule"


def test_two_plugins_cannot_share_a_name(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file(LIGHT.format(name="mine", title="First", cls="First"), "first.py"))
    with pytest.raises(UsageError, match=r"second\.py.*first\.py"):
        load_plugin(plugin_file(LIGHT.format(name="mine", title="Second", cls="Second"), "second.py"))
    assert methods.card("mine").title == "First"


def test_two_plugins_of_one_file_name_cannot_silently_replace_each_other(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file(LIGHT.format(name="mine", title="First", cls="Mine"), "a/mine.py"))
    with pytest.raises(UsageError, match="is taken"):
        load_plugin(plugin_file(LIGHT.format(name="mine", title="Second", cls="Mine"), "b/mine.py"))
    assert methods.card("mine").title == "First"


@pytest.mark.parametrize("second", ["B", "A"], ids=["another class", "a class of the same name"])
def test_one_file_cannot_register_a_name_twice(second: str, plugin_file: PluginFile) -> None:
    twice = LIGHT.format(name="mine", title="A", cls="A") + LIGHT.format(name="mine", title="B", cls=second)
    with pytest.raises(UsageError, match=r'"mine" .*(is taken|is registered twice)'):
        load_plugin(plugin_file(twice))


def distribution(folder: Path, points: dict[str, str], **modules: str) -> Path:
    """An installed distribution that announces methods."""
    for name, source in modules.items():
        (folder / f"{name}.py").write_text(source, "utf-8")
    info = folder / "fake_methods-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fake-methods\nVersion: 1.0\n", "utf-8")
    lines = [f"{name} = {target}" for name, target in points.items()]
    (info / "entry_points.txt").write_text("\n".join(["[benchsuite.methods]", *lines, ""]), "utf-8")
    return folder


def test_an_installed_package_adds_a_method_that_loads_when_asked_for(tmp_path: Path) -> None:
    source = LIGHT.format(name="fake", title="Fake", cls="Fake")
    distribution(tmp_path, {"fake": "fake_module:Fake"}, fake_module=source)
    code = (
        "import sys\nfrom benchsuite.registry import methods\n"
        "print(methods.card('fake').title, 'fake_module' in sys.modules, methods.get('fake').__name__)"
    )
    assert python(code, tmp_path) == "Fake False Fake"


def refusal(folder: Path) -> str:
    code = (
        "from benchsuite.errors import UsageError\nfrom benchsuite.registry import methods\n"
        "try: list(methods)\nexcept UsageError as error: print(error)"
    )
    return python(code, folder)


def test_an_installed_package_cannot_take_a_builtin_name(tmp_path: Path) -> None:
    source = LIGHT.format(name="temo", title="Fake", cls="Fake")
    distribution(tmp_path, {"temo": "fake_module:Fake"}, fake_module=source)
    said = refusal(tmp_path)
    assert 'method "temo"' in said
    assert "fake_module.py (Fake)" in said
    assert "benchsuite.methods.temo (TeMo)" in said


def test_an_installed_package_that_ends_its_import_is_named(tmp_path: Path) -> None:
    source = f"{LIGHT.format(name='fake', title='Fake', cls='Fake')}\nraise SystemExit(3)"
    distribution(tmp_path, {"fake": "fake_module:Fake"}, fake_module=source)
    code = (
        "from benchsuite.errors import UsageError\nfrom benchsuite.registry import methods\n"
        "try: methods.get('fake')\nexcept UsageError as error: print(error)"
    )
    assert (
        python(code, tmp_path)
        == "fake_module, of method fake, failed to import: SystemExit: 3 (fake_module.py, line 8)."
    )


@pytest.mark.parametrize("module", ["fake_absent", "fake_absent.inner"])
def test_an_announced_module_that_is_not_there_is_named(module: str, tmp_path: Path) -> None:
    distribution(tmp_path, {"fake": f"{module}:Fake"})
    assert refusal(tmp_path) == f'entry point "fake" of benchsuite.methods: module {module} is not installed.'


def test_an_announced_name_that_its_module_does_not_register_is_named(tmp_path: Path) -> None:
    source = LIGHT.format(name="fake", title="Fake", cls="Fake")
    distribution(tmp_path, {"fkae": "fake_module:Fake"}, fake_module=source)
    assert '"fkae"' in refusal(tmp_path)
