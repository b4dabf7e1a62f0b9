"""Runs are compared by what both read: clusters, experts and paraphrases that one does not read do not count."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from support.made_records import MakeRecord

from benchsuite.analysis.boards import boards
from benchsuite.analysis.pairing import pairable
from benchsuite.analysis.run_diff import RunDiff
from benchsuite.records.schema import Record
from benchsuite.setup import Clusters, Expert, Experts

Made = Callable[..., Record]
FEW, MANY = {"clusters": Clusters(k=2)}, {"clusters": Clusters(k=3)}
TEXT = {"experts": Experts(text=Expert(embedding="tfidf-svd"))}
BOTH = {"experts": Experts(text=Expert(embedding="tfidf-svd"), image=Expert(embedding="pixel-svd"))}


@pytest.fixture
def made(make_record: MakeRecord) -> Made:
    """`made(method, setup parts, digests)`: a record under the plain setup with these parts."""

    def make(name: str, parts: Mapping[str, Any], seed: int = 0, **digests: str) -> Record:
        plain = make_record(seed)[0]
        return make_record(
            seed,
            setup=plain.setup.model_copy(update=dict(parts)),
            method=plain.method.model_copy(update={"name": name, "title": name}),
            digests={**plain.digests, **digests},
        )[0]

    return make


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        (({}, {}), (FEW, {}), ""),
        (({}, {}), (FEW, {"clusters": "a"}), ""),
        ((MANY, {}), (FEW, {"clusters": "a"}), ""),
        ((MANY, {"clusters": "b"}), (FEW, {"clusters": "a"}), "the setups differ in clusters.k 3 against 2"),
        (({}, {}), (TEXT, {"text_expert": "a"}), ""),
        ((BOTH, {"text_expert": "a", "image_expert": "b"}), (TEXT, {"text_expert": "a"}), ""),
        ((BOTH, {"text_expert": "a"}), (TEXT, {"text_expert": "b"}), "the text expert differ (a against b)"),
        (({}, {"paraphrases": "a"}), ({}, {}), ""),
        (({}, {"paraphrases": "a"}), (FEW, {"paraphrases": "b"}), "the paraphrases differ (a against b)"),
    ],
)
def test_a_pair_is_compared_by_what_both_read(made: Made, left: Any, right: Any, why: str) -> None:
    one, other = made("one", left[0], **left[1]), made("other", right[0], **right[1])
    assert pairable(one, other) == why
    assert bool(pairable(other, one)) == bool(why)
    assert RunDiff(one, other).not_paired == (why.partition(" 3 ")[0].replace("the setups", "their setups") or "")


def test_setups_that_differ_in_what_some_read_share_a_board(made: Made) -> None:
    rows = [
        ("plain", {}, {}),
        ("reads", FEW, {"clusters": "a"}),
        ("reads", MANY, {"clusters": "b"}),
        ("views", {}, {"paraphrases": "p"}),
        ("views", {}, {"paraphrases": "q"}),
    ]
    (board,) = boards([made(name, parts, seed, **digests) for name, parts, digests in rows for seed in range(3)])
    labels = ["plain", "reads (clusters=a)", "reads (clusters=b)", "views (paraphrases=p)", "views (paraphrases=q)"]
    assert sorted(row.label for row in board.rows) == labels
    assert [len(row.records) for row in board.rows] == [3] * 5
    assert sorted(board.unpairable) == [(labels[1], labels[2]), (labels[3], labels[4])]


def test_other_parts_of_setups_still_make_boards_of_their_own(made: Made) -> None:
    factor = {"temperature_factor": 2.0}
    made_boards = boards([made(name, parts) for name in ("one", "two") for parts in ({}, factor, {**factor, **FEW})])
    assert sorted(board.runs for board in made_boards) == [2, 2]
