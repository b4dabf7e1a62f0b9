"""Tables and recipes that are not built in: stored with the results by `repro`, checked by `verify`.

A results folder has them in the layout of `--tables`, so its pages can be made where the user's folder is not.
"""

from collections.abc import Iterator

from benchsuite.errors import UsageError
from benchsuite.folders import PAPERS, RECIPES, built_in_recipes, built_in_tables, recipe_files, table_files
from benchsuite.papers import read_table
from benchsuite.papers.reader import read_table_file
from benchsuite.papers.schema import row_name
from benchsuite.planning.recipe import Recipe
from benchsuite.records.contents import built_in_again
from benchsuite.records.names import REMARKS, TABLES
from benchsuite.records.record_file import Finding
from benchsuite.records.requests import TableRequest
from benchsuite.records.store import Store
from benchsuite.toml_files import read_toml
from benchsuite.verify.audit import Audit


def keep(store: Store, request: TableRequest) -> Iterator[str]:
    """Store the table and recipe of a request, unless built in; a line for each that was another one before.

    With the table go those of its paper that have the scale: they say how many claims its families have.
    """
    recipe, built_in = read_table(request.table).recipes[request.scale], built_in_tables()
    paper = f"{request.table.partition('/')[0]}/"
    own = {
        f"{PAPERS}/{name}.toml": file
        for name, file in ({} if request.table in built_in else table_files()).items()
        if name not in built_in and name.startswith(paper)
        if name == request.table or request.scale in read_table_file(name, file).recipes
    }
    if recipe not in built_in_recipes():
        own[f"{RECIPES}/{recipe}.toml"] = recipe_files()[recipe]
    for name, file in own.items():
        if store.keep(name, file):
            yield f"changed: {store.folder / name} was another one, and is now as {file}."


def check_tables(audit: Audit) -> None:
    """Add what is wrong with the tables, recipes and requests of a results folder, and which runs are missing."""
    contents, built_in = audit.contents, built_in_again(audit.contents)
    wrong = [(error.file, error.reason, "delete it or rename it") for error in built_in]
    for name, file in [*contents.tables.items(), *contents.recipes.items()]:
        try:
            read_table_file(name, file) if name in contents.tables else read_toml(file, Recipe)
        except UsageError as error:
            wrong.append((file, str(error).removeprefix(str(file)).lstrip(":, "), "put it back as it was stored"))
    audit.problems += [Finding(file.relative_to(audit.path).as_posix(), what, fix) for file, what, fix in wrong]
    if not contents.requests:
        return
    from benchsuite.analysis.building import build_tables, misplaced  # with scipy
    from benchsuite.verify.audit_trials import too_short

    views, skipped = build_tables(contents)
    audit.problems += [Finding(TABLES, str(error), "`repro` with --tables FOLDER stores it") for error in skipped]
    audit.problems += [Finding(REMARKS, why, "correct it") for why in misplaced(contents.remarks, views)]
    for view in views:
        where, again = f"{TABLES}/{view.asked.name}.json", "run the same `benchsuite repro` again"
        audit.problems += [Finding(where, what, again) for what in view.outdated]
        lacking = [row for row in view.rows if row.measured < row.requested]
        audit.notes += [Finding(where, f"{row_name(row.key)}: {row.gap}", again) for row in lacking]
    audit.notes += too_short(views, contents.trials.values())
