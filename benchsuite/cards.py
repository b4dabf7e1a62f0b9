"""Cards: what a registered class says of itself, read from its source text without running it."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchsuite.errors import UsageError


@dataclass(frozen=True)
class FieldCard:
    """One typed field of a registered class: a hyper-parameter, or an option of a task or dataset."""

    name: str
    type: str
    default: Any
    doc: str = ""


@dataclass(frozen=True)
class Card:
    """A registered name: who owns it, what its decorator and its class say."""

    kind: str
    name: str
    module: str
    qualname: str
    owner: str
    file: str
    doc: str
    about: Mapping[str, Any] = field(default_factory=dict)
    fields: tuple[FieldCard, ...] = ()

    @property
    def title(self) -> str:
        """The human name: the decorator's title=, else the registered name."""
        return str(self.about.get("title", self.name))

    @property
    def summary(self) -> str:
        """First line of the docstring."""
        return self.doc.split("\n", 1)[0]

    def as_json(self) -> dict[str, Any]:
        """Plain data for `list --json`."""
        fields = {f.name: {"type": f.type, "default": f.default, "doc": f.doc} for f in self.fields}
        return {
            "name": self.name,
            "title": self.title,
            "summary": self.summary,
            "doc": self.doc,
            "owner": self.owner,
            **{k: v for k, v in self.about.items() if k != "title"},
            "fields": fields,
        }


def read_cards(kind: str, path: Path, package: str) -> Iterator[Card]:
    """Cards of every class under `path` (a file or a package folder) that carries `@register_<kind>("name", ...)`."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    trees = {file: ast.parse(file.read_text("utf-8"), str(file)) for file in files}
    classes = {node.name: node for tree in trees.values() for node in tree.body if isinstance(node, ast.ClassDef)}
    for file, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and (call := _decorator(node, kind)):
                name, about = _arguments(call, file)
                module = _module_name(file, path, package) if path.is_dir() else package
                fields = _fields(node, classes)
                doc = ast.get_docstring(node) or ""
                yield Card(kind, name, module, node.name, _owner(module, file), str(file), doc, about, fields)


def card_of_class(kind: str, name: str, cls: type, about: Mapping[str, Any]) -> Card:
    """The card of a class that is being registered now, read from its source where there is a file."""
    try:
        file = Path(inspect.getfile(cls))
        found = [c for c in read_cards(kind, file, cls.__module__) if c.name == name and c.qualname == cls.__qualname__]
    except (OSError, TypeError, UsageError):
        found, file = [], Path(cls.__module__)
    if len(found) > 1:
        raise UsageError(f'{kind} "{name}" is registered twice in {file}.')
    inherited = tuple(f for base in reversed(cls.__mro__[1:]) for f in getattr(base.__dict__.get("card"), "fields", ()))
    own = found[0].fields if found else _live_fields(cls)
    fields = {f.name: f for f in (*inherited, *own)}
    doc = inspect.cleandoc(cls.__doc__ or "")
    owner = _owner(cls.__module__, file)
    return Card(
        kind, name, cls.__module__, cls.__qualname__, owner, str(file), doc, dict(about), tuple(fields.values())
    )


def _decorator(node: ast.ClassDef, kind: str) -> ast.Call | None:
    for item in node.decorator_list:
        if isinstance(item, ast.Call):
            called = item.func.attr if isinstance(item.func, ast.Attribute) else getattr(item.func, "id", "")
            if called == f"register_{kind}":
                return item
    return None


def _arguments(call: ast.Call, file: Path) -> tuple[str, dict[str, Any]]:
    try:
        name = ast.literal_eval(call.args[0])
        return name, {k.arg: ast.literal_eval(k.value) for k in call.keywords if k.arg}
    except (ValueError, IndexError) as error:
        raise UsageError(
            f"{file}, line {call.lineno}: the registering decorator takes a name and literals only, "
            "so that it can be read without running the file."
        ) from error


def _fields(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> tuple[FieldCard, ...]:
    found: dict[str, FieldCard] = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            found |= {f.name: f for f in _fields(classes[base.id], classes)}
    for item, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            kind = ast.unparse(item.annotation)
            if not kind.startswith("ClassVar") and not item.target.id.startswith("_"):
                default = _literal(item.value) if item.value else "required"
                found[item.target.id] = FieldCard(item.target.id, kind, default, _text(after))
    return tuple(found.values())


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return ast.unparse(value)


def _text(node: ast.stmt | None) -> str:
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return inspect.cleandoc(node.value.value) if is_text else ""  # type: ignore[union-attr]


def _live_fields(cls: type) -> tuple[FieldCard, ...]:
    notes = {n: a for n, a in inspect.get_annotations(cls).items() if "ClassVar" not in str(a) and n[0] != "_"}
    return tuple(
        FieldCard(n, getattr(a, "__name__", str(a)), cls.__dict__.get(n, "required")) for n, a in notes.items()
    )


def _module_name(file: Path, root: Path, package: str) -> str:
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join((package, *(p for p in parts if p != "__init__")))


def _owner(module: str, file: Path) -> str:
    return module if module.startswith("benchsuite.") else str(file)
