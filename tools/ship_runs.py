"""Make the runs that come with benchsuite: `python tools/ship_runs.py RESULTS RECIPE METHOD...`.

Takes the recipe's trials from a results folder, and the methods' records on the recipe's first backbone, and writes
`baselines/shipped/<recipe>.jsonl.xz` and `<recipe>.parquet`. Records are as they were measured; ranks stay behind.
"""

import sys
from pathlib import Path

from benchsuite.paths import baselines
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_method
from benchsuite.records.contents import read_contents
from benchsuite.records.listing import PACK, line_of, pack
from benchsuite.records.schema import Record
from benchsuite.records.shipped import SHIPPED
from benchsuite.records.trials import write_trials


def main(results: str, recipe: str, *methods: str) -> None:
    """Write both files."""
    contents = read_contents(Path(results))
    whole = read_recipe(recipe, contents.recipes)
    tower = whole.setup().image
    records = sorted(
        (
            one
            for one in contents.records.values()
            if one.method.name in methods and one.setup.image == tower and one.recipe == recipe and is_as_asked(one)
        ),
        key=lambda record: (record.method.name, is_searched(record), record.seed),
    )
    printed = {record.method.name for record in records if not is_searched(record)}
    if lacking := sorted({*methods} - printed):
        raise SystemExit(f"{', '.join(lacking)}: no run as printed at the method's defaults, which `compare` asks for")
    trials = contents.trials[recipe]
    folder = baselines() / SHIPPED
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{recipe}{PACK}").write_bytes(pack(line_of(record.as_json()) for record in records))
    write_trials(folder / f"{recipe}.parquet", trials)
    sys.stdout.write(f"{len(records)} records, {len(trials.trials)} trials: {folder}\n")


def is_searched(record: Record) -> bool:
    """Whether its hyper-parameters were searched, and not the learning rate alone."""
    return record.tuned is not None and bool(record.tuned.searched)


def is_as_asked(record: Record) -> bool:
    """Whether `compare` asks for this run, whatever the table that it was measured for."""
    method, factor = record.method, record.setup.temperature_factor
    asked = resolve_method(method.name, {}, factor, learning_rate=method.learning_rate)
    return is_searched(record) or asked.method_id == record.method_id


if __name__ == "__main__":
    main(*sys.argv[1:])
