import hashlib
import json
import math
from enum import IntEnum, StrEnum
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from benchsuite.canonical import alike, canonical, digest, short_digest

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
PLAIN = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3))


def backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in reversed(value)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


@given(PLAIN)
def test_order_of_keys_does_not_matter(value: Any) -> None:
    assert canonical(backwards(value)) == canonical(value)


@given(PLAIN)
def test_nothing_is_lost(value: Any) -> None:
    assert json.loads(canonical(value)) == value


@given(PLAIN, PLAIN)
@example(True, 1)
@example({"a": [True]}, {"a": [1]})
@example(2, 2.0)
@example("", None)
def test_what_is_alike_has_one_form(one: Any, other: Any) -> None:
    assert alike(one, other) == (canonical(one) == canonical(other))
    assert alike(one, backwards(one))


@given(st.integers(-(2**53), 2**53))
def test_a_whole_float_is_written_like_the_integer(number: int) -> None:
    assert canonical(float(number)) == canonical(number) == str(number).encode()


def test_text_is_utf8_and_not_escaped() -> None:
    assert canonical({"é": "τ 漢"}) == '{"é":"τ 漢"}'.encode()


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_is_refused(number: float) -> None:
    with pytest.raises(ValueError, match="no canonical form"):
        canonical({"deep": [1, {"down": number}]})


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        canonical("\ud800")


@pytest.mark.parametrize(("levels", "fits"), [(64, True), (65, False), (100_000, False)])
def test_what_is_nested_deeply_is_refused(levels: int, fits: bool) -> None:
    value: list[Any] = []
    for _ in range(levels - 1):
        value = [value]
    if fits:
        assert canonical(value) == b"[" * levels + b"]" * levels
    else:
        with pytest.raises(ValueError, match="nested more than 64 levels deep"):
            canonical(value)


@pytest.mark.parametrize("value", [np.float32(1), np.arange(2), {1}, b"bytes", {1: "key is not text"}])
def test_what_is_not_plain_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"plain data|must be text"):
        canonical(value)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        (1, "1"),
        (None, "null"),
        ([1, 2], [2, 1]),
        ([[1], 2], [1, [2]]),
        ({"a": 1}, {"b": 1}),
        ({"a": {"b": 1}}, {"a": 1, "b": 1}),
        (0.1, 0.10000000000000002),
        ("", None),
        ({"a": None}, {}),
    ],
)
def test_different_data_have_different_digests(left: Any, right: Any) -> None:
    assert digest(left) != digest(right)


def test_kinds_of_plain_data_are_written_as_plain_data() -> None:
    class Colour(StrEnum):
        red = "r"

    class Level(IntEnum):
        top = 3

    kinds = {"a": np.float64(2.0), "b": Colour.red, "c": Level.top, "d": MappingProxyType({"e": (1.5,)})}
    assert canonical(kinds) == b'{"a":2,"b":"r","c":3,"d":{"e":[1.5]}}'


def test_digest_is_sha256_of_the_canonical_bytes() -> None:
    value = {"b": [1.0, 2.5, True], "a": None}
    assert digest(value) == hashlib.sha256(b'{"a":null,"b":[1,2.5,true]}').hexdigest()
    assert short_digest(value) == digest(value)[:16]
