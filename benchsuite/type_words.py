"""Types of fields in words, from their annotations in the source: `float, above 0, finite` for `Positive`."""

import ast
import math
from collections.abc import Callable

Lookup = Callable[[str], ast.expr | None]
"""What a name stands for in its file, if that is known."""
LISTS = ("list", "tuple", "Sequence")


def type_words(node: ast.expr, lookup: Lookup) -> str:
    """An annotation as a reader says it; what is not known here stays as it is written."""
    match node:
        case ast.Constant(value=None):
            return "none"
        case ast.Name(id=name) if (meaning := lookup(name)) is not None:
            return type_words(meaning, lookup)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            sides = [type_words(side, lookup) for side in (left, right)]
            return ("; or " if ", " in sides[0] else " or ").join(sides)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=choices):
            *first, last = [ast.unparse(choice) for choice in _several(choices)]
            return f"{', '.join(first)} or {last}" if first else last
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[base, *limits])):
            words = type_words(base, lookup)
            return ", ".join([words, *_limits(limits, whole=words == "int")])
        case ast.Subscript(value=ast.Name(id=name), slice=items) if name in LISTS:
            parts = [type_words(item, lookup) for item in _several(items) if ast.unparse(item) != "..."]
            return f"list of {', '.join(dict.fromkeys(parts))}"
        case _:
            return ast.unparse(node)


def number_range(node: ast.expr, lookup: Lookup) -> tuple[float, float] | None:
    """The lowest and the highest number that an annotation allows; None for what is no float."""
    match node:
        case ast.Name(id="float"):
            return -math.inf, math.inf
        case ast.Name(id=name) if (meaning := lookup(name)) is not None:
            return number_range(meaning, lookup)
        case ast.Subscript(value=ast.Name(id="Annotated"), slice=ast.Tuple(elts=[base, *limits])):
            inner = number_range(base, lookup)
            return inner and _narrowed(*inner, limits)
        case _:
            return None


def _narrowed(low: float, high: float, limits: list[ast.expr]) -> tuple[float, float]:
    for node in limits:
        match node:
            case ast.Call(func=ast.Name(id=name), args=[value]) if (bound := _number(value)) is not None:
                low = max(low, {"Ge": bound, "Gt": math.nextafter(bound, math.inf)}.get(name, low))
                high = min(high, {"Le": bound, "Lt": math.nextafter(bound, -math.inf)}.get(name, high))
    return low, high


def _number(node: ast.expr) -> float | None:
    try:
        return float(ast.literal_eval(node))
    except (ValueError, TypeError):  # a name or a calculation
        return None


def _limits(nodes: list[ast.expr], whole: bool) -> list[str]:
    """In words: the range, whether finite, whether a temperature."""
    bounds: dict[str, str] = {}
    more = []
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id=("Gt" | "Ge" | "Lt" | "Le") as name), args=[value]):
                bounds[name] = ast.unparse(value)
            case ast.Name(id="Finite"):
                more.append("finite")
            case ast.Constant(value="temperature"):
                more.append("a temperature")
    if whole and bounds.get("Gt", "").isdecimal():
        bounds["Ge"] = str(int(bounds.pop("Gt")) + 1)
    if "Ge" in bounds and "Le" in bounds:
        return [f"{bounds['Ge']} to {bounds['Le']}", *(word for word in more if word != "finite")]
    words = {"Gt": "above {}", "Ge": "{} or more", "Lt": "below {}", "Le": "at most {}"}
    return [*(text.format(bounds[name]) for name, text in words.items() if name in bounds), *more]


def _several(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]
