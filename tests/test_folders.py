"""Folders of tables and recipes: what they add, and what is refused."""

from pathlib import Path

import pytest
from support.own_tables import NAME, TABLE, own_folder
from test_registry import python

from benchsuite.errors import UsageError
from benchsuite.folders import use_folders
from benchsuite.papers import named_tables, read_table, table_names
from benchsuite.paths import baselines
from benchsuite.planning.recipe import read_recipe, recipe_names


def test_a_folder_adds_tables_and_recipes_until_other_folders_are_given(tmp_path: Path) -> None:
    before = table_names()
    use_folders([own_folder(tmp_path)])
    assert set(table_names()) - set(before) == {NAME}
    assert named_tables(["mine"], "smoke") == [NAME]
    assert read_table(NAME).recipes == {"smoke": "tiny"}
    assert read_recipe("tiny").training.steps == 2
    use_folders([])
    assert (table_names(), "tiny" in recipe_names()) == (before, False)


def test_a_folder_given_twice_is_one_folder(tmp_path: Path) -> None:
    use_folders([own_folder(tmp_path), tmp_path / "." / "papers" / ".."])
    assert table_names().count(NAME) == 1


@pytest.mark.parametrize(
    ("name", "recipe", "taken"), [("temo/table1", "tiny", "temo/table1"), (NAME, "scenes-small", "scenes-small")]
)
def test_a_built_in_name_is_refused_naming_both_files(tmp_path: Path, name: str, recipe: str, taken: str) -> None:
    use_folders([own_folder(tmp_path, TABLE, name, recipe)])
    with pytest.raises(UsageError, match=rf'"{taken}" of {tmp_path}/.* is taken: {baselines()}/.*{taken}\.toml has'):
        (table_names() if taken == name else recipe_names())


def test_two_folders_with_one_name_are_refused_naming_both(tmp_path: Path) -> None:
    use_folders([own_folder(tmp_path / "a"), own_folder(tmp_path / "b")])
    with pytest.raises(UsageError, match=r'table "mine/first" of .*/b/.* is taken: .*/a/papers/mine/first\.toml'):
        read_table(NAME)


@pytest.mark.parametrize(("folder", "says"), [("", "has neither papers/ nor recipes/"), ("none", "is not a folder")])
def test_a_folder_without_tables_is_refused_with_the_layout(tmp_path: Path, folder: str, says: str) -> None:
    with pytest.raises(UsageError, match=f"{says}. Its files must be FOLDER/papers/<paper>/<table>.toml"):
        use_folders([tmp_path / folder])


def test_a_file_must_lie_where_its_keys_say(tmp_path: Path) -> None:
    use_folders([own_folder(tmp_path, TABLE, "mine/second")])
    with pytest.raises(UsageError, match=r'paper = "mine" and table = "first", but it lies where mine/second must be'):
        read_table("mine/second")


def test_a_recipe_of_a_table_is_named_and_not_a_file(tmp_path: Path) -> None:
    use_folders([own_folder(tmp_path, TABLE.replace('"tiny"', '"recipes/tiny.toml"'))])
    with pytest.raises(UsageError, match=r"line 7: .*name a recipe, not a file"):
        read_table(NAME)


def announced(folder: Path, module: str, *files: str) -> Path:
    for file in files:
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("")
    about = folder / "guest-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[benchsuite.tables]\nguest = {module}\n")
    return folder


LOOK = (
    "from benchsuite.papers import table_names\nfrom benchsuite.errors import UsageError\n"
    "try: print(*[name for name in table_names() if name.startswith('mine')])\nexcept UsageError as error: print(error)"
)


def test_an_installed_package_adds_its_folder(tmp_path: Path) -> None:
    announced(tmp_path, "guest.tables", "guest/__init__.py", "guest/tables/__init__.py")
    own_folder(tmp_path / "guest" / "tables")
    assert python(LOOK, tmp_path) == NAME


@pytest.mark.parametrize(
    ("module", "says"),
    [("absent", "module absent is not installed."), ("guest", "guest is not a package, so it has no folder.")],
)
def test_an_announced_folder_that_is_none_is_named(tmp_path: Path, module: str, says: str) -> None:
    announced(tmp_path, module, "guest.py")
    assert python(LOOK, tmp_path) == f'entry point "guest" of benchsuite.tables: {says}'
