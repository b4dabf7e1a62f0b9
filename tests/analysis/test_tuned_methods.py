"""Tuning curves against direct simulation, and what is read out of files of trials."""

import math
import sys
from subprocess import run

import numpy as np
import pytest
from support.made_trials import RATE, trials_file, trials_of

from benchsuite.analysis.tuned_methods import TunedMethod, reference_of, subjects, tuning_curve

SCORES = [0.31, 0.42, 0.44, 0.47, 0.5, 0.52, 0.52, 0.55]


def of_one(*arguments: object, **more: object) -> TunedMethod:
    """The only subject of a file."""
    file = trials_file({}, more=trials_of(*arguments, **more))  # type: ignore[arg-type]
    ((found,),) = subjects({"latents-pairs": file}).values()
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 20])
def test_the_curve_is_the_median_of_the_best_of_n_draws(n: int) -> None:
    draws = np.random.default_rng(0).choice(SCORES, (200_001, n)).max(axis=1)
    assert tuning_curve(SCORES, [n], 0, 1).median == pytest.approx(np.median(draws))


def test_bands_hold_the_whole_true_curve_as_often_as_they_say() -> None:
    """Scores uniform on [0, 1]: the best of n is at most q^(1/n) with probability q, at any real n."""
    ns = np.geomspace(0.03, 100, 400)
    truth = 0.5 ** (1 / ns)
    draw = np.random.default_rng(1)
    curves = [tuning_curve(draw.random(16).tolist(), ns.tolist(), 0, 1) for _ in range(600)]
    held = np.mean([np.all((curve.low <= truth) & (truth <= curve.high)) for curve in curves])
    assert 0.92 <= held <= 0.975


def test_the_order_of_trials_changes_nothing() -> None:
    one, other = (tuning_curve(scores, [1, 4, 8], 0, 1) for scores in (SCORES, SCORES[::-1]))
    for line in ("median", "low", "high"):
        assert getattr(one, line).tolist() == getattr(other, line).tolist()


def test_curves_do_not_depend_on_what_was_asked_before() -> None:
    """At so many n that the least change of the band moves one of its steps."""
    code = (
        "from benchsuite.analysis.tuned_methods import tuning_curve; import sys\n"
        "for n in map(int, sys.argv[1:]):\n"
        "    curve = tuning_curve([k / n for k in range(n)], [k / 5000 for k in range(1, 50000)], 0, 1)\n"
        "    print(n, curve.low.sum(), curve.high.sum())"
    )
    said = [
        run([sys.executable, "-c", code, *order], capture_output=True, text=True, check=True).stdout
        for order in (("5", "7"), ("7", "5"))
    ]
    assert sorted(said[0].splitlines()) == sorted(said[1].splitlines())


@pytest.mark.parametrize(("lowest", "highest"), [(0.0, 1.0), (-math.inf, math.inf)])
def test_failed_trials_count_as_the_lowest_score(lowest: float, highest: float) -> None:
    curve = tuning_curve([lowest] * 5 + [0.4, 0.5, 0.6], [1, 2, 8], lowest, highest)
    assert curve.median.tolist() == [lowest, 0.4, 0.6]
    assert curve.high[-1] == highest
    assert np.all(curve.low <= curve.median)


def test_a_subject_counts_chooses_and_sums_its_trials() -> None:
    trials = trials_of("temo", count=4)
    changed = [
        trial.model_copy(update={"score": score, "cost": cost})
        for trial, score, cost in zip(
            trials,
            (0.5, None, 0.6, 0.6),
            ({"cpu_seconds": 2.0}, {}, {"seconds": 9.0}, {"cpu_seconds": 3.5}),
            strict=True,
        )
    ]
    ((found,),) = subjects({"latents-pairs": trials_file({}, more=changed[::-1])}).values()
    assert [trial.number for trial in found.trials] == [0, 1, 2, 3]
    assert (found.failed, found.cpu_seconds, found.complete) == (1, 5.5, False)
    assert found.chosen is not None
    assert found.chosen.number == 2, "of equal ones the first"
    assert found.scores == [0.5, 0.0, 0.6, 0.6]


def test_all_failed_leaves_nothing_to_choose() -> None:
    failed = [trial.model_copy(update={"score": None}) for trial in trials_of("temo", count=3)]
    ((found,),) = subjects({"latents-pairs": trials_file({}, more=failed)}).values()
    assert (found.chosen, found.failed) == (None, 3)


def test_what_was_drawn_temperatures_first_then_the_rate_with_defaults() -> None:
    found = of_one("temo", fixed={"tau_alpha": 0.2})
    names = [one.name for one in found.drawn]
    assert names[:2] == ["tau", "tau_min"]
    assert names[2] == "learning_rate"
    assert "tau_alpha" not in names, "it was given"
    assert "detach_temperature" not in names, "a switch is not drawn"
    defaults = {one.name: one.default for one in found.drawn}
    assert (defaults["tau"], defaults["learning_rate"]) == (0.01, RATE)
    assert found.drawn[0].values[3] == found.trials[3].method.hyperparameters["tau"]


def test_temperatures_default_to_the_paper_s_times_the_factor() -> None:
    found = of_one("infonce")
    setup = found.setup.model_copy(update={"temperature_factor": 5.0})  # type: ignore[union-attr]
    warm = TunedMethod(found.recipe, found.rule, setup, found.trials)
    assert [one.default for one in warm.drawn] == [pytest.approx(0.05), RATE]


def test_a_method_that_is_not_registered_is_shown_without_defaults() -> None:
    found = of_one("mine")
    assert [(one.name, one.default) for one in found.drawn] == [("tau", None), ("learning_rate", RATE)]
    assert found.drawn[0].temperature
    assert not found.current


@pytest.mark.parametrize(("measure", "unit"), [("validation.t2i_r10", "percent"), ("other.t2i_r10", "number")])
def test_a_metric_of_a_task_is_a_fraction(measure: str, unit: str) -> None:
    found = of_one("infonce")
    assert TunedMethod("r", {"measure": measure}, found.setup, found.trials).measure.unit == unit


def test_a_page_has_the_reference_first_and_labels_that_differ() -> None:
    more = [
        *trials_of("ts", count=3, fixed={"periods": 2.0}),
        *trials_of("ts", count=2, version=2),
        *trials_of("ts", count=2, backbone="ViT-B/16"),
    ]
    pages = subjects({"latents-pairs": trials_file({"ts": 0.5, "infonce": 0.5}, more=more)})
    assert list(pages) == [("latents-pairs", "RN50"), ("latents-pairs", "ViT-B/16")]
    found = pages["latents-pairs", "RN50"]
    labels = [one.label for one in found]
    assert labels[0] == "InfoNCE"
    assert "TS (periods=2.0)" in labels
    assert len(set(labels)) == 4
    assert {reference_of(one, found) for one in found} == {found[0]}
    assert reference_of(pages["latents-pairs", "ViT-B/16"][0], found) is None, "tuned on another backbone"


def test_a_run_names_its_trials_by_their_digest() -> None:
    assert of_one("ts").digest != of_one("ts", count=15).digest
