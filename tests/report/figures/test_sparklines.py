import re
from xml.etree import ElementTree

import pytest
from small_figures import HOSTILE, through

from benchsuite.analysis.curves import Curve
from benchsuite.report.figures import sparkline

Run = tuple[list[int], list[float]]
GAP = float("nan")


def small(name: str, *runs: Run) -> str:
    return sparkline(name, *[Curve(*run) for run in runs])


def drawn(name: str, *runs: Run) -> tuple[dict[str, str], str]:
    root = ElementTree.fromstring(small(name, *runs))
    parts = {one.tag: one.text or "" for one in root}
    path = root.find("path")
    assert path is not None
    return parts, path.attrib["d"]


def test_a_curve_is_told_and_drawn() -> None:
    parts, path = drawn("loss", ([1, 11, 21], [4.0, 1.0, 2.0]))
    assert parts["title"] == "loss"
    assert parts["desc"] == ("loss from step 1 to 21: first 4, last 2, least 1 at step 11, greatest 4 at step 1.")
    (x0, y0), (x1, y1), (x2, y2) = through(path)
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.11)
    assert y0 < y2 < y1


def test_a_name_is_shown_in_words() -> None:
    assert ">gradient norm<" in small("gradient_norm", ([0, 1], [4.0, 1.0]))
    assert ">learning rate<" in small("lr", ([0, 1], [4.0, 1.0]))


def test_a_missing_value_is_a_gap_and_told() -> None:
    parts, path = drawn("loss", ([0, 1, 2, 3, 4], [4.0, GAP, 2.0, 1.0, float("inf")]))
    assert path.count("M") == 2
    assert path.split("M")[1].endswith("h0"), "a value alone is a dot"
    assert "no value at 2 steps" in parts["desc"]
    assert "inf" not in path


@pytest.mark.parametrize("runs", [[], [([], [])], [([1, 2], [GAP, GAP])]])
def test_nothing_is_drawn_of_nothing(runs: list[Run]) -> None:
    assert small("loss", *runs) == ""


@pytest.mark.parametrize("values", [[2.0], [2.0, 2.0, 2.0], [0.0, 0.0]])
def test_a_constant_is_a_level_line(values: list[float]) -> None:
    _, path = drawn("tau", (list(range(len(values))), values))
    assert len({y for _, y in through(path)}) == 1
    assert path.endswith("h0") == (len(values) == 1)


def test_a_long_curve_is_thinned_to_its_end() -> None:
    _, path = drawn("loss", (list(range(5000)), [float(k) for k in range(5000)]))
    found = through(path)
    assert 40 < len(found) < 80
    assert found[-1] == (218.0, 24.0)


def test_a_hostile_name_is_text_and_nothing_comes_from_elsewhere() -> None:
    text = small(HOSTILE * 20, ([0, 1], [1.0, 2.0]))
    assert "<script" not in text
    assert drawn(HOSTILE, ([0, 1], [1.0, 2.0]))[0]["title"] == HOSTILE
    assert not re.search(r"style=|href|url\(|id=", text)


def test_several_runs_share_a_scale_and_their_ends_are_told() -> None:
    parts, path = drawn("loss", ([1, 11], [4.0, 2.0]), ([1, 11], [3.0, GAP]), ([1, 11], [GAP, GAP]))
    assert parts["desc"].startswith("loss of 2 runs from step 1 to 11: first 3 to 4, last 2 to 3, least 2 at step 11")
    assert "no value at 3 steps" in parts["desc"]
    assert path.count("M") == 2
    (_, top), (_, bottom), (_, between) = through(path)
    assert top < between < bottom


def test_many_runs_have_a_line_each_of_few_points() -> None:
    steps = list(range(1, 101))
    parts, path = drawn("loss", *[(steps, [101.0 - step + run for step in steps]) for run in range(6)])
    assert parts["desc"] == "loss of 6 runs from step 1 to 100: first 100 to 105, last 1 to 6."
    assert path.count("M") == 6
    assert len(through(path)) <= 6 * 14
