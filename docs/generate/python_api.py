"""The Python interface: every public name, by the room it comes from, read from its source without importing it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import benchsuite
from generate.words import doc, page

GROUPS = {
    "Write a method": "benchsuite.methods",
    "Read results": "benchsuite.analysis",
    "Use trained towers": "benchsuite.models",
    "Write a dataset or a task": ("benchsuite.data", "benchsuite.evaluation"),
    "Register": "benchsuite.registry",
}
"""Heading, and the rooms whose public names stand below it."""
Function = ast.FunctionDef


def pages() -> dict[str, str]:
    """One page; a public name without a heading is an error."""
    lines = ["# Python", "", "All names below are imported from `benchsuite`. They load on first use.", ""]
    left = dict(benchsuite._LAZY)
    for title, rooms in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in [name for name, module in left.items() if module.startswith(rooms)]:
            lines += documented(name, left.pop(name))
    if left:
        raise LookupError(f"docs/generate/python_api.py: no heading for {', '.join(left)}")
    return {"python": page(*lines)}


def documented(name: str, module: str) -> list[str]:
    """A public name as Sphinx's Python domain has it, so that it is indexed and can be linked to."""
    node = definition(name, module)
    lines = doc(ast.get_docstring(node) or "")
    if isinstance(node, Function):
        return directive("function", f"benchsuite.{name}{signature(node)}", lines, 3)
    for what, member, text in members(node):
        lines += directive(what, member, doc(text), 3)
    return directive("class", f"benchsuite.{name}{constructor(node)}", lines, 4)


def directive(what: str, title: str, lines: list[str], fence: int) -> list[str]:
    """A block of MyST; blocks inside have a shorter fence."""
    return [f"{'`' * fence}{{py:{what}}} {title}", "", *lines, "`" * fence, ""]


def definition(name: str, module: str) -> ast.ClassDef | Function:
    """The class or function; a name for an object's method is that method of the object's class."""
    path = Path(benchsuite.__file__).parent.joinpath(*module.split(".")[1:])
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    tree = ast.parse(file.read_text("utf-8"))
    for node in tree.body:
        match node:
            case ast.ClassDef() | ast.FunctionDef() if node.name == name:
                return node
            case ast.Assign(targets=[ast.Name(id=given)], value=ast.Attribute(attr=method)) if given == name:
                bodies = (each.body for each in tree.body if isinstance(each, ast.ClassDef))
                return next(f for body in bodies for f in body if isinstance(f, Function) and f.name == method)
    raise LookupError(f"{module} defines no {name}")


def members(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    """Kind, signature and docstring of what a user reads, sets, calls or overrides."""
    for item, after in zip(node.body, [*node.body[1:], None], strict=True):
        match item:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if name[0] != "_":
                default = f"\n:value: {ast.unparse(item.value)}" if item.value else ""
                yield "attribute", f"{name}\n:type: {ast.unparse(kind)}{default}", _text(after)
            case ast.FunctionDef(name=name) if name[0] != "_":
                decorators = {ast.unparse(decorator) for decorator in item.decorator_list}
                if decorators & {"property", "cached_property"}:
                    yield "property", name, ast.get_docstring(item) or ""
                else:
                    yield "method", f"{name}{signature(item)}", ast.get_docstring(item) or ""


def constructor(node: ast.ClassDef) -> str:
    """The arguments of `__init__`; of a dataclass, its fields."""
    own = next((f for f in node.body if isinstance(f, Function) and f.name == "__init__"), None)
    if own is not None:
        return signature(own).partition(" -> ")[0]
    if any(ast.unparse(decorator).startswith("dataclass") for decorator in node.decorator_list):
        fields = [f for f in node.body if isinstance(f, ast.AnnAssign) and "ClassVar" not in ast.unparse(f.annotation)]
        return f"({', '.join(_field(f) for f in fields)})"
    return ""


def signature(function: Function) -> str:
    """Arguments and result, without `self`."""
    arguments = ast.unparse(function.args).removeprefix("self").removeprefix(", ")
    result = f" -> {ast.unparse(function.returns)}" if function.returns else ""
    return f"({arguments}){result}"


def _field(field: ast.AnnAssign) -> str:
    return f"{ast.unparse(field.target)}{'=...' if field.value else ''}"


def _text(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return text
        case _:
            return ""
