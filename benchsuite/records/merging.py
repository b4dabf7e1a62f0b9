"""One results folder added to another: runs with their ranks and weights, trials, and what was asked of tables."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from benchsuite.errors import UsageError
from benchsuite.files import drafted, put, writing_to
from benchsuite.records.contents import Contents, read_contents
from benchsuite.records.names import TRIALS, WEIGHTS
from benchsuite.records.schema import Record, knows
from benchsuite.records.store import Store
from benchsuite.records.trials import add_trials, require_rule


@dataclass(frozen=True)
class Merged:
    """What was added."""

    runs: int
    both: int
    """Runs that both folders had: the first record stays."""
    trials: int
    tables: int


def merge(theirs: Path, into: Path) -> Merged:
    """Add what `theirs` has. Nothing is written if a file of one of them is not valid, or if two contradict."""
    store = Store(into)
    before, other = store.read(), read_contents(theirs)
    _require_whole(into, before)
    _require_whole(theirs, other)
    files = {file.relative_to(theirs): file for file in (*other.tables.values(), *other.recipes.values())}
    for name, file in files.items():
        if (into / name).exists() and (into / name).read_bytes() != file.read_bytes():
            raise UsageError(f"{into / name} and {file} differ. Rename one, with its table or recipe, and run it anew.")
    for recipe, content in other.trials.items():
        if recipe in before.trials:
            require_rule(before.trials[recipe], content.rule, into / TRIALS / f"{recipe}.parquet")
    for name, file in files.items():
        store.keep(str(name), file)
    trials = sum(add_trials(into, content) for content in other.trials.values())
    stored = {
        one.run_id for one in other.records.values() if (own := before.records.get(one.run_id)) and knows(own, one)
    }
    for record in other.records.values():
        if record.run_id not in stored:
            _add(record, theirs, store)
    for request in other.requests:
        store.add_request(request)
    return Merged(len(other.records) - len(stored), len(stored), trials, len({one.table for one in other.requests}))


def _require_whole(folder: Path, contents: Contents) -> None:
    if errors := contents.errors:
        raise UsageError(f"{folder} has invalid files; nothing was added.", more=[f"  {error}" for error in errors])


def _add(record: Record, theirs: Path, store: Store) -> None:
    """Ranks are missing of runs that come with benchsuite, weights where somebody deleted them."""
    ranks = theirs / record.ranks.file
    weights = theirs / WEIGHTS / record.weights.file if record.weights else None
    if weights and weights.is_file() and not weights.is_symlink():
        kept = store.folder / WEIGHTS / weights.name
        with writing_to(kept.parent):
            kept.parent.mkdir(parents=True, exist_ok=True)
            with drafted(kept) as draft:
                shutil.copy2(weights, draft)
                put(draft, kept)
    if ranks.exists():
        store.write(record, ranks.read_bytes(), with_weights=False)
    else:
        store.write_alone(record)
