"""Damaged copies of stored files, drawn by hypothesis: values are replaced, keys are gone, bytes differ.

Half of the records are sealed again after the damage, as one who can compute digests would do it.
"""

import hashlib
import io
import json
import lzma
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from benchsuite.records.names import stem
from benchsuite.records.schema import MethodPart, content_digest, run_id
from benchsuite.setup import Setup

sys.set_int_max_str_digits(0)  # of this process: what reads the files has its limit
Draw = Callable[[st.SearchStrategy[Any]], Any]
NESTED: list[Any] = []
for _ in range(300):
    NESTED = [NESTED]
VALUES: list[Any] = [
    None, True, 0, -1, 1, 5, 2**31, 2**62, 2**63 - 1, 2**63, 10**30, 10**5000, 0.0, -0.5, 0.5, 1e308, -1e308, 1e-320,
    float("nan"), float("inf"), "", "x", "x" * 300, "x" * 100_000, "../../outside", "/dev/zero", "a\0b", "\ud800",
    "\x1b[2J", "a\nb", "<script>", "{{ 7 }}", "%s%n", "1e999", [], {}, [[]], [None], {"": {}}, {"x": 1}, [1, "x", {}],
    NESTED, list(range(1000)),
]  # fmt: skip
LITERALS = [
    '""', '"x"', "0", "-1", "1", "9223372036854775807", "1" + "0" * 30, "1" + "0" * 5000, "0.5", "-1e308", "inf", "nan",
    "true", "[]", "{}", "[[]]", "[1, 'x']", "{x = 1}", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z",
    '"' + "x" * 300 + '"',
    "[" * 3000, "{a = " * 3000, "'''", '"\\ud800"', '"{tau}"', '"../../outside"', "[-1]", "[nan]", '["x", "x"]',
]  # fmt: skip
HEADERS = ["[rows]", "[[columns]]", "[x.y]", "[[x]]", "[data]", "[]", "[["]
ARRAYS: list[Any] = [
    np.array([], np.int64), np.array([0]), np.array([-1]), np.array([1]), np.array([1, 2, 3]),
    np.array([2**62] * 4), np.array([2**63, 2**63], np.uint64), np.array([2**64 - 1], np.uint64),
    np.full(4, 2**31 - 1, np.int32), np.ones(60_000, np.int8), np.arange(1, 9, dtype=">i4"), np.array([[1]]),
    np.array(1), np.array([0.5]), np.array([True]), np.array([1], "m8[s]"), np.array(["x"]),
    np.array([1], [("a", "i4")]),
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """Files to write into a sound results folder, by path, and whether pages are made of it too."""

    what: str
    files: dict[str, bytes]
    pages: bool

    def write(self, folder: Path) -> None:
        """Into a results folder."""
        for name, content in self.files.items():
            (folder / name).write_bytes(content)

    def undo(self, folder: Path, sound: Path) -> None:
        """As in the sound folder again."""
        for name in self.files:
            (folder / name).unlink()
            if (sound / name).exists():
                (folder / name).write_bytes((sound / name).read_bytes())


@st.composite
def cases(draw: Draw, sound: Path) -> Case:
    """A damaged copy of one file of the sound folder; of a sealed record with its ranks."""
    files = [path for path in sorted(sound.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    file = draw(st.sampled_from(files))
    damage = {".json": _json, ".toml": _toml, ".xz": _ranks, ".parquet": _bytes}[file.suffix]
    damaged = damage(draw, file) if draw(st.integers(0, 9)) else _bytes(draw, file)
    files_by_name = {path.relative_to(sound).as_posix(): content for path, content in damaged.items()}
    return Case(file.relative_to(sound).as_posix(), files_by_name, pages=not draw(st.integers(0, 49)))


def _bytes(draw: Draw, file: Path) -> dict[Path, bytes]:
    """Some bytes differ, are gone, or are there again."""
    content = bytearray(file.read_bytes())
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(content))), draw(st.integers(0, 40))
        match draw(st.sampled_from(["change", "remove", "repeat", "cut"])):
            case "change":
                content[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case "remove":
                del content[at : at + length]
            case "repeat":
                content[at:at] = content[at : at + length]
            case "cut":
                del content[at:]
    return _owned(draw, file, bytes(content))


def _ranks(draw: Draw, file: Path) -> dict[Path, bytes]:
    """Some arrays are others."""
    with np.load(lzma.open(file)) as stored:
        arrays = dict(stored)
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from([*arrays, "retrieval.other", "x" * 300, "a/../b", ""]))
        arrays[name] = draw(st.sampled_from(ARRAYS))
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    content = buffer.getvalue()  # as files of before are, too
    return _owned(draw, file, lzma.compress(content) if draw(st.booleans()) else content)


def _owned(draw: Draw, file: Path, content: bytes) -> dict[Path, bytes]:
    """A file; one of ranks mostly with the record that names it, sealed with it."""
    owners = [path for path in file.parent.glob("*.json") if file.suffix == ".xz" and file.name in path.read_text()]
    owners = [path for path in owners if path.name != "MANIFEST.json"]
    if not owners or not draw(st.integers(0, 4)):
        return {file: content}
    record = json.loads(owners[0].read_text())
    record["ranks"]["sha256"] = hashlib.sha256(content).hexdigest()
    return {file: content, owners[0]: _sealed(record)}


def _json(draw: Draw, file: Path) -> dict[Path, bytes]:
    """Some values are others, are gone, or stand under another key."""
    content = json.loads(file.read_text())
    _damage(draw, content)
    if "run_id" not in content or not draw(st.booleans()):
        sealed = "digest" in content and draw(st.booleans())
        return {file: _sealed(content) if sealed else _text(content)}
    with suppress(Exception):  # what is not valid has no identity
        setup, method = Setup.model_validate(content["setup"]), MethodPart.model_validate(content["method"])
        run = run_id(setup.setup_id, method.method_id, content["seed"], content["digests"].get("paraphrases"))
        content |= {"setup_id": setup.setup_id, "method_id": method.method_id, "run_id": run}
        name = f"{stem(method.name, content['seed'], run)}.json"
        if not {"/", "\0"} & set(name) and len(name) < 250:
            return {file: b"{}"} | {file.with_name(name): _sealed(content)}
    return {file: _sealed(content)}


def _damage(draw: Draw, content: Any) -> None:
    """Some values are others, are gone, or stand under another key."""
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(content))
        if not places:
            break
        parent, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["value", "value", "value", "remove", "key", "copy"])):
            case "value":
                parent[key] = _copy(draw(st.sampled_from(VALUES)))
            case "remove":
                del parent[key]
            case "key" if isinstance(parent, dict):
                parent[draw(st.sampled_from([value for value in VALUES if isinstance(value, str)]))] = parent.pop(key)
            case _:
                other, at = draw(st.sampled_from(places))
                with suppress(LookupError):
                    parent[key] = _copy(other[at])


def _copy(value: Any) -> Any:
    """A value of its own: what is drawn must not change from case to case."""
    return json.loads(json.dumps(value))


def _places(content: Any) -> Any:
    """All parents with their keys, not of what is nested without end."""
    stack = [(content, 0)]
    while stack:
        parent, depth = stack.pop()
        keys = list(parent) if isinstance(parent, dict) else range(min(len(parent), 20))
        for key in keys:
            yield parent, key
            if isinstance(parent[key], dict | list) and depth < 8:
                stack.append((parent[key], depth + 1))


def _sealed(content: dict[str, Any]) -> bytes:
    with suppress(ValueError, RecursionError):
        content["digest"] = content_digest(content)
    return _text(content)


def _text(content: Any) -> bytes:
    return json.dumps(content, ensure_ascii=True).encode()


def _toml(draw: Draw, file: Path) -> dict[Path, bytes]:
    """Some lines have another value, are gone, or stand elsewhere."""
    lines = file.read_text().splitlines()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        key, _, _ = lines[at].partition("=")
        match draw(st.sampled_from(["value", "value", "value", "remove", "move", "dots", "header"])):
            case "value":
                lines[at] = f"{key.strip() or 'x'} = {draw(st.sampled_from(LITERALS))}"
            case "remove":
                lines[at] = ""
            case "move":
                lines.insert(draw(st.integers(0, len(lines))), lines[at])
            case "dots":
                lines[at] = ".".join([key.strip(" []") or "x"] * draw(st.sampled_from([2, 500]))) + " = 1"
            case "header":
                lines.insert(at, draw(st.sampled_from(HEADERS)))
    return {file: "\n".join(lines).encode()}
