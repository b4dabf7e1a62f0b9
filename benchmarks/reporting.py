"""How long a results folder of thousands of records takes: to read, to judge, to put on pages, and to verify.

The folder is made from a smaller one of real records: other replicates, other ranks with the numbers that follow from
them, sealed anew, and the tables' requests with all replicates. Each step runs once.

    benchsuite repro all --scale smoke --seeds 1
    python benchmarks/reporting.py --from runs [--records 5000] [--keep FOLDER] [--json]
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from cases import OURS, Case, Numbers
from numpy.typing import NDArray

from benchsuite.analysis.building import build_views
from benchsuite.analysis.results import ResultsFolder
from benchsuite.canonical import digest
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.contents import Contents, parse
from benchsuite.records.names import json_files, stem
from benchsuite.records.ranks import open_ranks, pack_ranks
from benchsuite.records.record_file import RecordFile, with_ranks
from benchsuite.records.schema import Record, content_digest, run_id
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS
from benchsuite.report.leaderboard import Leaderboard
from benchsuite.report.site import write_site
from benchsuite.setup import Setup

T = TypeVar("T")
SIZES = {"small": 60, "full": 5_000}
"""Records."""
SECONDS = 10.0
"""Aim of a report at full size, on two cores."""
Ranks = Mapping[str, NDArray[np.integer[Any]]]


def cases(size: str) -> Iterator[Case]:
    """The whole commands, beside reading the files alone."""
    count = SIZES[size]
    with tempfile.TemporaryDirectory() as scratch:
        real, folder, pages = (Path(scratch) / name for name in ("real", "runs", "pages"))
        command("repro", "temo/table1", "--scale", "smoke", "--seeds", 1, "--results", real, "--report", pages)
        make(real, folder, count)
        tables = len(list((folder / "tables").iterdir()))

        def reading() -> Numbers:
            for file in folder.rglob("*.*"):
                content = file.read_bytes()
                if file.suffix == ".json":
                    json.loads(content)
            return {}

        def report() -> Numbers:
            command("report", "--results", folder, "--report", pages)
            return {"pages": len(list(pages.rglob("*.html")))}

        def verify() -> Numbers:
            command("verify", folder)
            return {}

        what = f"{count:,} records in {tables} tables"
        alone = {"reading the files alone": reading}
        limit = SECONDS if size == "full" else None
        yield Case("report", f"Writes the pages of {what}", {OURS: report, **alone}, seconds=limit, repeats=3)
        yield Case("verify", f"Validates {what}", {OURS: verify, **alone}, repeats=3)


def command(*arguments: object) -> None:
    """A command of the suite, in a process of its own."""
    words = [sys.executable, "-m", "benchsuite", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr or done.stdout}")


class Stopwatch:
    """Seconds by step: on the clock, and of this process and its workers on processors."""

    def __init__(self) -> None:
        self.seconds: dict[str, tuple[float, float]] = {}

    @contextmanager
    def __call__(self, step: str) -> Iterator[None]:
        start, cpu = time.perf_counter(), on_processors()
        yield
        self.seconds[step] = (round(time.perf_counter() - start, 2), round(on_processors() - cpu, 2))


def on_processors() -> float:
    """Seconds so far, of this process and of those that it waited for."""
    return sum(os.times()[:4])


def make(source: Path, folder: Path, count: int) -> None:
    """Write a folder of at least so many records."""
    contents = Store(source).read()
    if not contents.records:
        sys.exit(f"{source}: no valid record. Run `benchsuite repro all --scale smoke --seeds 1` first.")
    first = {}  # of each configuration: its other seeds are made from it
    for record in sorted(contents.records.values(), key=lambda record: (record.seed, record.run_id)):
        first.setdefault((record.setup_id, record.configuration), record)
    originals = [*first.values()]
    store, written = Store(folder), 0
    store.require_writable()
    if (source / TRIALS).is_dir():
        shutil.copytree(source / TRIALS, folder / TRIALS)
    files = {record.run_id: source / record.ranks.file for record in originals}
    ranks = {r.run_id: open_ranks(files[r.run_id], files[r.run_id].read_bytes(), r.results) for r in originals}
    for seed in range(-(-count // len(originals))):
        for record in originals[: count - written]:
            put(store, *varied(record, ranks[record.run_id], seed))
            written += 1
    for request in contents.requests:
        store.add_request(request.model_copy(update={"replicates": list(range(seed + 1))}))


def of_seed(setup: Setup, by: int) -> Setup:
    """The setup of another replicate, whose data are drawn anew."""
    name = setup.data.redrawn
    options = {**setup.data.options, name: setup.data.options[name] + by} if name else setup.data.options
    return setup.model_copy(update={"data": setup.data.model_copy(update={"options": options})})


def varied(record: Record, ranks: Ranks, seed: int) -> tuple[Record, bytes]:
    """A sound record of another seed: ranks are moved about, and what follows from them is computed again."""
    rng, setup = np.random.default_rng([seed, int(record.run_id[:8], 16)]), of_seed(record.setup, seed - record.seed)
    found: dict[str, NDArray[np.integer[Any]]] = dict(ranks)
    results = dict(record.results)
    for name, result in record.results.items():
        rule = RULES.get(result.task)
        measures = {key: value + 0.01 * rng.standard_normal() for key, value in result.measures.items()}
        if rule is None or rule.scores is None or not rule.only_ranks:
            results[name] = result.model_copy(update={"measures": measures})
            continue
        own = {key: jittered(array, rng) for key, array in ranks.items() if key.rpartition(".")[0] == name}
        found |= own
        told = rule({key.rpartition(".")[2]: array for key, array in own.items()}, {})
        not_recomputable = {key: value for key, value in result.measures.items() if key in rule.not_recomputable}
        update = {
            "metrics": dict(told.metrics),
            "measures": {**not_recomputable, **told.measures},
            "counts": dict(told.counts),
        }
        results[name] = result.model_copy(update=update)
    named = stem(record.method.name, seed, run_id(setup.setup_id, record.method_id, seed))
    content, sidecar = pack_ranks(named, found.items())
    digests = {name: value if name == "data" else digest([value, seed]) for name, value in record.digests.items()}
    cost = {**record.cost, "cpu_seconds": round(record.cost["cpu_seconds"] * rng.uniform(0.95, 1.05), 3)}
    kept = {name: getattr(record, name) for name in ("method", "curves", "environment", "created", "recipe", "tuned")}
    made = {"seed": seed, "setup": setup, "results": results, "digests": digests, "cost": cost, "ranks": sidecar}
    return Record.seal(**kept, **made), content


def jittered(ranks: NDArray[np.integer[Any]], rng: np.random.Generator) -> NDArray[np.integer[Any]]:
    """A tenth of the ranks at another place."""
    chosen = rng.random(len(ranks)) < 0.1
    return np.where(chosen, rng.permutation(ranks), ranks).astype(ranks.dtype)


def put(store: Store, record: Record, ranks: bytes) -> None:
    """As the store writes it, without waiting for the disk."""
    named = stem(record.method.name, record.seed, record.run_id)
    (store.folder / record.ranks.file).write_bytes(ranks)
    (store.folder / f"{named}.json").write_text(json.dumps(record.as_json(), indent=1, ensure_ascii=False) + "\n")


def measure(folder: Path, pages: Path) -> dict[str, tuple[float, float]]:
    """Seconds of each step."""
    timed = Stopwatch()
    parts_of_reading(folder, timed)
    with timed("Store.read"):
        contents: Contents = Store(folder).read()
    if contents.errors:
        sys.exit(f"{folder}: {contents.errors[0]}")
    with timed("build_views"):
        views, left_out = build_views(contents)
    if left_out:
        sys.exit(str(left_out[0]))
    board = Leaderboard.of(ResultsFolder(folder, contents, views, left_out))
    with timed("places of tables"):
        each(views, lambda view: [view.is_best(row, cell) for row in view.rows for cell in row.cells])
    with timed("judged_claims"):
        _ = board.claims
    with timed("boards"):
        _ = board.boards
    with timed("costs"):
        _ = board.costs
    with timed("write_site, after all these"):
        write_site(pages, board)
    return timed.seconds


def parts_of_reading(folder: Path, timed: Stopwatch) -> None:
    """What `Store.read` does to each record, one thing after the other."""
    files = json_files(folder)
    with timed("read: JSON"):
        contents = [parse(file) for file in files]
    with timed("read: seal"):
        each(contents, content_digest)
    with timed("read: schema"):
        records = [Record.unchecked(content) for content in contents]
    with timed("read: identities"):
        each(records, lambda record: list(record.contradictions()))
    with timed("read: ranks"):
        each(records, lambda record: with_ranks(RecordFile(folder / record.ranks.file, record)))


def each(things: Sequence[T], do: Callable[[T], object]) -> None:
    """Do it to all."""
    for one in things:
        do(one)


def main() -> None:
    """Make the folder, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="FOLDER", help="real records")
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where the records go; made only if not there")
    parser.add_argument("--json", action="store_true")
    request = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = request.keep or Path(scratch) / "runs"
        if not folder.is_dir():
            make(request.source, folder, request.records)
        pages = Path(scratch) / "pages"
        seconds = measure(folder, pages)
        written = list(pages.rglob("*.html"))
        largest = max(written, key=lambda file: file.stat().st_size)
        told = {
            "records": len(json_files(folder)),
            "seconds": seconds,
            "pages": len(written),
            "largest_page": {"name": str(largest.relative_to(pages)), "bytes": largest.stat().st_size},
            "peak_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        }
    if request.json:
        print(json.dumps(told, indent=1))
        return
    print(f"{told['records']} records, {told['pages']} pages, {told['peak_megabytes']} MB of memory")
    for step, (clock, cpu) in seconds.items():
        print(f"{clock:8.2f} s {cpu:8.2f} s CPU  {step}")
    print(f"largest page: {told['largest_page']['name']}, {told['largest_page']['bytes'] / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
