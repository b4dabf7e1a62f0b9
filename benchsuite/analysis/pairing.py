"""May two runs be paired? Only if a seed meant the same to both: setup, initial weights, batches, words."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, product

from benchsuite.records.schema import Record
from benchsuite.setup import Setup, differences

DEPENDS_ON = {
    "initial_weights": ("image", "text", "projection", "data"),
    "batches": ("data", "augmentation", "training.batch"),
    "words": ("text", "data"),
    "data": ("data",),
    "clusters": ("clusters", "data"),
    "image_expert": ("experts.image", "data"),
    "text_expert": ("experts.text", "data"),
    "paraphrases": ("data",),
    "skipped_pictures": ("data", "training.batch", "training.steps", "training.accumulation"),
}
"""The fields of a setup that each digest follows from. Where one of them may differ and does, the digest does too."""


def pairable(left: Record, right: Record, allowed: Sequence[str] = ()) -> str:
    """Nothing, or why the two may not be paired. `allowed`: fields, or groups of them, in which setups may differ."""
    if left.seed != right.seed:
        return f"seed {left.seed} against seed {right.seed}"
    if left.setup_id == right.setup_id and left.digests == right.digests:
        return ""  # nearly all pairs there are
    if fields := disallowed_fields(left, right, allowed):
        return f"the setups differ in {'; '.join(fields)}"
    return "; ".join(_digest_differences(left.digests, right.digests, setup_fields(left, right)))


def unpairable(
    rows: Mapping[str, Mapping[int, Record]], allowed: Sequence[str] = ()
) -> dict[tuple[str, str], dict[int, str]]:
    """Pairs of rows, by their names in order, with the seeds that both have and may not be paired at, and why not.

    Few different setups and digests occur at a seed, so each two of them are looked at once, and not each two rows.
    """
    alike: dict[int, dict[Hashable, tuple[Record, list[str]]]] = {}
    for name in sorted(rows):
        for seed, record in rows[name].items():
            identity = (record.seed, record.setup_id, tuple(sorted(record.digests.items())))
            alike.setdefault(seed, {}).setdefault(identity, (record, []))[1].append(name)
    reasons: dict[tuple[str, str], dict[int, str]] = {}
    for seed, groups in sorted(alike.items()):
        for (left, left_names), (right, right_names) in combinations(groups.values(), 2):
            if why := pairable(left, right, allowed):
                for a, b in product(left_names, right_names):
                    reasons.setdefault((min(a, b), max(a, b)), {})[seed] = why
    return reasons


def setup_fields(left: Record, right: Record) -> Mapping[str, str]:
    """The fields in which two setups differ by dotted name, with both values in words; equal ids are equal setups."""
    if left.setup_id == right.setup_id:
        return {}
    return _fields(*(_Identified(record.setup_id, record.setup) for record in (left, right)))


def comparable_fields(left: Record, right: Record) -> Mapping[str, str]:
    """The same without clusters and experts that one of the two did not read: these cannot explain a difference."""
    unread = {*(left.unread | right.unread)}
    if {"experts.image", "experts.text"} <= unread:
        unread.add("experts")
    return {name: text for name, text in setup_fields(left, right).items() if not _within(name, sorted(unread))}


def disallowed_fields(left: Record, right: Record, allowed: Sequence[str] = ()) -> list[str]:
    """The fields in which two setups differ and may not, in words."""
    return [text for name, text in comparable_fields(left, right).items() if not _within(name, allowed)]


@dataclass(frozen=True)
class _Identified:
    """A setup that is known by its identity."""

    setup_id: str
    setup: Setup = field(compare=False)


@lru_cache(maxsize=1024)
def _fields(left: _Identified, right: _Identified) -> Mapping[str, str]:
    """Thousands of pairs of records are of a few pairs of setups."""
    a, b = (side.setup.model_dump(mode="json") for side in (left, right))
    return {name: f"{name} {x!r} against {y!r}" for name, (x, y) in differences(a, b).items()}


def _digest_differences(left: Mapping[str, str], right: Mapping[str, str], fields: Mapping[str, str]) -> Iterator[str]:
    for name, sources in DEPENDS_ON.items():
        if any(_within(field, sources) for field in fields):
            continue
        words = name.replace("_", " ")
        a, b = left.get(name), right.get(name)
        if name == "skipped_pictures" and a != b:
            yield "they skipped different pictures"
        elif a is None or b is None:
            if name == "words" and a != b:
                yield f"a record does not say its {words}"
        elif a != b:
            yield f"the {words} differ ({a} against {b})"


def _within(field: str, names: Sequence[str]) -> bool:
    """Whether a field is one of these, or lies in one of them."""
    return any(field == name or field.startswith(f"{name}.") for name in names)
