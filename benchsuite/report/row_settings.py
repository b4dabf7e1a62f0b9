"""What a row was run with, in words: temperatures, what it has in place of the setup's, the trial that chose it."""

from collections.abc import Sequence
from statistics import median

from benchsuite.analysis.labels import temperatures
from benchsuite.records.schema import Record


def own(records: Sequence[Record]) -> str:
    """What a row has of its own: `tau 0.02 to 0.05, learning rate 0.003, 2 times the steps`. Replicates that searched
    have values of their own. Of a row with all searched, temperatures that were not are said to be as printed, and what
    else was searched is named."""
    first = records[0]
    searched = first.tuned.searched if first.tuned else []
    said = []
    for name in temperatures(first.method):
        printed = " (as printed, not tuned)" if searched and name not in searched else ""
        said.append(f"{name} {_range([temperatures(record.method)[name] for record in records])}{printed}")
    rates = [record.method.learning_rate for record in records if record.method.learning_rate]
    said += [f"learning rate {_range(rates)}"] if rates else []
    others = [name for name in searched if name not in temperatures(first.method)]
    said += [f"{', '.join(others)} searched, too"] if others else []
    longer = first.method.longer
    return ", ".join([*said, *([f"{longer:g} times the steps"] if longer != 1 else [])])


def trials_behind(records: Sequence[Record]) -> str:
    """Of one run `trial 7 of 16, the best`, from trial 0 on; of several how many trials each had. Empty where nothing
    was searched."""
    tuned = records[0].tuned
    if tuned is None:
        return ""
    what = "" if tuned.searched else " for the learning rate"
    return (
        f"trial {tuned.trial} of {tuned.trials}{what}, the best"
        if len(records) == 1
        else f"best of {tuned.trials} trials{what} for each seed"
    )


def search_cost(records: Sequence[Record]) -> str:
    """`16 × 5.2 s`: trials of a search, and the median seconds of a run, of the processor where they are known."""
    tuned = records[0].tuned
    if tuned is None:
        return "none"
    seconds = median(float(record.cost.get("cpu_seconds") or record.cost["seconds"]) for record in records)
    return f"{tuned.trials} × {seconds:.3g} s"


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.3g}", f"{max(values):.3g}"
    return low if low == high else f"{low} to {high}"
