"""`benchsuite new-method`: the file of a method, and its tests."""

from benchsuite.cli.shared.scaffolding import HERE, Into, NewName, new_files, quoted, say_next
from benchsuite.registry import methods


def new_method(name: NewName, into: Into = HERE) -> None:
    """Write a method's file and its tests.

    The method trains as it is; put your own loss in its place. docs/add-a-method.md explains the contract.
    """
    module = new_files(methods, name, into)["module"]
    file = quoted(into / f"{module}.py")
    say_next(
        f"benchsuite check-method {file}",
        f"python -m pytest {quoted(into / f'test_{module}.py')}",
        f"benchsuite repro temo/table1 --scale smoke --plugin {file} --rows infonce,{name}",
    )
