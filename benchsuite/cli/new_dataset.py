"""`benchsuite new-dataset`: the file of a dataset, its tests, and a recipe that trains on it."""

from benchsuite.cli.shared.scaffolding import HERE, Into, NewName, new_files, quoted, say_next
from benchsuite.registry import datasets


def new_dataset(name: NewName, into: Into = HERE) -> None:
    """Write a dataset's file, its tests, and a recipe that trains on it.

    Image files with captions need no code: docs/own-data.md. This is for data of another kind.
    """
    module = new_files(datasets, name, into)["module"]
    file, recipe = quoted(into / f"{module}.py"), quoted(into / f"{module}.toml")
    say_next(
        f"python -m pytest {quoted(into / f'test_{module}.py')}",
        f"benchsuite run infonce --recipe {recipe} --plugin {file}",
    )
