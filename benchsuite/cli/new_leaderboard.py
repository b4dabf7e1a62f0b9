"""`benchsuite new-leaderboard`: a repository with a plugin package, results, checks and published pages."""

from pathlib import Path
from typing import Annotated

import typer

from benchsuite.cli.shared.scaffolding import quoted, say_next
from benchsuite.cli.shared.terminal import say
from benchsuite.folders import table_files
from benchsuite.paths import constraints
from benchsuite.registry import methods
from benchsuite.scaffolds import files_of, named, require_free_module, write_new


def new_leaderboard(
    folder: Annotated[Path, typer.Argument(help="Folder to write to; its name is the package's.", metavar="FOLDER")],
    method: Annotated[str, typer.Option(help="Name of the board's first method.", metavar="NAME")] = "mine",
) -> None:
    """Write a repository for a leaderboard of your own.

    It has a plugin package with a method and a table, its tests, a folder for results, and workflows that check it and
    publish the pages.
    """
    board = named("package", folder.resolve().name, {})
    require_free_module(board, folder)
    first = named("method", method, {known: card.owner for known, card in methods.cards().items()})
    table = f"{board.module}/table1"
    named("paper", board.name, {name.partition("/")[0]: file for name, file in table_files().items()})
    package = {"package": board.module, "import": f"{board.module}.{first.module}", "distribution": board.name}
    words = {**first.words, **package, "board": board.words["title"], "table": table}
    method_files = {path.name: text for path, text in files_of("method", words)}
    code = f"{first.module}.py"
    files = {
        **dict(files_of("leaderboard", words)),
        Path("constraints.txt"): constraints().read_text("utf-8"),
        Path(board.module, code): method_files[code],
        Path("tests", f"test_{code}"): method_files[f"test_{code}"],
    }
    for path in write_new(folder, files):
        say(f"wrote {path}")
    say_next(
        f"cd {quoted(folder)} && git init -b main && pip install -c constraints.txt -e '.[test]'",
        f"benchsuite check-method {method}",
        f"benchsuite repro {table} --scale smoke",
        f"benchsuite repro {table} --scale latents --results results",
        "benchsuite verify results --update",
        "benchsuite report --results results --report site",
        f"git add . && git commit -m 'Add {table} at latents'",
    )
    say("then push it to GitHub and choose Settings > Pages > Source: GitHub Actions; README.md says more.")
