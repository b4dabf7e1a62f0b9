"""The `benchsuite` command: one file per command, and one for the `new-` ones. Nothing else prints.

Of the commands, only the called one is imported: the start of a short one is most of its time.
"""

import ast
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from benchsuite import __version__
from benchsuite.cli.shared.examples import EXAMPLES, GROUPS, epilog
from benchsuite.cli.shared.terminal import keep_stdout_for_json, say
from benchsuite.errors import INTERRUPTED, BenchsuiteError, RunError

COMMANDS = tuple(EXAMPLES)
"""In the order of the help."""


class Grouped(TyperGroup):
    """Commands under headings, each with the whole first sentence of its help."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the part of the help that lists them."""
        for heading, commands in GROUPS.items():
            if there := [(name, self.commands[name]) for name in commands if name in self.commands]:
                with formatter.section(heading):
                    formatter.write_dl([(name, command.get_short_help_str(limit=200)) for name, command in there])


def application(called: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line: commands that are called, or else names of all and what the help says of them."""
    app = typer.Typer(
        cls=Grouped,
        help="Train and compare contrastive-learning methods under identical setups.",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(options_of_all)
    known = [name for name in COMMANDS if name in called]
    for name in known or COMMANDS:
        app.command(name, epilog=epilog(name))((_imported if known else _described)(*_place(name)))
    return app


def _place(command: str) -> tuple[str, str]:
    """The module and the function of a command: of its name, but for the `new-` ones, which share a module."""
    name = "list_" if command == "list" else command.replace("-", "_")
    return "new" if command.startswith("new-") else name, name


def _imported(module: str, name: str) -> Callable[..., None]:
    function: Callable[..., None] = getattr(import_module(f"benchsuite.cli.{module}"), name)
    return function


def _described(module: str, name: str) -> Callable[[], None]:
    """A function with the command's docstring, read from the source."""

    def command() -> None:
        raise NotImplementedError(name)

    tree = ast.parse(Path(__file__).with_name(f"{module}.py").read_text("utf-8"))
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    command.__doc__ = ast.get_docstring(function)
    return command


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        say(f"benchsuite {__version__}")
        raise typer.Exit


def options_of_all(
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks. Works in any position."),
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Show the version."),
) -> None:
    """Options of all commands."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every expected failure is one message and an exit code."""
    if isinstance(
        sys.stdout, TextIOWrapper
    ):  # what the terminal cannot show, and names that are no text, are spelt out
        sys.stdout.reconfigure(errors="backslashreplace")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # numpy's; processes that share the work would fight for cores
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # torch's: a thread that waits leaves its core to others
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    keep_stdout_for_json(False)
    try:
        words = [argument for argument in given if argument != "--debug"]
        asked = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS", "")  # a shell completes them
        typed = words or asked.split()[1:]
        application([word for word in typed if not word.startswith("-")][:1])(words, prog_name="benchsuite")
    except BenchsuiteError as error:
        _fail(error.lines, error.exit_code, debug)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        from benchsuite.files import OF_WRITING, WriteError

        if isinstance(error, OSError) and error.errno in OF_WRITING:
            _fail(WriteError.of(str(error.filename or "a disk"), error).lines, WriteError.exit_code, debug)
        _fail([f"unexpected {type(error).__name__}: {error} (--debug shows where)"], RunError.exit_code, debug)


def _fail(lines: Sequence[str], code: int, debug: bool) -> None:
    if debug:
        import traceback

        say(*traceback.format_exc().splitlines(), error=True)
    first, *more = lines
    say(f"benchsuite: {first}", *more, error=True)
    sys.exit(code)
