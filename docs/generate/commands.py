"""A page for each command, from the command line itself."""

from typing import Any

import typer

from benchsuite.cli import COMMANDS, application
from benchsuite.cli.shared.examples import EXAMPLES
from generate.words import contents, doc, page, prose, shell, table


def pages() -> dict[str, str]:
    """One for each command, and their list."""
    group: Any = typer.main.get_command(application())
    found = {name: group.commands[name] for name in COMMANDS}
    made = {f"commands/{name}": page(*_command(name, command)) for name, command in found.items()}
    rows = [(f"[`{name}`](commands/{name}.md)", prose(_first(command.help))) for name, command in found.items()]
    listed = [
        "# Commands",
        "",
        "`benchsuite COMMAND --help` prints the same. `python -m benchsuite` is the same command.",
        "",
    ]
    return made | {
        "commands": page(*listed, *table(("command", "what"), rows), *contents(f"commands/{n}" for n in found))
    }


def _command(name: str, command: Any) -> list[str]:
    context = command.make_context(f"benchsuite {name}", [], resilient_parsing=True)
    usage = context.get_usage().removeprefix("Usage: ")
    lines = [f"# {name}", "", *shell(usage), *doc(command.help)]
    for title, kind in (("Arguments", "argument"), ("Options", "option")):
        records = [
            parameter.get_help_record(context) for parameter in command.params if parameter.param_type_name == kind
        ]
        rows = [(f"`{names.strip()}`", prose(what)) for names, what in filter(None, records)]
        if rows:
            lines += [f"## {title}", "", *table((kind, "what"), rows)]
    lines += ["## Examples", "", *shell(*EXAMPLES[name])]
    return lines


def _first(help_text: str | None) -> str:
    return (help_text or "").partition("\n")[0]
