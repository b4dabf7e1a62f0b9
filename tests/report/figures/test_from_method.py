from collections.abc import Callable
from typing import Any

import pytest

from benchsuite.records.schema import Record
from benchsuite.report.figures import method_figures
from benchsuite.report.figures.model import MANY

MakeRecord = Callable[..., tuple[Record, bytes]]
NAMES = ("lr", "loss", "temperature_positive", "i2t_temperature", "gap", "gradient_norm", "margin", "i2t")


def run(make: MakeRecord, seed: int = 0, values: list[float | None] | None = None, **changes: Any) -> Record:
    values = values or [1.0 + seed, 2.0 + seed]
    curves: dict[str, Any] = {"step": list(range(len(values)))} | dict.fromkeys(NAMES, values)
    return make(seed, curves=curves, **changes)[0]


def changed(make: MakeRecord, number: int) -> dict[str, Any]:
    """Another temperature."""
    method = make()[0].method
    return {"method": method.model_copy(update={"hyperparameters": {"tau": number / 100}})}


def test_known_curves_come_first_and_any_other_after_them(make_record: MakeRecord) -> None:
    found = method_figures([run(make_record)])
    assert [one.slug for one in found] == [
        "loss", "temperature-positive", "i2t-temperature", "margin", "gap", "gradient-norm", "i2t",
    ]  # fmt: skip
    assert [one.title for one in found][:2] == ["InfoNCE: loss", "InfoNCE: temperature positive"]
    assert len({one.id for one in found}) == len(found)


def test_curves_that_only_a_plugin_has_are_shown_with_readable_names(make_record: MakeRecord) -> None:
    curves = {"step": [0, 1], "loss": [2.0, 1.0], "i2t_own_gauge": [0.1, 0.2], "knn.top1": [0.5, 0.6]}
    found = method_figures([make_record(curves=curves)[0]])
    assert [one.y.name for one in found] == ["Loss", "i2t own gauge"]
    assert list(found[1].series[0].y) == [0.1, 0.2]


def test_a_method_with_very_many_terms_shows_some_and_says_so(make_record: MakeRecord) -> None:
    curves = {"step": [0, 1], **{f"term_{number}": [2.0, 1.0] for number in range(15)}}
    found = method_figures([make_record(curves=curves)[0]])
    assert len(found) == 7
    assert "8 further curves are only on the pages of runs." in found[-1].caption
    assert "further curves" not in found[-2].caption


def test_runs_that_differ_in_nothing_but_the_seed_have_one_mean(make_record: MakeRecord) -> None:
    loss = method_figures([run(make_record, seed) for seed in (2, 0, 1)])[0]
    assert [(one.part, list(one.seeds)) for one in loss.series] == [
        ("seed", [0]),
        ("seed", [1]),
        ("seed", [2]),
        ("mean", []),
    ]
    assert list(loss.series[-1].y) == [2.0, 3.0]


def test_configurations_and_setups_are_called_as_on_boards(make_record: MakeRecord) -> None:
    records = [run(make_record), run(make_record, **changed(make_record, 7))]
    assert {one.label for one in method_figures(records)[0].series} == {"InfoNCE (tau=0.03)", "InfoNCE (tau=0.07)"}
    setup = make_record()[0].setup
    other = setup.model_copy(update={"training": setup.training.model_copy(update={"steps": 9})})
    found = [one.label for one in method_figures([run(make_record), run(make_record, setup=other)])[0].series]
    assert len(set(found)) == 2
    assert all(label.endswith(": InfoNCE") for label in found)


def test_more_than_three_runs_are_means_with_bands(make_record: MakeRecord) -> None:
    many = [run(make_record, seed, **changed(make_record, tau)) for seed in range(7) for tau in (3, 7)]
    loss = method_figures(many)[0]
    assert [one.part for one in loss.series] == ["mean", "mean"]
    assert (list(loss.series[0].low), list(loss.series[0].high)) == ([1.0, 2.0], [7.0, 8.0])
    assert "bands: from the lowest to the highest seed" in loss.caption
    few = method_figures(many[: 2 * MANY : 2])[0]
    assert len([one for one in few.series if one.part == "seed"]) == MANY


def test_the_setups_with_most_seeds_are_shown_and_the_others_counted(make_record: MakeRecord) -> None:
    records = [
        run(make_record, seed, **changed(make_record, tau)) for tau in range(1, 11) for seed in range(1 + (tau > 5))
    ]
    loss = method_figures(records)[0]
    assert len({one.label for one in loss.series}) == 6
    assert {f"InfoNCE (tau={tau / 100:g})" for tau in range(6, 11)} <= {one.label for one in loss.series}
    assert "4 further setups are not shown." in loss.caption


def test_long_curves_are_thinned(make_record: MakeRecord) -> None:
    values: list[float | None] = [float(k) for k in range(1000)]
    assert len(method_figures([run(make_record, values=values)])[0].series[0].x) <= 121


def test_means_with_bands_are_thinned_and_end_where_the_training_ends(make_record: MakeRecord) -> None:
    values: list[float | None] = [float(k) for k in range(1000)]
    many = [run(make_record, seed, values=values) for seed in range(13)]
    (trace,) = method_figures(many)[0].series
    assert len(trace.x) <= 121
    assert (trace.x[-1], trace.y[-1]) == (1000, 999)
    assert len(trace.low) == len(trace.high) == len(trace.x)


@pytest.mark.parametrize("values", [[None, None], [None]])
def test_no_values_are_no_figures(make_record: MakeRecord, values: list[float | None]) -> None:
    assert method_figures([run(make_record, values=values)]) == []
    assert method_figures([]) == []


def test_one_run_that_fell_apart_leaves_the_others(make_record: MakeRecord) -> None:
    loss = method_figures([run(make_record, 0), run(make_record, 1, values=[None, None])])[0]
    assert [(one.part, list(one.y)) for one in loss.series] == [("mean", [1.0, 2.0])]
