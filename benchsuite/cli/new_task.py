"""`benchsuite new-task`: the file of a task, its tests, and a recipe that is evaluated by it."""

from benchsuite.cli.shared.scaffolding import HERE, Into, NewName, new_files, quoted, say_next
from benchsuite.registry import tasks


def new_task(name: NewName, into: Into = HERE) -> None:
    """Write a task's file, its tests, and a recipe that is evaluated by it.

    The task stores ranks, so that `benchsuite verify` can compute its numbers again.
    """
    module = new_files(tasks, name, into)["module"]
    file, recipe = quoted(into / f"{module}.py"), quoted(into / f"{module}.toml")
    say_next(
        f"python -m pytest {quoted(into / f'test_{module}.py')}",
        f"benchsuite run infonce --recipe {recipe} --plugin {file}",
        f"benchsuite verify runs --plugin {file}",
    )
