"""Folders of tables and recipes: the built-in one, those of installed packages, and those that a user names.

All have one layout, `papers/<paper>/<table>.toml` and `recipes/<name>.toml`; a results folder has it too, for the
tables that were measured into it. A package announces its folder, the one of a module, by an entry point.
"""

import importlib.util
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

from benchsuite.errors import UsageError, own_errors
from benchsuite.paths import baselines

GROUP = "benchsuite.tables"
"""Of entry points: a name of the package's own choice, and the package that has the folder's files."""
PAPERS, RECIPES = "papers", "recipes"

_named: list[Path] = []


def use_folders(folders: Sequence[Path]) -> None:
    """Look in these folders too, instead of those of an earlier call."""
    for folder in folders:
        if not any((folder / part).is_dir() for part in (PAPERS, RECIPES)):
            what = "has neither papers/ nor recipes/" if folder.is_dir() else "is not a folder"
            raise UsageError(
                f"--tables {folder}: {what}. Its files must be FOLDER/papers/<paper>/<table>.toml and "
                "FOLDER/recipes/<name>.toml."
            )
    _named[:] = folders


def table_files() -> dict[str, Path]:
    """Files of tables by `paper/table`, built-in ones first."""
    return _collected("table", tables_in)


def recipe_files() -> dict[str, Path]:
    """Files of recipes by name, built-in ones first."""
    return _collected("recipe", recipes_in)


@cache
def built_in_tables() -> dict[str, Path]:
    """Those of table_files that come with benchsuite."""
    return tables_in(baselines())


@cache
def built_in_recipes() -> dict[str, Path]:
    """Those of recipe_files that come with benchsuite."""
    return recipes_in(baselines())


def tables_in(folder: Path) -> dict[str, Path]:
    """Files of the tables of one folder."""
    files = sorted((folder / PAPERS).glob("[!.]*/[!.]*.toml"))
    return {f"{file.parent.name}/{file.stem}": file for file in files}


def recipes_in(folder: Path) -> dict[str, Path]:
    """Files of the recipes of one folder."""
    return {file.stem: file for file in sorted((folder / RECIPES).glob("[!.]*.toml"))}


def _collected(what: str, files_in: Callable[[Path], dict[str, Path]]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for folder in (baselines(), *_installed(), *_named):
        for name, file in files_in(folder).items():
            if name in found and not file.samefile(found[name]):
                raise UsageError(
                    f'{what} "{name}" of {file} is taken: {found[name]} has the same name. Choose another.'
                )
            found.setdefault(name, file)
    return found


@cache
def _installed() -> tuple[Path, ...]:
    folders = []
    for name, spec in announced(GROUP):
        if not spec.submodule_search_locations:
            raise UsageError(f'entry point "{name}" of {GROUP}: {spec.name} is not a package, so it has no folder.')
        folders += [Path(folder) for folder in spec.submodule_search_locations]
    return tuple(folders)


def announced(group: str) -> Iterator[tuple[str, ModuleSpec]]:
    """Names under which installed packages announce modules, with where these are."""
    from importlib.metadata import entry_points  # with email and zipfile

    for point in entry_points(group=group):
        try:
            with own_errors(f"package {point.module.partition('.')[0]}", ModuleNotFoundError):
                spec = importlib.util.find_spec(point.module)  # imports the packages around it
        except ModuleNotFoundError:
            spec = None
        if spec is None:
            raise UsageError(f'entry point "{point.name}" of {group}: module {point.module} is not installed.')
        yield point.name, spec
