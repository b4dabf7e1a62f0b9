from typing import Any

import pytest
from pydantic import ValidationError
from support.made_records import MakeRecord

from benchsuite.analysis.pairing import pairable, setup_fields, unpairable
from benchsuite.records.schema import Record
from benchsuite.setup import Setup

DIGESTS = {"initial_weights": "w", "batches": "b", "words": "v", "data": "d" * 64}


def run(make: MakeRecord, seed: int = 0, digests: dict[str, str] | None = None, **setup: Any) -> Record:
    """A record whose setup differs from the usual one in these parts: `optimizer={"lr": 0.5}`."""
    plain = make(seed)[0].setup.model_dump()
    for part, fields in setup.items():
        plain[part] = {**plain[part], **fields} if isinstance(fields, dict) and plain[part] else fields
    return make(seed, setup=Setup.model_validate(plain), digests=DIGESTS if digests is None else digests)[0]


def test_methods_may_differ_and_read_what_they_like(make_record: MakeRecord) -> None:
    other = run(make_record, digests={**DIGESTS, "clusters": "c"})
    assert pairable(run(make_record), other) == ""


def test_seeds_must_be_equal(make_record: MakeRecord) -> None:
    assert pairable(run(make_record, 0), run(make_record, 1)) == "seed 0 against seed 1"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("initial_weights", "the initial weights differ"),
        ("batches", "the batches differ"),
        ("words", "the words differ"),
    ],
)
def test_what_a_seed_fixes_must_be_equal(make_record: MakeRecord, name: str, says: str) -> None:
    other = run(make_record, digests={**DIGESTS, name: "another"})
    assert pairable(run(make_record), other).startswith(says)
    assert "(" + DIGESTS[name] + " against another)" in pairable(run(make_record), other)


def test_what_is_not_recorded_is_not_taken_for_equal(make_record: MakeRecord) -> None:
    silent = run(make_record, digests={key: value for key, value in DIGESTS.items() if key != "words"})
    says = "a record does not say its words"
    assert pairable(run(make_record), silent) == pairable(silent, run(make_record)) == says


@pytest.mark.parametrize("name", ["initial_weights", "batches", "data"])
def test_no_record_is_silent_of_what_every_run_reads(make_record: MakeRecord, name: str) -> None:
    for digests in ({key: value for key, value in DIGESTS.items() if key != name}, {**DIGESTS, name: ""}):
        with pytest.raises(ValidationError, match=f"no digest of its {name}"):
            run(make_record, digests=digests)


def test_pictures_alone_have_no_words(make_record: MakeRecord) -> None:
    digests = {key: value for key, value in DIGESTS.items() if key != "words"}
    alone = run(make_record, digests=digests, text=None)
    assert pairable(alone, alone) == ""


def test_setups_must_be_equal(make_record: MakeRecord) -> None:
    one, other = run(make_record), run(make_record, optimizer={"lr": 0.5}, training={"steps": 3})
    said = pairable(one, other)
    assert said == "the setups differ in optimizer.lr 0.001 against 0.5; training.steps 2 against 3"
    assert list(setup_fields(one, other)) == ["optimizer.lr", "training.steps"]


@pytest.mark.parametrize("allowed", [["optimizer"], ["optimizer.lr"], ["text", "optimizer.lr"]])
def test_setups_may_differ_where_it_is_allowed(make_record: MakeRecord, allowed: list[str]) -> None:
    assert pairable(run(make_record), run(make_record, optimizer={"lr": 0.5}), allowed) == ""


@pytest.mark.parametrize("allowed", [["optim"], ["optimizer.lr.more"], ["optimizer.weight_decay"], ["training"]])
def test_a_field_is_allowed_by_its_whole_name(make_record: MakeRecord, allowed: list[str]) -> None:
    assert pairable(run(make_record), run(make_record, optimizer={"lr": 0.5}), allowed).startswith("the setups differ")


def test_an_allowed_difference_excuses_only_what_follows_from_it(make_record: MakeRecord) -> None:
    """Other towers have other weights, but still see the same batches."""
    tower = {"timm": "test_resnet"}
    weights = run(make_record, digests={**DIGESTS, "initial_weights": "x"}, image=tower)
    both = run(make_record, digests={**DIGESTS, "initial_weights": "x", "batches": "y"}, image=tower)
    rate = run(make_record, digests={**DIGESTS, "initial_weights": "x"}, optimizer={"lr": 0.5})
    assert pairable(run(make_record), weights, ["image"]) == ""
    assert pairable(run(make_record), both, ["image"]) == "the batches differ (b against y)"
    assert pairable(run(make_record), rate, ["optimizer"]) == "the initial weights differ (w against x)"


@pytest.mark.parametrize(("part", "fields"), [("augmentation", {"flip": True}), ("training", {"batch": 8})])
def test_batches_follow_from_augmentation_and_batch(make_record: MakeRecord, part: str, fields: dict[str, Any]) -> None:
    other = run(make_record, digests={**DIGESTS, "batches": "y"}, **{part: fields})
    assert pairable(run(make_record), other, [part]) == ""


def test_rows_are_kept_apart_only_at_the_seeds_that_meant_something_else(make_record: MakeRecord) -> None:
    other = {**DIGESTS, "batches": "y"}
    rows = {
        "c": {0: run(make_record, 0), 1: run(make_record, 1)},
        "b": {0: run(make_record, 0, other), 1: run(make_record, 1)},
        "a": {0: run(make_record, 0, other), 2: run(make_record, 2)},
    }
    found = unpairable(rows)
    assert {duel: list(seeds) for duel, seeds in found.items()} == {("a", "c"): [0], ("b", "c"): [0]}
    assert "the batches differ" in found["a", "c"][0]


def test_records_filed_under_another_seed_are_kept_unpairable(make_record: MakeRecord) -> None:
    assert list(unpairable({"a": {0: run(make_record, 0)}, "b": {0: run(make_record, 1)}})) == [("a", "b")]
