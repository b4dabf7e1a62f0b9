"""What records of one setup must agree on: what each seed drew, and how many test items there are."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from benchsuite.records.record_file import Finding
from benchsuite.records.schema import Record


def check_digests(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Records of one setup and seed had the same data, batches, initial weights and words: digests show it.

    `records`: by file name. A digest that differs from most others of its setup and seed is a problem of its record;
    if there is no majority, of each.
    """
    by_seed: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for name, record in records.items():
        by_seed[record.setup_id, record.seed].append(name)
    for names in by_seed.values():
        for kind in sorted({kind for name in names for kind in records[name].digests}):
            yield from _odd_ones(kind, {name: records[name].digests.get(kind) for name in names})


def check_counts(records: Mapping[str, Record]) -> Iterator[Finding]:
    """Records of one setup and the same data have as many test items in each protocol."""
    by_protocol: defaultdict[tuple[str, str | None, str], dict[str, str]] = defaultdict(dict)
    for name, record in records.items():
        for protocol, result in record.results.items():
            items = ", ".join(f"{key} {n}" for key, n in sorted(result.counts.items()))
            data = record.digests.get("data")
            by_protocol[record.setup_id, data, protocol][name] = f"{items}; split {result.split_size}"
    for (_, _, protocol), counts in by_protocol.items():
        yield from _odd_ones(f"number of items of {protocol}", counts)


def check_repeats(records: Mapping[str, Record], ranks: Mapping[str, str]) -> Iterator[Finding]:
    """No two replicates of a row have the same ranks, unless all answers are right, or all wrong.

    `ranks`: digests of their values by file name.
    """
    first: dict[tuple[str, str, str], tuple[str, int]] = {}
    for name, record in records.items():
        shares = {value for result in record.results.values() for value in result.metrics.values()}
        if name in ranks and not shares <= {0, 1}:
            other, seed = first.setdefault((record.setup_id, record.row_id, ranks[name]), (name, record.seed))
            if seed != record.seed:
                yield Finding(name, f"its ranks are those of seed {seed}, {other}, too", "measure the run again")


def _odd_ones(kind: str, values: Mapping[str, str | None]) -> Iterator[Finding]:
    """Files whose value is not that of most; runs that do not have one, such as clusters, are not compared."""
    there = {name: value for name, value in values.items() if value is not None}
    counts = sorted(((list(there.values()).count(value), value) for value in {*there.values()}), reverse=True)
    if len(counts) < 2:
        return
    usual = counts[0][1] if counts[0][0] > counts[1][0] else None
    for name, value in there.items():
        if value != usual:
            others = "others of its setup and seed have" if usual is None else "most of its setup and seed have"
            yield Finding(name, f"{kind} is {value}; {others} {usual or 'another'}")
