"""What people read in the place of identities: a configuration's label, a setup's title, no two alike."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchsuite.canonical import canonical, digest
from benchsuite.records.code_version import code_state
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import Record
from benchsuite.registry import methods
from benchsuite.setup import Setup

TEMPERATURES = ("Temperature", "TemperatureWidth")
"""Types of fields that a setup's factor multiplies."""
LONG = 4
"""Values of a list that a label shows; of a longer one it shows how many there are."""
SHORT = 8
"""Digits of an identity that tell alike names apart."""


def labels(configurations: Sequence[Record]) -> list[str]:
    """A label for each configuration of a board, given a record of each.

    The method's title; and of a method that is there more than once also the hyper-parameters in which these differ,
    where they are not at the method's defaults.
    """
    by_method: defaultdict[str, list[Record]] = defaultdict(list)
    for record in configurations:
        by_method[record.method.name].append(record)
    apart = {name: _apart(some) for name, some in by_method.items()}
    found = []
    for record in configurations:
        said = ", ".join([*_settings(record, apart[record.method.name]), *_code(record, apart[record.method.name])])
        found.append(f"{record.method.title} ({said})" if said else record.method.title)
    names = [record.method.name for record in configurations]
    return _told_apart(found, names, [record.method_id[:SHORT] for record in configurations])


def titles(setups: Mapping[str, Setup], requests: Sequence[TableRequest]) -> dict[str, str]:
    """A title for each setup by setup_id: the recipe, backbone and variant for which tables asked for it.

    Of several names the shortest, then the one most rows use. What no table asked for is called by data and towers.
    """
    names: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for one in requests:
        for row in one.rows:
            for part, runs in row.parts.items():
                name = tuple(filter(None, (one.recipe, row.backbone, row.variant, part)))
                names[runs.setup_id][name] += 1
    found = []
    for setup_id, setup in setups.items():
        known = names[setup_id]
        words = min(known, key=lambda words: (len(words), -known[words], words)) if known else _towers(setup)
        found.append(", ".join(words))
    return dict(zip(setups, _told_apart(found, [setup_id[:SHORT] for setup_id in setups]), strict=True))


def _towers(setup: Setup) -> tuple[str, ...]:
    image = setup.image.timm if setup.image else ""
    text = setup.text.transformer if setup.text else ""
    return tuple(filter(None, (setup.data.name, image, text)))


@dataclass(frozen=True)
class _Apart:
    """In what configurations of one method differ."""

    settings: frozenset[str]
    """Hyper-parameters that are not alike in all."""
    twins: frozenset[str]
    """Digests of hyper-parameters that several have."""


def _apart(same: Sequence[Record]) -> _Apart:
    names = {name for record in same for name in record.method.hyperparameters}
    values = {name: {canonical(record.method.hyperparameters.get(name)) for record in same} for name in names}
    counts = Counter(digest(record.method.hyperparameters) for record in same)
    return _Apart(
        frozenset(name for name, some in values.items() if len(some) > 1),
        frozenset(one for one, count in counts.items() if count > 1),
    )


def _settings(record: Record, apart: _Apart) -> Iterator[str]:
    """Hyper-parameters that are not alike in all configurations of the method, where they are not the default."""
    defaults = _defaults(record) if apart.settings else {}
    for name, value in record.method.hyperparameters.items():
        if name in apart.settings and not (name in defaults and defaults[name] == value):
            yield f"{name}={_shown(value)}"


def _code(record: Record, apart: _Apart) -> Iterator[str]:
    """The code, where another configuration has the same hyper-parameters; the code that is here needs no word."""
    if apart.twins and digest(record.method.hyperparameters) in apart.twins and code_state(record) != "current":
        yield f"code {record.method.code[:SHORT]}"


def _defaults(record: Record) -> dict[str, Any]:
    """The method's own, as a run of this setup would use them; none of a method that is not registered here."""
    if record.method.name not in methods:
        return {}
    factor = record.setup.temperature_factor
    fields = methods.card(record.method.name).fields
    return {
        f.name: f.default * factor if f.type in TEMPERATURES and isinstance(f.default, int | float) else f.default
        for f in fields
    }


def _shown(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case float():
            return f"{value:.6g}"
        case list():
            return f"[{len(value)} values]" if len(value) > LONG else f"[{', '.join(map(_shown, value))}]"
        case _:
            return str(value)


def _told_apart(names: Sequence[str], *more: Sequence[str]) -> list[str]:
    """Each name as it is; those that are alike with something more, as long as there is more."""
    found = list(names)
    for others in more:
        counts = Counter(found)
        found = [f"{name}, {other}" if counts[name] > 1 else name for name, other in zip(found, others, strict=True)]
    return found
