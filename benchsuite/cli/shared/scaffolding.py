"""What the `new-` commands share: the folder to write to, and what they say."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.terminal import say
from benchsuite.registry import Registry
from benchsuite.scaffolds import files_of, named, require_free_module, write_new

NewName = Annotated[str, typer.Argument(help="Its name: small letters, digits, hyphens.", metavar="NAME")]
Into = Annotated[Path, typer.Option("--into", help="Folder to write to (default: the current one).", metavar="FOLDER")]
HERE = Path()


def new_files(registry: Registry, name: str, into: Path) -> Mapping[str, str]:
    """Write the template of a registry's kind; returns its words."""
    new = named(registry.kind, name, {known: card.owner for known, card in registry.cards().items()})
    require_free_module(new, into)
    written = write_new(into, dict(files_of(registry.kind, new.words)))
    say(*(f"wrote {path}" for path in written))
    return new.words


def say_next(*commands: str) -> None:
    """What to type next, one command a line."""
    say("then:", *(f"  {command}" for command in commands))


def quoted(path: Path) -> str:
    """The path as a shell reads it."""
    return shlex.quote(str(path))
