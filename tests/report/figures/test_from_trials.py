"""What the panels of tuning hold."""

import math

import pytest
from support.made_trials import trials_file, trials_of

from benchsuite.analysis.tuned_methods import TunedMethod, subjects
from benchsuite.report.figures.from_trials import sensitivity_figures, tuning_figures


@pytest.fixture(scope="module")
def found() -> list[TunedMethod]:
    """InfoNCE, TeMo with its third trial failed, and a method whose trials all failed."""
    broken = [trial.model_copy(update={"score": None}) for trial in trials_of("ts", count=3)]
    temo = trials_of("temo", 0.6, count=6)
    temo[2] = temo[2].model_copy(update={"score": None})
    ((page),) = subjects({"latents-pairs": trials_file({"infonce": 0.5}, more=[*temo, *broken])}).values()
    return page


def by_method(found: list[TunedMethod]) -> dict[str, TunedMethod]:
    return {subject.method: subject for subject in found}


def test_a_curve_has_its_band_and_the_reference_and_all_share_a_scale(found: list[TunedMethod]) -> None:
    figures, named = tuning_figures(found), by_method(found)
    assert set(figures) == {named["infonce"].key, named["temo"].key}, "nothing of what failed altogether"
    own, beside = figures[named["temo"].key].series
    assert (list(own.y), list(own.low)) == (list(named["temo"].curve.median), list(named["temo"].curve.low))
    assert (beside.part, list(beside.y)) == ("reference", list(named["infonce"].curve.median))
    assert len(figures[named["infonce"].key].series) == 1, "not beside itself"
    assert len({figure.y.ends for figure in figures.values()}) == 1


def test_a_panel_has_every_trial_once_with_the_chosen_one_and_the_default(found: list[TunedMethod]) -> None:
    temo = by_method(found)["temo"]
    figures = sensitivity_figures(found)[temo.key]
    assert [figure.x.name for figure in figures][:2] == ["tau (log scale)", "tau_min (log scale)"]
    parts = {trace.part: trace for trace in figures[0].series}
    assert temo.chosen is not None
    assert (list(parts["chosen"].x), list(parts["chosen"].y)) == (
        [temo.chosen.method.hyperparameters["tau"]], [temo.chosen.score],
    )  # fmt: skip
    failed = [trial.method.hyperparameters["tau"] for trial in temo.trials if trial.score is None]
    assert sorted(parts["failed"].x) == sorted(failed)
    assert temo.trials[2].method.hyperparameters["tau"] in failed
    assert sorted([*parts["trial"].seeds, temo.chosen.number]) == sorted(temo.finished)
    assert (list(parts["default"].x), math.isnan(parts["default"].y[0])) == ([0.01], True)
