import ast

import pytest

from benchsuite.type_words import type_words

NAMES = {
    "Positive": "Annotated[float, Gt(0), Finite]",
    "Share": "Annotated[float, Ge(0), Le(1), Finite]",
    "Count": "Annotated[int, Gt(0)]",
    "Temperature": 'Annotated[float, Gt(0), Finite, "temperature"]',
    "Mode": 'Literal["a", "b", "c"]',
}


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        ("float", "float"),
        ("Annotated[float, Finite]", "float, finite"),
        ("Positive", "float, above 0, finite"),
        ("Share", "float, 0 to 1"),
        ("Count", "int, 1 or more"),
        ("Annotated[int, Ge(10), Lt(2**64)]", "int, 10 or more, below 2 ** 64"),
        ("Annotated[float, Gt(0.5)]", "float, above 0.5"),
        ("Temperature", "float, above 0, finite, a temperature"),
        ("Mode", "'a', 'b' or 'c'"),
        ('Literal["a"]', "'a'"),
        ("int | str", "int or str"),
        ("Count | None", "int, 1 or more; or none"),
        ("tuple[Count, ...]", "list of int, 1 or more"),
        ("list[str]", "list of str"),
        ("numpy.float64", "numpy.float64"),
        ("Unknown", "Unknown"),
    ],
)
def test_a_type_is_said_in_words(annotation: str, words: str) -> None:
    def lookup(name: str) -> ast.expr | None:
        return ast.parse(NAMES[name], mode="eval").body if name in NAMES else None

    assert type_words(ast.parse(annotation, mode="eval").body, lookup) == words
