"""Records of one setup and seed drew the same data, batches, initial weights and words; other digests are found."""

from pathlib import Path

import numpy as np
import pytest
from support.made_records import MakeRecord

from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.records.schema import Record, Result
from benchsuite.records.store import Store
from benchsuite.verify.audit import audit_folder, check_counts, check_digests, check_repeats

DIGESTS = {"initial_weights": "w", "batches": "b", "data": "d" * 64}


def records(make: MakeRecord, *changed: dict[str, str], seed: int = 0) -> dict[str, Record]:
    """Three methods at one seed, and one for each of these digests."""
    found = {}
    for number, changes in enumerate([{}, {}, {}, *changed]):
        method = make()[0].method.model_copy(update={"name": f"method{number}"})
        found[f"{number}.json"] = make(seed, method=method, digests={**DIGESTS, **changes})[0]
    return found


def test_equal_digests_and_those_that_few_methods_have_are_right(make_record: MakeRecord) -> None:
    assert not list(check_digests(records(make_record, {"clusters": "c"}, {"words": "v"})))


@pytest.mark.parametrize("kind", [*DIGESTS])
def test_the_one_that_differs_is_named(make_record: MakeRecord, kind: str) -> None:
    (found,) = check_digests(records(make_record, {kind: "other"}))
    assert found.file == "3.json"
    assert f"{kind} is other; most of its setup and seed have {DIGESTS[kind]}" in found.message


def test_without_a_majority_all_are_named(make_record: MakeRecord) -> None:
    two = dict([*records(make_record, {"batches": "other"}).items()][2:])
    assert [found.file for found in check_digests(two)] == ["2.json", "3.json"]


def test_other_data_of_one_setup_have_other_digests(make_record: MakeRecord) -> None:
    """Where a replicate has data of its own, a folder may hold runs on two sets of data."""
    found = {}
    methods = [make_record()[0].method.model_copy(update={"name": name}) for name in "ab"]
    for digest in ("d" * 64, "e" * 64):
        setup = make_record()[0].setup
        data = setup.data.model_copy(update={"redrawn": "seed", "digest": digest})
        digests = {**DIGESTS, "data": digest, "batches": digest}
        own = {"setup": setup.model_copy(update={"data": data}), "digests": digests}
        found |= {f"{one.name}-{digest[0]}.json": make_record(0, method=one, **own)[0] for one in methods}
    assert len({record.setup_id for record in found.values()}) == 1
    assert not list(check_digests(found))


def test_other_seeds_have_other_digests(make_record: MakeRecord) -> None:
    both = records(make_record)
    both |= {f"s1-{name}": record for name, record in records(make_record, seed=1).items()}
    changed = {"initial_weights": "of seed 1"}
    assert not list(check_digests(both))
    (found,) = check_digests({**both, "odd.json": records(make_record, changed, seed=1)["3.json"]})
    assert found.file == "odd.json"


def test_other_numbers_of_items_are_named(make_record: MakeRecord) -> None:
    found = records(make_record)
    result = Result(task="retrieval", version=1, metrics={}, counts={"i2t": 3, "t2i": 4})
    found["few.json"] = make_record(5, results={"retrieval": result})[0]
    (problem,) = check_counts(found)
    assert problem.file == "few.json"
    assert "i2t 3, t2i 4" in problem.message
    own = {**found["few.json"].digests, "data": "of replicate 5"}
    found["few.json"] = make_record(5, results={"retrieval": result}, digests=own)[0]
    assert list(check_counts(found)) == [], "a replicate with data of its own may have other counts"


@pytest.mark.parametrize(("share", "found"), [(0.5, ["1.json"]), (1.0, []), (0.0, [])])
def test_two_replicates_have_the_same_ranks_only_where_all_answers_are_alike(
    make_record: MakeRecord, share: float, found: list[str]
) -> None:
    result = Result(task="retrieval", version=1, metrics={"i2t_r1": share}, counts={"i2t": 4})
    both = {f"{seed}.json": make_record(seed, results={"retrieval": result})[0] for seed in (0, 1)}
    assert [problem.file for problem in check_repeats(both, dict.fromkeys(both, "same"))] == found


@pytest.mark.parametrize(("largest", "problems"), [(2, 0), (3, 1)])
def test_replicates_that_are_right_or_wrong_alone_may_agree(
    tmp_path: Path, make_sound: MakeRecord, largest: int, problems: int
) -> None:
    ranks = {way: np.array([1, 2, 1, largest]) for way in ("i2t", "t2i")}
    for seed in (0, 1):
        Store(tmp_path).write(*make_sound(seed, ranks))
    assert len(audit_folder(tmp_path, RULES).problems) == problems


def test_verify_finds_them_in_a_folder(tmp_path: Path, make_sound: MakeRecord) -> None:
    store = Store(tmp_path)
    method = make_sound()[0].method
    for number, name in enumerate(("infonce", "one", "two")):
        digests = {**DIGESTS, "batches": "other" if number == 2 else "b"}
        store.write(*make_sound(0, method=method.model_copy(update={"name": name}), digests=digests))
    assert [problem.message.split(";")[0] for problem in audit_folder(tmp_path, RULES).problems] == ["batches is other"]
