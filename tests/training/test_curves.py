import math

import pytest
import torch

from benchsuite.methods.base import Loss
from benchsuite.methods.batch import PairBatch
from benchsuite.training.curves import POINTS, Curves, centroid_gap


def loss(value: float, **gauges: float) -> Loss:
    return Loss(torch.tensor(value), gauges=gauges)


def test_a_point_is_the_mean_over_the_losses_of_a_step() -> None:
    curves = Curves(2)
    curves.add(0, [loss(1.0, gap=0.5), loss(3.0, gap=0.7)], {"lr": 0.1})
    assert curves.points == {"step": [0], "loss": [2.0], "gap": [pytest.approx(0.6)], "lr": [0.1]}


@pytest.mark.parametrize("steps", [1, 99, 100, 101, 320, 1000])
def test_first_and_last_step_are_points_of_about_a_hundred(steps: int) -> None:
    kept = [step for step in range(steps) if Curves(steps).keeps(step)]
    assert (kept[0], kept[-1]) == (0, steps - 1)
    assert min(steps, POINTS // 2) <= len(kept) <= POINTS + 1


def test_what_is_evaluated_now_and_then_has_gaps_and_curves_stay_of_one_length() -> None:
    curves = Curves(3)
    for step, found in enumerate(({}, {"knn.top1": 0.5}, {})):
        curves.add(step, [loss(1.0)], found)
    assert [math.isnan(value) for value in curves.points["knn.top1"]] == [True, False, True]
    assert {len(values) for values in curves.points.values()} == {3}


def test_the_gap_is_the_distance_of_the_normalised_centroids() -> None:
    image, text = torch.tensor([[3.0, 0.0], [5.0, 0.0]]), torch.tensor([[0.0, 2.0], [0.0, 1.0]])
    assert centroid_gap(PairBatch(image=image, text=text)).item() == pytest.approx(math.sqrt(2))
    assert centroid_gap(PairBatch(image=image, text=2 * image)).item() == pytest.approx(0)
