"""The `benchsuite` command: one file per command. Nothing else prints."""

import sys
import traceback
from io import TextIOWrapper

import typer

from benchsuite import __version__
from benchsuite.cli import (
    check_method,
    claims,
    diff,
    doctor,
    embed,
    evaluate,
    export,
    list_,
    new_table,
    regress,
    report,
    repro,
    run,
    tune,
    verify,
    weights,
)
from benchsuite.cli.options import INTERRUPTED
from benchsuite.errors import BenchsuiteError, RunError

app = typer.Typer(
    help="Train and compare contrastive-learning methods under identical setups.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list")(list_.list_)
app.command("repro")(repro.repro)
app.command("run")(run.run)
app.command("tune")(tune.tune)
app.command("embed")(embed.embed)
app.command("weights")(weights.weights)
app.command("evaluate")(evaluate.evaluate)
app.command("report")(report.report)
app.command("export")(export.export)
app.command("claims")(claims.claims)
app.command("regress")(regress.regress)
app.command("new-table")(new_table.new_table)
app.command("verify")(verify.verify)
app.command("diff")(diff.diff)
app.command("doctor")(doctor.doctor)
app.command("check-method")(check_method.check_method)


def show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        print(f"benchsuite {__version__}")
        raise typer.Exit


@app.callback()
def options(
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
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    try:
        app([argument for argument in given if argument != "--debug"], prog_name="benchsuite")
    except BenchsuiteError as error:
        _fail(str(error), error.exit_code, debug)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except Exception as error:
        _fail(f"unexpected {type(error).__name__}: {error} (--debug shows where)", RunError.exit_code, debug)


def _fail(message: str, code: int, debug: bool) -> None:
    if debug:
        traceback.print_exc()
    print(f"benchsuite: {message}", file=sys.stderr)
    sys.exit(code)
