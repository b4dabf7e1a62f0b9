from collections.abc import Callable
from pathlib import Path

import pytest

from benchsuite.analysis.boards import primary_measure
from benchsuite.errors import UsageError
from benchsuite.records.schema import Result
from benchsuite.registry import load_plugin, tasks


def result(task: str, metrics: dict[str, float] | None = None, measures: dict[str, float] | None = None) -> Result:
    return Result(task=task, version=1, metrics=metrics or {}, measures=measures or {}, counts={})


def metric(results: list[Result]) -> str:
    found = primary_measure("protocol", results)
    return found.metric if found else ""


@pytest.mark.parametrize("name", sorted(tasks))
def test_every_task_declares_what_stands_for_it(name: str) -> None:
    about = tasks.card(name).about
    every = result(name, dict.fromkeys(about["metrics"], 0.5), dict.fromkeys(about.get("measures", ()), 0.5))
    found = primary_measure("protocol", [every])
    assert found is not None
    assert found.metric in about["headline"]
    assert (found.measure, found.title) == (f"protocol.{found.metric}", about["title"])
    assert found.better == ("neither" if name == "geometry" else "higher")
    assert found.unit == found.column.unit == ("number" if name == "geometry" else "percent")


def test_recalls_are_told_by_their_mean_and_neighbours_by_the_nearest() -> None:
    assert metric([result("retrieval", {"i2t_r1": 0.1, "r_mean": 0.2})]) == "r_mean"
    assert metric([result("knn-plain", {"k10_top1": 0.1, "k1_top1": 0.2})]) == "k1_top1"


def test_one_tower_has_no_gap_and_is_told_by_its_uniformity() -> None:
    both, image = ({"gap": 0.1, "uniformity_image": -2.0}, {"uniformity_image": -2.0})
    assert metric([result("geometry", measures=both)]) == "gap"
    assert metric([result("geometry", measures=image)]) == "uniformity_image"


def test_only_what_all_runs_have_stands_for_a_protocol() -> None:
    both, image = (result("geometry", measures={"gap": 0.1, "uniformity_image": -2.0}), result("geometry"))
    assert primary_measure("g", [both, image]) is None
    image = result("geometry", measures={"uniformity_image": -2.0})
    assert metric([both, image]) == "uniformity_image"


PluginFile = Callable[..., Path]
SOURCE = """
    from benchsuite import Task, register_task

    @register_task("mine", version=1, metrics=("accuracy",), measures=("distance", "speed"){more})
    class Mine(Task):
        def evaluate(self, embed, dataset): ...
    """


def test_a_task_that_does_not_say_has_its_first_metric_or_else_an_unranked_measure(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file(SOURCE.format(more="")))
    found = primary_measure("p", [result("mine", {"accuracy": 0.5}, {"distance": 3.0})])
    assert found is not None
    assert (found.metric, found.unit, found.better, found.title) == ("accuracy", "percent", "higher", "mine")
    found = primary_measure("p", [result("mine", {}, {"distance": 3.0})])
    assert found is not None
    assert (found.metric, found.unit, found.better) == ("distance", "number", "neither")


def test_a_task_says_what_is_better_of_its_own_headline(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file(SOURCE.format(more=', headline="distance", better="lower"')))
    found = primary_measure("p", [result("mine", {"accuracy": 0.5}, {"distance": 3.0})])
    assert found is not None
    assert (found.metric, found.unit, found.better) == ("distance", "number", "lower")


def test_a_headline_that_the_task_does_not_measure_is_refused_with_the_nearest(plugin_file: PluginFile) -> None:
    load_plugin(plugin_file(SOURCE.format(more=', headline="acuracy"')))
    with pytest.raises(UsageError, match=r'task mine, headline: metric "acuracy" .* Did you mean "accuracy"'):
        primary_measure("p", [result("mine", {"accuracy": 0.5})])


def test_a_task_of_a_plugin_that_is_not_loaded_goes_by_what_its_records_say() -> None:
    found = primary_measure("p", [result("never-seen", {"accuracy": 0.5})])
    assert found is not None
    assert (found.metric, found.title, found.better) == ("accuracy", "never-seen", "higher")
