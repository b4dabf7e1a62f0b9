"""Whether the colours of figures can be seen, and told apart by the colour-blind."""

import re
from importlib.resources import files
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchsuite.report.figures.canvas import COLOURS, DASHES, HUES, MARKS

CSS = files("benchsuite.report").joinpath("static/figures.css").read_text("utf-8")
LIGHT, SCREEN = CSS.split("@media screen {")
PAIRS = re.findall(r"--series-\d: light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)", SCREEN)
DARK = "".join(f"--series-{number}: {dark};" for number, (_, dark) in enumerate(PAIRS, 1))
THEMES = [(LIGHT, "#ffffff"), (DARK, "#0d1117")]
SIGHTS = {
    "usual": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
"""What is seen of linear RGB without one of the three cones (Machado, Oliveira and Fernandes 2009)."""
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def hues(css: str) -> list[str]:
    return re.findall(r"--series-\d: (#[0-9a-f]{6})", css)


def linear(colour: str) -> NDArray[np.float64]:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it."""
    dark, light = sorted(float(linear(colour) @ [0.2126, 0.7152, 0.0722]) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def lab(colour: str, sight: str) -> NDArray[np.float64]:
    xyz = TO_XYZ @ np.clip(np.array(SIGHTS[sight]) @ linear(colour), 0, 1) / WHITE
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_the_measure_of_contrast_is_right() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize(("css", "paper"), THEMES)
def test_every_hue_stands_out_from_its_paper(css: str, paper: str) -> None:
    assert len(hues(css)) == len(HUES)
    assert min(contrast(hue, paper) for hue in hues(css)) >= 3


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize(("css", "paper"), THEMES)
def test_hues_differ_for_every_sight(css: str, paper: str, sight: str) -> None:
    seen = [lab(hue, sight) for hue in hues(css)]
    assert min(np.linalg.norm(one - other) for one, other in combinations(seen, 2)) >= 20


def test_the_light_theme_on_a_screen_is_that_of_paper() -> None:
    assert [light for light, _ in PAIRS] == hues(LIGHT)


def test_drawings_have_the_colours_of_the_light_theme() -> None:
    page = files("benchsuite.report").joinpath("static/site.css").read_text("utf-8")
    sheets = LIGHT + page.split("@media")[0]
    for colour, name in COLOURS.items():
        assert f"{name}: {colour};" in sheets


def test_styles_of_the_first_eight_differ_in_hue_in_dash_and_in_mark() -> None:
    assert len(set(HUES)) == len(set(DASHES)) == len(set(MARKS)) == 8


def test_the_style_sheet_fetches_nothing() -> None:
    assert not re.search(r"url\(|@import|//", CSS)
