"""What the shell completes after <TAB>: names of methods, tasks, datasets, tables, scales and recipes.

Names are read from files. Nothing that a name stands for is imported, so torch is not. An unreadable file has no names.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import typer

from benchsuite.errors import BenchsuiteError

Complete = Callable[[typer.Context, str], list[str]]
VARIABLE = "_BENCHSUITE_COMPLETE"
"""Set by the shell where it asks for completions."""


def words(environment: Mapping[str, str]) -> list[str]:
    """What was typed so far after the command's name, where the shell asks for completions."""
    typed = environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS", "")
    return typed.split()[1:] if VARIABLE in environment else []


def completed(*kinds: str, several: bool = False) -> Complete:
    """A completion by names of these kinds; with `several`, of the last one behind commas."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        names: list[str] = []
        for kind in kinds:
            try:
                names += KINDS[kind](context.params)
            except (BenchsuiteError, OSError, ValueError, SyntaxError):
                continue
        return [before + comma + name for name in sorted(set(names)) if name.startswith(last)]

    return complete


def _registered(kind: str, given: Mapping[str, Any]) -> Iterable[str]:
    from benchsuite import registry
    from benchsuite.cards import read_cards

    known = {each.kind: each for each in (registry.methods, registry.tasks, registry.datasets)}[kind]
    files = [Path(file) for file in given.get("plugin") or ()]
    own = [card.name for file in files for card in read_cards(kind, file, file.stem)]
    return [*known, *own]


def _use_folders(given: Mapping[str, Any]) -> None:
    """Those of `--tables`, by any of its names."""
    from benchsuite.folders import use_folders

    folders = given.get("table_folders") or given.get("tables") or ()
    use_folders([Path(folder) for folder in folders if Path(folder).is_dir()])


def _tables(given: Mapping[str, Any]) -> Iterable[str]:
    from benchsuite.folders import table_files

    if "table_folders" in given:
        _use_folders(given)
    return table_files()


def _recipes(given: Mapping[str, Any]) -> Iterable[str]:
    from benchsuite.folders import recipe_files

    _use_folders(given)
    return recipe_files()


def _scales(given: Mapping[str, Any]) -> Iterable[str]:
    """Those of the tables that stand before, or of all."""
    import tomllib

    from benchsuite.folders import table_files

    files = table_files()
    typed = words(os.environ)  # an option without its value yet leaves the arguments before it unread
    chosen = [file for name, file in files.items() if name in typed] or files.values()
    return {scale for file in chosen for scale in tomllib.loads(file.read_text("utf-8")).get("recipes", ())}


KINDS: Mapping[str, Callable[[Mapping[str, Any]], Iterable[str]]] = {
    "method": partial(_registered, "method"),
    "task": partial(_registered, "task"),
    "dataset": partial(_registered, "dataset"),
    "table": _tables,
    "paper": lambda given: [*{name.partition("/")[0] for name in _tables(given)}],
    "recipe": _recipes,
    "scale": _scales,
    "all": lambda given: ["all"],
    "file": lambda given: [file.name for file in Path().glob("*.py")],
}
