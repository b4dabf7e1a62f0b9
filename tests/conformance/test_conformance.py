"""The kit over every registered method; and over methods that each break one rule, which it must name."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchsuite.conformance import CHECKS, Report, check_methods
from benchsuite.conformance.cost import measure
from benchsuite.conformance.subject import Subject
from benchsuite.registry import load_plugin, methods

NAMES = sorted(methods)
QUICK = {"byol", "infonce", "mm-ts-margin", "sogclr", "temo"}
"""One tower, pairs, clusters, state of samples, views."""
BROKEN_FILE = Path(__file__).parent / "broken_methods.py"
BROKEN = {
    "overflows": ("finite", r"(random|collapsed|duplicated) batch, pair, torch.float32.*: total is inf"),
    "infinite-slope": ("finite", r"collapsed batch.*: the gradient of image is not finite"),
    "bad-gauge": ("finite", r"step 3 of 3: share is nan"),
    "raw-error": ("finite", r"its defaults, not-a-number batch, pair: _LinAlgError"),
    "hides-nan": ("finite", r"its defaults, not-a-number batch, pair: the total is -?\d"),
    "only-in-miniature": ("finite", r"its defaults, collapsed batch, pair: the total is (inf|nan)"),
    "single-only": ("finite", r"the total is torch.float32, the embeddings are torch.float64"),
    "coarse": ("precision", r"in float64, .* in float32|differ by .*% between precisions"),
    "coarse-gradient": ("precision", r"gradients of image differ by 4.8% between precisions"),
    "by-position": ("permutation", r"the state mean depends on the order of the pairs"),
    "weighs-positions": ("permutation", r"the loss is .*, with the pairs reordered"),
    "local-rows": ("processes", r"pair: the loss at step 0 on two processes differs by"),
    "counts-processes": ("processes", r"pair: the gradient of encoder.* on two processes .* largest gradient's size"),
    "fails-on-one": ("processes", r"on two processes, process 2: ZeroDivisionError: only here"),
    "listed-state": ("state", r"checkpoint loaded before step 3, the loss at step 3 .*not in the checkpoint: history"),
    "unsaved-buffer": ("state", r"checkpoint loaded before step 3"),
    "restless": ("state", r"in eval mode, loss changes the state visits"),
    "never-reads": ("needs", r"declares image_view in needs and never reads it"),
    "reads-if-there": ("needs", r"reads text_view if it is there, and does not declare it"),
    "unused-head": ("needs", r"declares spare in heads and never uses it"),
    "loose-float": ("hyperparameters", r"impossible weight = nan is accepted"),
    "swallows": ("hyperparameters", r"unknown tau_x = 1.0 is accepted"),
    "refuses-vaguely": ("hyperparameters", r"weight = nan is refused without naming it: .not possible"),
    "shows-nothing": ("acts", r'acts, pair: gauge "tau" does not exist'),
    "nearly-infonce": ("contains", r"contains infonce, pair, step 3 of 4: the loss is"),
    "pulls-more": ("contains", r"contains infonce, pair, step 0 of 4: the gradients of text differ"),
    "crashes": ("hyperparameters", r"weight = nan ends in OverflowError"),
}
MANY = {
    "rows": ("finite", r"return a scalar tensor"),
    "detached": ("finite", r"no gradient reaches the embeddings"),
    "reads-undeclared": ("needs", r"pair: reads text_view, which it does not declare in needs"),
    "one-tower-only": ("needs", r"text: reads cluster, which it does not declare in needs"),
    "strange-need": ("needs", r"needs depth: no batch carries that"),
    "taught-undeclared": ("needs", r"pair: reads text_teacher, which it does not declare in needs"),
    "leaves-the-average": ("needs", r"teacher_momentum is 1.25 at step 1; it must be a number in \[0, 1\]"),
    "unmakeable": ("state", r'refused: unmakeable: "sizes" must be given'),
    "bad-excuse": ("finite", r'check "permutations" does not exist.*Did you mean "permutation"'),
}


@pytest.fixture(scope="module")
def few() -> Report:
    return check_methods(sorted(QUICK))


@pytest.fixture(scope="module")
def others() -> Report:
    return check_methods(sorted({*NAMES} - QUICK))


@pytest.fixture(scope="module")
def broken() -> Iterator[Report]:
    """And sound ones: two processes are started once."""
    before = set(methods)
    load_plugin(BROKEN_FILE)
    yield check_methods(
        [
            *BROKEN,
            *MANY,
            "whole",
            "excused",
            "reads-late",
            "two-towers",
            "centred",
            "decays",
            "taught",
            "extra-column",
        ],
        with_cost=True,
    )
    for name in set(methods) - before:
        del methods._live[name], methods._live_cards[name]
    del sys.modules["benchsuite_plugin_broken_methods"]


@pytest.mark.parametrize("name", sorted(QUICK))
def test_conforms(name: str, few: Report) -> None:
    assert (few[name].failed, few[name].warnings) == ({}, ())
    assert [outcome.check for outcome in few[name].outcomes] == list(CHECKS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*NAMES} - QUICK))
def test_all_others_conform(name: str, others: Report) -> None:
    assert (others[name].failed, others[name].warnings) == ({}, ())


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.slow
def test_a_broken_rule_is_named_and_only_that(name: str, broken: Report) -> None:
    check, reason = BROKEN[name]
    assert set(broken[name].failed) == {check}, broken[name].failed
    assert re.search(reason, broken[name].failed[check]), broken[name].failed[check]


@pytest.mark.parametrize("name", MANY)
@pytest.mark.slow
def test_what_breaks_many_rules_is_named_under_each(name: str, broken: Report) -> None:
    check, reason = MANY[name]
    assert re.search(reason, broken[name].failed[check]), broken[name].failed


def test_every_check_finds_something() -> None:
    assert {check for check, _ in BROKEN.values()} == set(CHECKS)


@pytest.mark.parametrize("name", ["whole", "reads-late", "two-towers", "centred", "taught"])
@pytest.mark.slow
def test_a_sound_plugin_passes_everything(name: str, broken: Report) -> None:
    assert broken[name].failed == {}
    assert broken[name].excused == {}
    assert broken[name].passed


@pytest.mark.slow
def test_an_excuse_is_told_with_its_reason(broken: Report) -> None:
    assert broken["excused"].excused == {"permutation": "counts places"}
    assert broken["excused"].passed


@pytest.mark.slow
def test_a_single_number_that_decays_is_a_warning_that_names_it(broken: Report) -> None:
    (warning,) = broken["decays"].warnings
    assert re.search(r"number scale decays .* weight_decay 0.02", warning)
    assert broken["decays"].passed
    assert not broken["whole"].warnings


@pytest.mark.slow
def test_cost_is_told_of_sound_methods_only(broken: Report) -> None:
    cost = broken["whole"].cost
    assert cost is not None
    assert cost.time_ratio > 0
    assert cost.state_bytes == 0
    assert cost.pair_bytes >= 4
    assert broken["extra-column"].cost.pair_bytes >= 4, "a matrix of pairs that is no square"
    assert broken["by-position"].cost is None


@pytest.mark.slow
def test_the_report_is_plain_data(broken: Report) -> None:
    found = {one["name"]: one for one in json.loads(json.dumps(broken.as_json()))}
    assert found["whole"]["passed"]
    assert found["whole"]["checks"]["state"] == {"status": "passed", "reason": ""}
    assert found["restless"]["checks"]["state"]["status"] == "failed"
    assert not broken.passed


def test_nothing_asked_is_nothing_done() -> None:
    assert check_methods([]).methods == ()


@pytest.mark.parametrize(("name", "held"), [("infonce", 0), ("w-mse", 0), ("arb", 0), ("moco", 0), ("zero-cl", 8)])
def test_what_a_loss_keeps_for_each_pair_is_told(name: str, held: float) -> None:
    cost = measure(Subject(name))
    assert cost is not None
    assert cost.pair_bytes == held
