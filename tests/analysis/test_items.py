from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from support import claimed

from benchsuite.analysis.building import build_table
from benchsuite.analysis.items import Items, OverItems, item_floor, over_items
from benchsuite.analysis.judged_claims import NO_ITEMS, judged_claims
from benchsuite.analysis.table_view import TableView
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.ranks import read_ranks
from benchsuite.records.requests import RequestedRow, RequestedRuns, TableRequest
from benchsuite.records.schema import Record
from benchsuite.records.store import Store
from benchsuite.setup import Data

MakeRecord = Callable[..., tuple[Record, bytes]]
Floats = NDArray[np.float64]
MEASURE = "retrieval.t2i_r1"


def hits(seeds: int, items: int, share: float, seed: int = 0) -> Floats:
    """Differences of two rows that are right on that share of the items."""
    rng = np.random.default_rng(seed)
    ours, theirs = (rng.random((seeds, items)) < share for _ in range(2))
    return np.subtract(ours, theirs, dtype=np.float64)


def test_seeds_are_averaged_and_then_it_is_the_t_test_over_items() -> None:
    """What all seeds have in common on an item stays; what each has alone becomes small with many seeds."""
    same = np.tile(hits(1, 1000, 0.4), (16, 1))
    found, expected = over_items(same), stats.ttest_1samp(same[0], 0).confidence_interval()
    assert (found.difference, found.items) == (pytest.approx(same[0].mean()), 1000)
    assert [found.low, found.high] == pytest.approx([expected.low, expected.high])
    own = over_items(hits(16, 1000, 0.4))
    assert own.low is not None
    assert own.high is not None
    assert (own.high - own.low) / (expected.high - expected.low) == pytest.approx(1 / 4, rel=0.15)


def test_the_interval_holds_the_true_difference_as_often_as_it_says() -> None:
    """95 ± 2 %: four standard errors of 2,000 tests of 400 pictures; rows are right on half and on six tenths."""
    rng, held = np.random.default_rng(3), []
    for _ in range(2000):
        hard = rng.normal(size=400)
        ours, theirs = (rng.normal(size=(3, 400)) + hard < limit for limit in (0.3583, 0.0))
        found = over_items(np.subtract(ours, theirs, dtype=np.float64))
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= 0.1 <= found.high)
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)


def test_the_floor_is_the_standard_error_of_one_seeds_difference() -> None:
    """Where seeds do nothing but answer items at random, it is the standard deviation over seeds."""
    differences = hits(400, 500, 0.3)
    assert item_floor(differences) == pytest.approx(differences.mean(axis=1).std(ddof=1), rel=0.1)
    assert item_floor(differences) == pytest.approx((2 * 0.3 * 0.7 / 500) ** 0.5, rel=0.02)
    assert item_floor(differences[:, :1]) is None


@pytest.fixture
def folder(tmp_path: Path, make_sound: MakeRecord) -> Path:
    (tmp_path / "results").mkdir()
    return tmp_path / "results"


def stored(folder: Path, make: MakeRecord, title: str, seeds: int, items: int = 8, **changes: Any) -> dict[int, Record]:
    """Runs of one row, on so many pictures of two captions, in a results folder."""
    records = {}
    for seed in range(seeds):
        rng = np.random.default_rng([seed, len(title)])
        ranks = {"i2t": rng.integers(1, 4, items), "t2i": rng.integers(1, 4, 2 * items)}
        method = make()[0].method.model_copy(update={"hyperparameters": {"row": title}})
        record, content = make(seed, ranks=ranks, method=method, **changes)
        Store(folder).write(record, content)
        records[seed] = record
    return records


def test_each_runs_metric_is_the_mean_of_its_outcomes(folder: Path, make_sound: MakeRecord) -> None:
    items = Items(lambda record: read_ranks(folder, record), RULES)
    for record in stored(folder, make_sound, "ours", 2).values():
        for metric in ("i2t_r1", "t2i_r1", "r_mean"):
            values = items.outcomes(record, f"retrieval.{metric}")
            assert np.mean(values) == pytest.approx(record.metric(f"retrieval.{metric}"))


def test_a_difference_over_items_is_that_of_the_runs_and_each_file_is_read_once(
    folder: Path, make_sound: MakeRecord
) -> None:
    ours, theirs = (stored(folder, make_sound, title, 3) for title in ("ours", "older"))
    reads: list[str] = []

    def read(record: Record) -> Any:
        reads.append(record.run_id)
        return read_ranks(folder, record)

    items = Items(read, RULES)
    pairs = [(ours[seed], theirs[seed]) for seed in ours]
    found = items.compare(pairs, MEASURE)
    means = [np.mean([record.metric(MEASURE) for record in row.values()]) for row in (ours, theirs)]
    assert found.difference == pytest.approx(means[0] - means[1])
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.difference < found.high
    differences = items.differences(pairs, MEASURE)
    assert not isinstance(differences, str)
    assert found.floor == pytest.approx(np.sqrt(np.mean(differences.var(1, ddof=1)) / differences.shape[1]))
    items.compare(pairs, "retrieval.i2t_r5")
    assert sorted(reads) == sorted(record.run_id for row in (ours, theirs) for record in row.values())


def test_without_outcomes_of_items_there_is_a_reason_and_no_number(folder: Path, make_sound: MakeRecord) -> None:
    ours, theirs = (stored(folder, make_sound, title, 1) for title in ("ours", "older"))
    fewer = stored(folder, make_sound, "fewer", 1, items=6)
    data = ours[0].setup.model_copy(update={"data": Data(name="scenes", version=1, digest="e" * 64)})
    elsewhere = stored(folder, make_sound, "elsewhere", 1, setup=data)
    items = Items(lambda record: read_ranks(folder, record), RULES)

    def why(left: dict[int, Record], right: dict[int, Record], measure: str = MEASURE, of: Items = items) -> str:
        found = of.compare([(left[0], right[0])], measure)
        assert found == OverItems(reason=found.reason)
        return found.reason

    reasons = [why(ours, theirs, "retrieval.t2i_median_rank"), why(ours, fewer), why(ours, elsewhere)]
    assert len({*reasons}) == 3
    assert all(reasons)
    assert why(ours, theirs, of=Items(lambda record: {}, RULES)).startswith(f"the ranks of run {ours[0].run_id}")
    assert why(ours, theirs, of=Items(lambda record: {}, {}))
    sums = Items(lambda record: {}, {"retrieval": RULES["geometry"]})
    assert why(ours, theirs, of=sums) == RULES["geometry"].why
    assert items.compare([], MEASURE).reason == "no seed is shared"


def claimed_view(folder: Path, make: MakeRecord) -> TableView:
    """Two rows that differ by as much on every seed, each time on other pictures."""
    records, rows = {}, []
    for one, wrong in ((claimed.TWO[0], 4), (claimed.TWO[1], 1)):
        runs = {}
        for seed in range(3):
            ranks = np.roll(1 + (np.arange(8) < wrong), 3 * seed)
            method = make()[0].method.model_copy(update={"hyperparameters": {"row": one["label"]}})
            record, content = make(seed, ranks={"i2t": ranks, "t2i": ranks}, method=method)
            Store(folder).write(record, content)
            runs[seed], records[record.run_id] = record.run_id, record
        parts = {"": RequestedRuns(setup_id="", method_id="", runs=runs)}
        rows.append(RequestedRow(label=one["label"], backbone="B", method="infonce", parts=parts))
    request = TableRequest(
        table="p/t", scale="small", recipe="r", track="s", description="", tuned={}, backbones={},
        temperature_factor=1.0, measures={"a": "retrieval.i2t_r1"}, rows=rows,
    )  # fmt: skip
    return build_table(claimed.table(*claimed.TWO), request, records, {})


def test_a_verdict_rests_on_no_less_spread_than_its_test_items_leave(folder: Path, make_sound: MakeRecord) -> None:
    view = claimed_view(folder, make_sound)
    (alone,) = judged_claims(view)
    assert alone.verdict.paired
    assert (alone.verdict.paired.sd, alone.over_items) == (0, NO_ITEMS)
    (judged,) = judged_claims(replace(view, items=Items(lambda record: read_ranks(folder, record), RULES)))
    assert judged.verdict.paired
    assert judged.over_items.difference == pytest.approx(judged.verdict.paired.difference)
    assert judged.verdict.paired.sd == judged.over_items.floor == pytest.approx((15 / 56 / 8) ** 0.5)


def test_outcomes_are_computed_once_for_all_metrics_of_a_run(tmp_path: Path, make_sound: MakeRecord) -> None:
    record, ranks = make_sound()
    Store(tmp_path).write(record, ranks)
    rule, computed = RULES["retrieval"], []

    def counted(arrays: Any) -> Any:
        computed.append(arrays)
        return rule.items(arrays)

    items = Items(lambda record: read_ranks(tmp_path, record), {"retrieval": replace(rule, items=counted)})
    alone = Items(lambda record: read_ranks(tmp_path, record), RULES)
    for k in (1, 5, 10):
        measure = f"retrieval.t2i_r{k}"
        np.testing.assert_array_equal(items.outcomes(record, measure), alone.outcomes(record, measure))
    assert len(computed) == 1
