"""What the shell completes after <TAB>: names of methods, tasks, datasets, tables, scales and recipes.

Names are read from files. Nothing that a name stands for is imported, so torch is not. An unreadable file has no names.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from benchsuite.errors import BenchsuiteError

VARIABLE = "_BENCHSUITE_COMPLETE"
"""Set by the shell where it asks for completions."""


def words(environment: Mapping[str, str]) -> list[str]:
    """What was typed so far after the command's name, where the shell asks for completions."""
    typed = environment.get("_TYPER_COMPLETE_ARGS") or environment.get("COMP_WORDS", "")
    return typed.split()[1:] if VARIABLE in environment else []


def completed(*kinds: str, several: bool = False) -> Callable[[typer.Context, str], list[str]]:
    """A completion by names of these kinds; with `several`, of the last one behind commas."""

    def complete(context: typer.Context, incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if several else ("", "", incomplete)
        names: set[str] = set()
        for kind in kinds:
            with suppress(BenchsuiteError, OSError, ValueError, SyntaxError):
                names.update(names_of(kind, context.params))
        return [before + comma + name for name in sorted(names) if name.startswith(last)]

    return complete


def names_of(kind: str, given: Mapping[str, Any]) -> Iterable[str]:
    """All names of a kind, with those of the folders and plugins that were given."""
    import tomllib

    from benchsuite import folders, registry
    from benchsuite.cards import read_cards

    own = given.get("table_folders") or given.get("tables") or ()
    folders.use_folders([Path(folder) for folder in own if Path(folder).is_dir()])
    match kind:
        case "table":
            return folders.table_files()
        case "paper":
            return {name.partition("/")[0] for name in folders.table_files()}
        case "recipe":
            return folders.recipe_files()
        case "scale":
            read = (tomllib.loads(file.read_text("utf-8")) for file in folders.table_files().values())
            return {scale for table in read for scale in table.get("recipes", ())}
        case "method" | "task" | "dataset":
            files = [Path(file) for file in given.get("plugin") or ()]
            added = [card.name for file in files for card in read_cards(kind, file, file.stem)]
            return [*getattr(registry, f"{kind}s"), *added]
        case "file":
            return [file.name for file in Path().glob("*.py")]
    return [kind]
