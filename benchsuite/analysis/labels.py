"""Names instead of identities: a label for each configuration, a title for each setup, no two alike."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchsuite.analysis.table_view import TableView
from benchsuite.canonical import canonical
from benchsuite.grouping import by_key
from benchsuite.records.method_version import version_state
from benchsuite.records.schema import MethodPart, Record
from benchsuite.registry import methods
from benchsuite.setup import Setup

TEMPERATURES = ("Temperature", "TemperatureWidth")
"""Types of fields that a setup's factor multiplies."""
LONG = 4
"""Values of a list that a label shows; of a longer one it shows how many there are."""
STEPS = "steps"
"""The setting of a row that trained longer."""
SHORT = 8
"""Digits of an identity that tell alike names apart."""


def labels(configurations: Sequence[Record]) -> list[str]:
    """A label for each configuration of a board, given a record of each.

    The method's title, and whether it trained longer than the setup says; of a method that is there more than once
    also the settings in which these differ, where they are not at the method's defaults.
    """
    settings = [_settings(record) for record in configurations]
    method_names = [record.method.name for record in configurations]
    by_method = by_key(zip(method_names, settings, strict=True))
    varied = {name: {STEPS, *_varied(values)} for name, values in by_method.items()}
    names = []
    for record, values in zip(configurations, settings, strict=True):
        details = [f"{name}={_shown(value)}" for name, value in values.items() if name in varied[record.method.name]]
        names.append(f"{record.method.title} ({', '.join(details)})" if details else record.method.title)
    return _distinct(names, method_names, [record.row_id[:SHORT] for record in configurations])


def temperatures(method: MethodPart) -> dict[str, float]:
    """A method's temperatures as a run used them: before its own schedule, or learning, moves them."""
    known = {f.name: f.type for f in methods.card(method.name).fields} if method.name in methods else {}
    return {
        key: float(value)
        for key, value in method.hyperparameters.items()
        if isinstance(value, int | float) and (known[key] in TEMPERATURES if key in known else key.startswith("tau"))
    }


def titles(
    setups: Mapping[str, Setup], views: Sequence[TableView], recipes: Mapping[str, str] | None = None
) -> dict[str, str]:
    """A title for each setup by setup_id: the recipe, what its backbone is, and the variant for which tables show it.

    Of several names the shortest, then the one most rows use. What no table shows is called by its recipe and
    towers; where `recipes` do not have it, by data and towers. Alike ones also by the data's options that differ.
    """
    names: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
    for view in views:
        for row in view.rows:
            for part in view.table.all_parts:
                name = tuple(filter(None, (view.setting.name, view.stand_in(row.backbone), row.variant, part)))
                cells = (cell for cell in row.cells if cell.column.part == part)
                for setup_id in {record.setup_id for cell in cells for record in cell.records.values()}:
                    names[setup_id][name] += 1
    shortest = []
    for setup_id, setup in setups.items():
        known = names[setup_id]
        words = (
            min(known, key=lambda words: (len(words), -known[words], words))
            if known
            else ((recipes or {}).get(setup_id, setup.data.name), *(x.name for x in (setup.image, setup.text) if x))
        )
        shortest.append(", ".join(words))
    named = _with_data(shortest, [setup.data.options for setup in setups.values()])
    return dict(zip(setups, _distinct(named, [setup_id[:SHORT] for setup_id in setups]), strict=True))


def recipes_of(records: Iterable[Record]) -> dict[str, str]:
    """By setup_id: the recipe of its runs, as far as records name it; of several the first by name."""
    named = {(record.setup_id, record.recipe) for record in records if record.recipe}
    return dict(sorted(named, reverse=True))


def _with_data(names: Sequence[str], options: Sequence[Mapping[str, Any]]) -> list[str]:
    """Each name as it is; equal ones with the options in which their data differ."""
    alike = by_key(zip(names, options, strict=True))
    varied = {name: _varied(several) for name, several in alike.items()}
    return [
        ", ".join([name, *(f"{key}={_shown(value)}" for key, value in one.items() if key in varied[name])])
        for name, one in zip(names, options, strict=True)
    ]


def is_plain(record: Record) -> bool:
    """Whether all of its settings are the method's defaults, or found by a search."""
    return _settings(record).keys() <= {"tuned", "rate"}


def _settings(record: Record) -> dict[str, Any]:
    """Hyper-parameters that are not at their defaults, what the row has of its own, what else it reads, its version."""
    defaults = _defaults(record)
    searched = record.tuned.searched if record.tuned else ()
    fixed = {name: value for name, value in record.method.hyperparameters.items() if name not in searched}
    settings = {name: value for name, value in fixed.items() if name not in defaults or defaults[name] != value}
    if record.method.learning_rate and not record.tuned:
        settings["learning rate"] = record.method.learning_rate
    if record.method.longer != 1:
        settings[STEPS] = f"×{record.method.longer:g}"
    if record.tuned:
        settings["tuned" if searched else "rate"] = f"{record.tuned.trials} trials"
    settings |= {name: digest[:SHORT] for name, digest in record.read.items()}
    current = version_state(record.method) == "current"
    return settings if current else {**settings, "method version": record.method.version}


def _varied(configurations: Sequence[Mapping[str, Any]]) -> set[str]:
    """Settings that are not alike in all configurations of a method."""
    names = {name for settings in configurations for name in settings}
    return {name for name in names if len({canonical(settings.get(name)) for settings in configurations}) > 1}


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


def _distinct(names: Sequence[str], *details: Sequence[str]) -> list[str]:
    """Each name as it is; equal ones with one more detail, as long as there is another."""
    longer = list(names)
    for extra in details:
        counts = Counter(longer)
        longer = [f"{name}, {more}" if counts[name] > 1 else name for name, more in zip(longer, extra, strict=True)]
    return longer
