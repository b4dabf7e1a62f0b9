"""What speaks for a run: nobody, a second training, a workflow; and what speaks against it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.attested import TRAINED_THERE, attest, listed
from support.edited import edit
from support.signing import COMMIT, REPOSITORY, RUN, Sigstore

from benchsuite.analysis.vouchers import Kind, Vouchers, vouchers, vouchers_of
from benchsuite.records.provenance import trust_in
from benchsuite.records.reruns import Rerun, write_rerun
from benchsuite.records.schema import Record, Result
from benchsuite.records.sigstore_bundle import Signature
from benchsuite.records.store import Store

Make = Callable[..., tuple[Record, bytes]]
HERE = {
    "commit": "c" * 40, "dirty": False, "benchsuite": "1", "python": "3.13", "packages": {"torch": "2"},
    "processor": "A", "device": "cpu", "threads": 1, "processes": 1, "platform": "Linux",
}  # fmt: skip
OTHERS = (0.30, 0.31, 0.33, 0.32)
"""Of other seeds of the row."""


@pytest.fixture
def record(make_record: Make) -> Callable[..., Record]:
    def make(value: float = 0.32, seed: int = 0, digests: dict[str, str] | None = None, **changes: Any) -> Record:
        result = Result(task="retrieval", version=1, metrics={"t2i_r1": value}, counts={"t2i": 100})
        made, _ = make_record(seed, results={"retrieval": result}, environment={**HERE, **changes})
        return made.model_copy(update={"digests": {**made.digests, **(digests or {})}})

    return make


@pytest.fixture
def judged(record: Callable[..., Record]) -> Callable[..., tuple[Kind, Vouchers]]:
    """The word for a record of .32 after a second training that gave this, and all that is known."""

    def judge(
        value: float, others: Sequence[float] = OTHERS, stored: Record | None = None, **changes: Any
    ) -> tuple[Kind, Vouchers]:
        mine = stored or record()
        row = [record(other, seed) for seed, other in enumerate(others, 1)]
        rerun = Rerun.of(mine, record(value, **changes))
        found = vouchers({each.run_id: each for each in (mine, *row)}, {"reruns/x.json": rerun})
        return found.of(mine), found

    return judge


def test_nobody_speaks_for_a_record_alone(record: Callable[..., Record]) -> None:
    assert vouchers({record().run_id: record()}, {}).of(record()) is Kind.consistent


def test_the_same_numbers_again_verify(judged: Callable[..., tuple[Kind, Vouchers]]) -> None:
    kind, found = judged(0.32)
    assert (kind, found.problems) == (Kind.verified, [])
    assert "equal in every digit" in str(found.notes[0])


def test_other_digits_on_the_same_machine_contradict(judged: Callable[..., tuple[Kind, Vouchers]]) -> None:
    kind, found = judged(0.320001)
    assert kind is Kind.contradicted
    assert str(found.problems[0]).startswith("reruns/x.json: run again: 1 of its numbers differ")


@pytest.mark.parametrize(("value", "kind"), [(0.33, Kind.verified), (0.75, Kind.contradicted)])
def test_another_processor_may_move_numbers_as_far_as_seeds(
    judged: Callable[..., tuple[Kind, Vouchers]], value: float, kind: Kind
) -> None:
    assert judged(value, processor="B")[0] is kind


def test_few_seeds_cannot_judge_another_processor(judged: Callable[..., tuple[Kind, Vouchers]]) -> None:
    assert judged(0.33, others=(0.3, 0.31), processor="B")[0] is Kind.consistent
    assert judged(0.32, others=(), processor="B")[0] is Kind.verified, "equal digits need no judge"


def test_another_digest_contradicts(judged: Callable[..., tuple[Kind, Vouchers]]) -> None:
    assert judged(0.32, digests={"batches": "other"})[0] is Kind.contradicted


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"commit": "d" * 40}, "another commit"),
        ({"packages": {"torch": "3"}}, "another packages"),
        ({"python": "3.11"}, "another python"),
        ({"benchsuite": "2"}, "another benchsuite"),
        ({"dirty": True}, "the code of the second training is not that of a commit"),
    ],
)
@pytest.mark.parametrize("value", [0.32, 0.9])
def test_other_code_neither_verifies_nor_contradicts(
    judged: Callable[..., tuple[Kind, Vouchers]], changes: dict[str, Any], says: str, value: float
) -> None:
    kind, found = judged(value, **changes)
    assert (kind, found.problems) == (Kind.consistent, [])
    assert says in str(found.notes[0])


@pytest.mark.parametrize("code", [{"commit": None, "dirty": None}, {"dirty": True}, {"dirty": None}])
def test_unknown_code_verifies_nothing(
    judged: Callable[..., tuple[Kind, Vouchers]], record: Callable[..., Record], code: dict[str, Any]
) -> None:
    kind, found = judged(0.32, stored=record(**code), **code)
    assert kind is Kind.consistent
    assert "the code of the record is not that of a commit" in str(found.notes[0])


def test_a_training_of_another_record_of_the_run_says_nothing(record: Callable[..., Record]) -> None:
    """The record was replaced after it was verified."""
    first, second = record(), record(0.99)
    for gone, replaced in ((first, second), (second, first)):
        rerun = Rerun.of(gone, gone)
        found = vouchers({replaced.run_id: replaced}, {"x": rerun})
        assert found.of(replaced) is Kind.consistent
        assert "that is not here" in str(found.notes[0])
    assert "that is not here" in str(vouchers({}, {"x": rerun}).notes[0])


def test_a_signature_is_more_than_a_second_training_and_a_contradiction_outweighs_it(
    record: Callable[..., Record],
) -> None:
    mine, signed = record(), {record().run_id: Signature(RUN, COMMIT)}
    for value, kind in ((0.32, Kind.attested), (0.9, Kind.contradicted)):
        rerun = Rerun.of(mine, record(value))
        assert vouchers({mine.run_id: mine}, {"x": rerun}, signed).of(mine) is kind


def test_one_contradiction_outweighs_any_number_of_good_ones(record: Callable[..., Record]) -> None:
    mine = record()
    bad, good = Rerun.of(mine, record(0.9)), Rerun.of(mine, record())
    for order in ({"a": bad, "b": good}, {"a": good, "b": bad}):
        assert vouchers({mine.run_id: mine}, order).of(mine) is Kind.contradicted


def test_a_row_has_the_word_of_its_weakest_run_and_counts_the_others(record: Callable[..., Record]) -> None:
    runs = [record(seed=seed) for seed in range(4)]
    signatures = {run.run_id: Signature(RUN, COMMIT) for run in runs}
    found = Vouchers(dict.fromkeys(signatures, Kind.attested), signatures)
    row = found.of_row(runs)
    assert (str(row), row and row.workflow_runs) == ("attested", [RUN])
    kinds = {runs[0].run_id: Kind.attested, runs[1].run_id: Kind.verified, runs[2].run_id: Kind.verified}
    assert str(Vouchers(kinds).of_row(runs)) == "consistent (1 of 4 attested, 2 of 4 verified)"
    assert str(Vouchers(kinds).of_row(runs[:3])) == "verified (1 of 3 attested)"
    kinds[runs[3].run_id] = Kind.contradicted
    assert str(Vouchers(kinds).of_row(runs[2:])) == "contradicted (1 of 2 verified)"
    assert Vouchers(kinds).of_row([]) is None


def test_a_folder_is_read_with_whom_one_trusts(tmp_path: Path, make_sound: Make) -> None:
    sigstore, results, root = Sigstore(), tmp_path / "results", tmp_path / "root.json"
    root.write_text(sigstore.root())
    for seed in range(2):
        Store(results).write(*make_sound(seed, environment=TRAINED_THERE))
    listed(results)
    attest(results, sigstore)
    records = Store(results).read().records
    rerun = write_rerun(results, Rerun.of(*[next(iter(records.values()))] * 2))
    alone, errors = vouchers_of(results, records)
    assert (sorted(map(alone.of, records.values())), errors) == ([Kind.consistent, Kind.verified], [])
    trusted, errors = vouchers_of(results, records, trust_in(REPOSITORY, root))
    assert ({*map(trusted.of, records.values())}, errors) == ({Kind.attested}, [])
    _, errors = vouchers_of(results, records, trust_in("a/b", root))
    assert [error.lines[0].split(": ")[1] for error in errors] == ["its signature is not valid"]
    edit(rerun, lambda content: content.update(created="now"))
    _, (error,) = vouchers_of(results, records)
    assert rerun.name in str(error)
    assert json.loads(rerun.read_text())["created"] == "now"
