import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import matplotlib
import pytest
from matplotlib.patheffects import withStroke
from sketches import EVERY, HOSTILE, SVG, costs, curves, histogram, points, rows, texts, tree

from benchsuite.report.figures import Axis, Figure, Trace, standalone, svg
from benchsuite.report.figures.markup import escaped, shortened, width, wrapped

Make = Callable[..., Figure]


def paths(figure: Figure, group: str, below: float = 250) -> list[str]:
    """What is drawn in groups of a class; not the legend, which stands below."""
    groups = [one for one in tree(figure).iter(f"{SVG}g") if one.get("class") == group]
    found = [path.attrib["d"] for one in groups for path in one]
    return [data for data in found if all(y < below for _, y in corners(data))]


def corners(data: str) -> list[tuple[float, float]]:
    pairs = (pair.split(",") for pair in re.findall(r"[-\d.]+,[-\d.]+", data))
    return [(float(x), float(y)) for x, y in pairs]


def test_hostile_names_show_as_text(every_kind: Make) -> None:
    figure = every_kind(label=HOSTILE)
    root = tree(figure)
    assert not {one.tag for one in root.iter()} - {
        f"{SVG}{name}" for name in ("svg", "title", "desc", "g", "path", "text")
    }
    assert any(HOSTILE[:12] in text for text in texts(root))
    assert "<script" not in svg(figure)


@pytest.mark.parametrize(
    "label", ["$a_b$ \\frac", "a \"quoted\" & 'b'", "_hidden", "\x00\x1b\ud800", "日本語" * 40, "x" * 300]
)
def test_odd_names_are_text_too(every_kind: Make, label: str) -> None:
    root = tree(every_kind(label=label))
    assert any(escaped(label)[:2] in escaped(text) for text in texts(root))


def test_a_drawing_has_a_name_and_a_description_that_point_to_it(every_kind: Make) -> None:
    figure = every_kind()
    root = tree(figure)
    title, desc = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
    assert title is not None
    assert desc is not None
    assert (title.text, desc.text) == (figure.title, figure.alt)
    assert root.attrib["role"] == "img"
    assert (root.get("aria-labelledby"), root.get("aria-describedby")) == (title.get("id"), desc.get("id"))


def test_a_drawing_is_as_wide_as_its_place(every_kind: Make) -> None:
    root = tree(every_kind())
    assert not {"width", "height", "style"} & set(root.attrib)
    assert re.fullmatch(r"0 0 400 [\d.]+", root.attrib["viewBox"])


def test_colours_are_classes_and_nothing_comes_from_elsewhere(every_kind: Make) -> None:
    drawing = svg(every_kind())
    assert not re.search(r"style=|#[0-9a-f]{3}|rgb\(|url\(|href|xlink|<image|<use|<style|font-family", drawing)
    assert re.findall(r"https?://[^\"]*", drawing) == ["http://www.w3.org/2000/svg"]
    assert {"currentColor"} >= set(re.findall(r'(?:fill|stroke)="((?!none)[^"]*)"', drawing))


ODD_SETTINGS: list[dict[str, Any]] = [
    {"path.effects": [withStroke(linewidth=4, foreground="w")]},
    {"lines.scale_dashes": True, "lines.marker": "o", "lines.linewidth": 9, "markers.fillstyle": "top"},
    {"figure.autolayout": True},
    {"figure.constrained_layout.use": True, "figure.facecolor": "red", "text.usetex": True},
    {"path.sketch": (1, 100, 2), "patch.force_edgecolor": True, "lines.solid_capstyle": "butt"},
]


@pytest.mark.parametrize("odd", ODD_SETTINGS)
@pytest.mark.filterwarnings("error")
def test_equal_figures_are_drawn_equally_whatever_matplotlib_is_set_to(every_kind: Make, odd: dict[str, Any]) -> None:
    before = svg(every_kind())
    with matplotlib.rc_context(odd):
        assert svg(every_kind()) == before


def test_ids_of_two_figures_never_meet() -> None:
    page = "".join(svg(make()) for make in EVERY.values())
    found = re.findall(r'id="([^"]*)"', page)
    assert len(found) == 2 * len(EVERY)
    assert len(set(found)) == len(found)


def test_nothing_is_drawn_outside_of_the_drawing(every_kind: Make) -> None:
    root = tree(every_kind(label="A long label, as ablations have them: all, without the one thing or the other"))
    _, _, wide, high = map(float, root.attrib["viewBox"].split())
    numbers = [corner for path in root.iter(f"{SVG}path") for corner in corners(path.attrib["d"])]
    assert numbers
    assert all(-5 <= x <= wide and 0 <= y <= high for x, y in numbers)
    for text in root.iter(f"{SVG}text"):
        size, said = float(text.get("font-size", 12)), text.text or ""
        start = float(text.attrib["x"]) - {"end": 1.0, "middle": 0.5}.get(text.get("text-anchor", ""), 0) * width(
            said, size
        )
        assert start >= -5
        assert start + width(said, size) <= wide + 5
        assert 0 <= float(text.attrib["y"]) <= high


def test_lines_break_where_there_is_no_value() -> None:
    whole, broken = paths(curves(), "s2"), paths(curves(), "s1")
    assert whole[0].count("M") == 1
    assert broken[0].count("M") == 2
    assert "nan" not in svg(curves())
    first = broken[0].split("M")[1]
    assert first.endswith("h0"), "a value alone between gaps is a dot"


def test_seeds_are_thin_lines_of_their_mean_s_colour() -> None:
    groups = [one for one in tree(curves()).iter(f"{SVG}g") if one.get("class") in ("s2", "s2 thin")]
    widths = {one.attrib["class"]: float(one[0].attrib["stroke-width"]) for one in reversed(groups)}
    assert widths["s2 thin"] < 1 < widths["s2"]


def test_lines_differ_without_their_colours() -> None:
    drawn = [one for one in tree(curves(8)).iter(f"{SVG}g") if re.fullmatch(r"s\d", one.get("class", ""))]
    dashes = [group[0].get("stroke-dasharray") for group in drawn if group[0].get("fill") is None]
    assert len(set(dashes)) == 8


def test_more_lines_than_styles_are_numbered() -> None:
    assert {"1 Row 0", "1", "9 Row 8", "9"} <= set(texts(tree(curves(9))))
    assert "1 Row 0" not in texts(tree(curves(8)))
    assert {"12 Row 11", "12"} <= set(texts(tree(points(12))))


def test_the_ninth_mark_is_hollow() -> None:
    def filled(figure: Figure, style: str) -> list[str | None]:
        return [path.get("class") for one in tree(figure).iter(f"{SVG}g") if one.get("class") == style for path in one]

    assert "hollow" not in filled(points(8), "s1")
    assert "hollow" in filled(points(9), "s1")


def test_numbers_stand_apart_where_points_meet() -> None:
    series = [Trace(f"Row {k}", [0.5], [0.5], "mean", k) for k in range(12)]
    figure = Figure("a", "a", "points", "", "", Axis("x"), Axis("y"), series)
    places = {(one.get("x"), one.get("y")) for one in tree(figure).iter(f"{SVG}text") if one.get("class") == "halo"}
    assert len(places) == 12


def test_percent_axes_count_in_percent() -> None:
    said = texts(tree(points()))
    assert "R@1, %" in said
    assert {"22", "30"} & set(said)
    assert "Gap" in said


def test_a_logarithmic_axis_has_ticks_at_powers() -> None:
    line = Trace("Row", [1, 10, 1000], [1.0, 2.0, 3.0])
    figure = Figure("a", "a", "curves", "", "", Axis("Step", log=True), Axis("y"), [line])
    xs = {one.text: float(one.attrib["x"]) for one in tree(figure).iter(f"{SVG}text")}
    assert xs["100"] - xs["10"] == pytest.approx(xs["10"] - xs["1"], abs=0.2)


def test_ticks_of_steps_are_whole() -> None:
    line = Trace("Row", [1, 2], [10.0, 20.0])
    figure = Figure("a", "a", "curves", "", "", Axis("Step", whole=True), Axis("y"), [line])
    assert {"1", "2"} <= set(texts(tree(figure)))
    assert not {said for said in texts(tree(figure)) if said.startswith("1.")}


@pytest.mark.parametrize("value", [0.0, 0.05, -3.0, 1e-12, 1e12])
def test_a_constant_is_a_line_in_the_middle(value: float) -> None:
    line = Trace("Row", [1, 2], [value, value * (1 + 1e-12)])
    drawn = paths(Figure("a", "a", "curves", "", "", Axis("Step"), Axis("y"), [line]), "s1")[0]
    heights = {y for _, y in corners(drawn)}
    assert len(heights) == 1
    assert 100 < heights.pop() < 180


def test_one_point_alone_is_seen() -> None:
    figure = Figure("a", "a", "curves", "", "", Axis("Step"), Axis("y"), [Trace("Row", [1], [2.0])])
    assert len(paths(figure, "s1")) == 2, "a line without length, and a mark"


def test_bands_lie_between_their_bounds() -> None:
    line = Trace("Row", [1, 2, 3], [2.0, 3.0, 2.0], low=[1.0, 2.0, float("nan")], high=[3.0, 4.0, float("nan")])
    figure = Figure("a", "a", "curves", "", "", Axis("Step"), Axis("y"), [line])
    band = paths(figure, "s1")[0]
    assert band.endswith("Z")
    assert len(corners(band)) == 4, "the third step has no bounds"


def test_panels_name_their_rows_and_bins_keep_their_order() -> None:
    figure = histogram()
    assert {"Row 0", "Row 1", "Positive pairs", "Negative pairs"} <= set(texts(tree(figure)))
    outline = paths(figure, "s2")[0]
    xs = [x for x, _ in corners(outline)]
    assert xs == sorted(xs)


def test_published_numbers_have_a_mark_of_their_own() -> None:
    assert len(paths(rows(), "ink", below=60)) == 1
    assert "published" in texts(tree(rows()))


def test_the_front_is_a_line_and_what_is_off_it_is_hollow() -> None:
    figure = costs()
    lines = [data for data in paths(figure, "s1") if "C" not in data and data.count("M") == 1]
    line = max(map(corners, lines), key=len)
    assert len(line) == 3, "two points and the corner between them; the last point is the dearest"
    assert line[0][1] == line[1][1] > line[2][1]
    groups = [one for one in tree(figure).iter(f"{SVG}g") if one.get("class") == "quiet"]
    assert {path.get("class") for one in groups for path in one if path.get("d", "").endswith("Z")} == {"hollow"}


def test_bars_reach_from_the_lower_bound_through_their_mark_to_the_upper() -> None:
    drawn = [data for group in ("s1", "quiet") for data in paths(costs(), group)]
    bars = [corners(part) for data in drawn if "C" not in data and "Z" not in data for part in data.split("M")]
    upright = [one for one in bars if len(one) == 2 and one[0][0] == one[1][0] and one[0][1] != one[1][1]]
    assert len(upright) == 3
    heights = [low - high for (_, low), (_, high) in upright]
    assert heights == pytest.approx([heights[0]] * 3, abs=0.2)
    assert heights[0] > 0


def test_a_file_of_its_own_has_its_colours_with_it() -> None:
    alone = standalone(curves())
    assert "--series-1" in alone
    assert "--ink" in alone
    assert alone.startswith("<?xml")
    assert not re.search(r"url\(|@import|href", alone)


def test_text_is_cut_or_wrapped_to_its_room() -> None:
    assert shortened("short", 100) == "short"
    long = shortened("word " * 50, 100)
    assert long.endswith("…")
    assert width(long) <= 100
    first, second = wrapped("one two three four five six", 80)
    assert width(first) <= 80
    assert f"{first} {second.removesuffix('…')}".startswith("one two three")
    assert [width(line) <= 80 for line in wrapped("x" * 400, 80)] == [True, True]
    assert wrapped("short", 80) == ["short"]


def test_matplotlib_waits_until_a_figure_is_drawn_and_pyplot_for_ever() -> None:
    script = (
        "import sys, benchsuite.report.figures as f\n"
        "assert 'matplotlib' not in sys.modules\n"
        "f.sparkline('loss', [0, 1], [1, 2])\n"
        "assert 'matplotlib' not in sys.modules\n"
        "t = f.Trace('a', [1, 2], [1, 2])\n"
        "f.svg(f.Figure('a', 'a', 'curves', '', '', f.Axis('x'), f.Axis('y'), [t]))\n"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules\n"
        "assert 'torch' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
