"""Cards: metadata of a registered class, read from its source without importing it."""

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from benchsuite.errors import UsageError
from benchsuite.type_words import number_range, type_words


@dataclass(frozen=True)
class FieldCard:
    """One typed field of a registered class: a hyper-parameter, or an option of a task or dataset."""

    name: str
    type: str
    default: Any
    doc: str = ""
    words: str = ""
    """The type as a reader says it."""
    range: tuple[float, float] | None = None
    """The lowest and the highest number that it can be; none if it is no float."""


@dataclass(frozen=True)
class Card:
    """A registered name: its owner, and the metadata of its decorator and class."""

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
        """The decorator's title=, else the registered name."""
        return str(self.about.get("title", self.name))

    @property
    def version(self) -> int:
        """The decorator's version=, else 1: of a method or task, raised when what it computes changes in value."""
        return int(self.about.get("version", 1))

    @property
    def built_in(self) -> bool:
        return self.owner.startswith("benchsuite.")

    @property
    def defaults_are_of(self) -> str:
        """Whose values the defaults of a method are: only what comes with benchsuite is checked against its paper."""
        usual = "the paper" if self.built_in and self.about.get("paper") else "the method's author"
        return str(self.about.get("defaults", usual))

    @property
    def summary(self) -> str:
        return self.doc.split("\n", 1)[0]

    def as_json(self) -> dict[str, Any]:
        """Plain data for `list --json`."""
        fields = {f.name: {"type": f.words, "default": f.default, "doc": f.doc} for f in self.fields}
        about = {key: value for key, value in self.about.items() if key != "title"}
        named = {"name": self.name, "title": self.title, "summary": self.summary, "doc": self.doc, "owner": self.owner}
        return {**named, **DEFAULTS.get(self.kind, {}), **about, "fields": fields}


REQUIRED = "required"
"""Marks a field without a default."""
DEFAULTS: dict[str, dict[str, Any]] = {"method": {"version": 1, "paper": "", "needs": (), "serves": ("pair",)}}
"""Metadata that a decorator may leave out, by kind."""


def read_cards(kind: str, path: Path, package: str) -> Iterator[Card]:
    """Cards of every class under `path` (a file or a package folder) that carries `@register_<kind>("name", ...)`."""
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    for file in files:
        for node in _tree(file).body:
            if isinstance(node, ast.ClassDef) and (call := _decorator(node, kind)):
                name, about = _arguments(call, file)
                inside = file.relative_to(path).with_suffix("").parts if path.is_dir() else ()
                module = ".".join((package, *(part for part in inside if part != "__init__")))
                doc = ast.get_docstring(node) or ""
                fields = tuple(_fields(node, file).values())
                yield Card(kind, name, module, node.name, _owner(module, file), str(file), doc, about, fields)


def card_of_class(kind: str, name: str, cls: type, about: Mapping[str, Any]) -> Card:
    """The card of a class during its registration, from its source file if there is one."""
    try:
        file = Path(inspect.getfile(cls))
        cards = [c for c in read_cards(kind, file, cls.__module__) if c.name == name and c.qualname == cls.__qualname__]
    except (OSError, TypeError, UsageError):
        cards, file = [], Path(cls.__module__)
    if len(cards) > 1:
        raise UsageError(f'{kind} "{name}" is registered twice in {file}.')
    inherited = tuple(f for base in reversed(cls.__mro__[1:]) for f in getattr(base.__dict__.get("card"), "fields", ()))
    own = cards[0].fields if cards else _live_fields(cls)
    fields = {f.name: f for f in (*inherited, *own)}
    fields |= {n: replace(f, default=cls.__dict__[n]) for n, f in fields.items() if n in cls.__dict__}
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
            f"{file}, line {call.lineno}: @register_... takes a name and literals only, "
            "because it is read without running the file."
        ) from error


def _fields(node: ast.ClassDef, file: Path) -> dict[str, FieldCard]:
    fields: dict[str, FieldCard] = {}
    for base in node.bases:
        if isinstance(base, ast.Name) and (origin := _definition(base.id, file)):
            fields |= _fields(*origin)
    for item, after in zip(node.body, [*node.body[1:], None], strict=True):
        match item:
            case ast.AnnAssign(target=ast.Name(id=name)):
                kind = ast.unparse(item.annotation)
                if not kind.startswith("ClassVar") and not name.startswith("_"):
                    lookup = partial(_meaning, file=file)
                    words, limits = type_words(item.annotation, lookup), number_range(item.annotation, lookup)
                    default = _literal(item.value) if item.value else REQUIRED
                    fields[name] = FieldCard(name, kind, default, _text(after), words, limits)
            case ast.Assign(targets=[ast.Name(id=name)]) if name in fields:
                fields[name] = replace(fields[name], default=_literal(item.value))
    return fields


def _definition(name: str, file: Path) -> tuple[ast.ClassDef, Path] | None:
    """The class of that name in a file, or in the benchsuite module from which the file imports it."""
    for node in _tree(file).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node, file
        if isinstance(node, ast.ImportFrom) and (origin := _origin(node, name)):
            return _definition(*origin)
    return None


def _meaning(name: str, file: Path) -> ast.expr | None:
    """What a name is assigned in a file, or in the benchsuite module from which the file imports it."""
    for node in _tree(file).body:
        match node:
            case ast.Assign(targets=[ast.Name(id=assigned)], value=value) if assigned == name:
                return value
            case ast.ImportFrom() if origin := _origin(node, name):
                return _meaning(*origin)
    return None


def _origin(node: ast.ImportFrom, name: str) -> tuple[str, Path] | None:
    """What the name is called in the benchsuite module that it is imported from, and its file; else none."""
    imported = next((alias.name for alias in node.names if (alias.asname or alias.name) == name), "")
    module = (node.module or "").split(".")
    if not imported or module[0] != "benchsuite" or len(module) == 1:
        return None
    file = Path(__file__).parent.joinpath(*module[1:]).with_suffix(".py")
    return (imported, file) if file.is_file() else None


def _tree(file: Path) -> ast.Module:
    return _parsed(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=256)
def _parsed(file: Path, changed: int) -> ast.Module:
    return ast.parse(file.read_text("utf-8-sig"), str(file))


def _literal(value: ast.expr) -> Any:
    try:
        return ast.literal_eval(value)
    except ValueError:
        return ast.unparse(value)


def _text(node: ast.stmt | None) -> str:
    match node:
        case ast.Expr(value=ast.Constant(value=str() as text)):
            return inspect.cleandoc(text)
        case _:
            return ""


def _live_fields(cls: type) -> tuple[FieldCard, ...]:
    notes = {n: a for n, a in inspect.get_annotations(cls).items() if "ClassVar" not in str(a) and n[0] != "_"}
    types = {n: getattr(a, "__name__", str(a)) for n, a in notes.items()}
    return tuple(FieldCard(n, kind, cls.__dict__.get(n, REQUIRED), words=kind) for n, kind in types.items())


def _owner(module: str, file: Path) -> str:
    return module if module.startswith("benchsuite.") else str(file)
