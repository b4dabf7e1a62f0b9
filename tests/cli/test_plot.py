"""`benchsuite plot`: figures for papers, from a folder of records, through the command line."""

import csv
import io
import re
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from support.commands import exit_code
from support.made_records import MakeRecord
from support.made_results import write_results
from support.measured import HIGH, LOW, fill

command = partial(exit_code, "plot")


@pytest.fixture
def runs(tmp_path: Path, make_record: MakeRecord) -> Path:
    return fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH})


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with several boards."""
    folder = tmp_path_factory.mktemp("made")
    write_results(folder)
    return folder


def boards(said: str) -> set[str]:
    """Headings of a method's figure."""
    return {text for text in said.split(" | ") if re.search(r": TeMo\b", text)}


def words(file: Path) -> str:
    """All that an SVG says."""
    return " | ".join(element.text or "" for element in ElementTree.parse(file).getroot().iter() if element.text)


def test_a_table_is_drawn_by_its_claims_with_verdict_and_interval(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fig.svg"
    assert command("temo/table1", "--results", runs, "--out", file) == 0
    assert "Claims of temo/table1 (scale small, on stand-ins)" in capsys.readouterr().out
    said = words(file)
    assert "TeMo vs. InfoNCE" in said
    assert re.search(r"\+19\.75 \[\+18\.23, \+21\.27\] reproduced", said)
    assert "+1.64" in said, "the published difference"


def test_the_survey_draws_the_headline_claims_of_all_tables(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "fig.svg"
    assert command("--survey", "--paper", "temo", "--results", runs, "--out", file) == 0
    assert "Headline claims of temo at scale small" in capsys.readouterr().out
    assert {"TeMo vs. InfoNCE, MSCOCO IR@1, RN50", "published"} <= {*words(file).split(" | ")}


def test_added_rows_are_drawn_alone(
    tmp_path: Path, make_record: MakeRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = fill(tmp_path / "own", make_record, {"InfoNCE": LOW, "TeMo": HIGH, "Mine": HIGH})
    every, added = tmp_path / "every.svg", tmp_path / "added.svg"
    assert command("temo/table1", "--results", runs, "--out", every) == 0
    assert command("temo/table1", "--results", runs, "--added", "--out", added) == 0
    assert "Added rows of temo/table1 (scale small, on stand-ins)" in capsys.readouterr().out
    assert "TeMo vs. InfoNCE" in words(every)
    assert "Mine vs. InfoNCE" in words(added)
    assert "TeMo" not in words(added)


def test_without_added_rows_there_is_nothing_to_draw_of_them(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("temo/table1", "--results", runs, "--added") == 2
    assert "temo/table1 at scale small has no rows that are not in the table" in capsys.readouterr().err
    assert command("temo", "--results", runs, "--added") == 2
    assert "--added is for a table" in capsys.readouterr().err


def test_a_method_is_drawn_beside_infonce_on_every_board(made: Path, tmp_path: Path) -> None:
    file = tmp_path / "fig.svg"
    assert command("temo", "--results", made, "--out", file) == 0
    said = words(file)
    assert {"retrieval, r_mean", "Difference to InfoNCE, better is + (percentage points)"} <= set(said.split(" | "))
    assert re.search(r"[+−]\d+\.\d\d \[[+−]\d+\.\d\d, [+−]\d+\.\d\d\] (better|worse|undecided)", said)
    assert len(boards(said)) > 1


def test_a_scale_chooses_the_boards_of_a_method(made: Path, tmp_path: Path) -> None:
    drawn = {}
    for scale in ("", "small", "latents"):
        file = tmp_path / f"fig{scale}.svg"
        assert command("temo", "--results", made, "--out", file, *(["--scale", scale] if scale else [])) == 0
        drawn[scale] = boards(words(file))
    assert drawn["small"]
    assert drawn["latents"]
    assert not drawn["small"] & drawn["latents"]
    assert drawn["small"] | drawn["latents"] == drawn[""]


def test_a_pdf_embeds_fonts_that_publishers_accept_and_no_time(runs: Path, tmp_path: Path) -> None:
    files = [tmp_path / "one.pdf", tmp_path / "two.pdf"]
    for file in files:
        assert command("temo/table1", "--results", runs, "--out", file) == 0
    first, second = (file.read_bytes() for file in files)
    assert first.startswith(b"%PDF")
    assert b"/Type3" not in first
    assert b"/TrueType" in first or b"/CIDFontType2" in first
    assert b"CreationDate" not in first
    assert first == second


def test_a_png_is_on_white_and_as_fine_as_asked(runs: Path, tmp_path: Path) -> None:
    widths = []
    for dpi in (72, 144):
        file = tmp_path / f"{dpi}.png"
        assert command("temo/table1", "--results", runs, "--out", file, "--dpi", dpi) == 0
        picture = Image.open(io.BytesIO(file.read_bytes())).convert("RGBA")
        assert np.asarray(picture)[-1, -1].tolist() == [255, 255, 255, 255]
        widths.append(picture.width)
    assert widths[1] == 2 * widths[0]


def test_without_a_file_it_lists_what_there_is_and_any_can_be_named(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("temo", "--results", made) == 0
    first, *others = re.findall(r"^([a-z-]+): ", capsys.readouterr().out, re.M)
    assert (first, "tau-against-the-score-on-latents-pairs" in others) == ("differences", True)
    assert command("temo/table1", "--results", made) == 0
    listed = capsys.readouterr().out
    names = re.findall(r"^([a-z0-9-]+): (.*)", listed, re.M)
    assert len(names) > 1
    assert "--figure NAME --out FILE.pdf" in listed
    for name, title in names:
        assert command("temo/table1", "--results", made, "--figure", name, "--out", tmp_path / "one.svg") == 0
        assert title in capsys.readouterr().out


def test_the_numbers_of_any_figure_can_be_had(runs: Path, made: Path, tmp_path: Path) -> None:
    file = tmp_path / "fig.csv"
    assert command("--survey", "--results", runs, "--out", file) == 0
    (claim,) = [one for one in csv.DictReader(file.open()) if one["label"] == "TeMo vs. InfoNCE, MSCOCO IR@1, RN50"]
    assert (claim["gain"], claim["verdict"], claim["published"]) == ("19.75", "reproduced", "1.64")
    assert float(claim["low"]) == pytest.approx(18.23, abs=0.01)
    assert command("temo", "--results", made, "--figure", "tau-against-the-score-on-latents-pairs", "--out", file) == 0
    trials = list(csv.DictReader(file.open()))
    assert {"tau", "Score"} <= trials[0].keys()
    assert all(0 <= float(one["Score"]) <= 1 for one in trials)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["temo/table1", "--survey"], "or give --survey"),
        (["--survey", "--paper", "p"], 'paper "p" does not exist'),
        (["temo/table1", "--paper", "temo"], "--paper is for --survey"),
        (["temo/tabel1"], 'Did you mean "temo/table1"'),
        (["temoo"], 'Did you mean "temo"'),
        (["temo/table1", "--figure", "claim", "--out", "a.pdf"], 'Did you mean "claims"'),
        (["temo/table1", "--out", "a.jpg"], "a figure ends with .pdf, .svg, .png"),
        (["temo/table1", "--scale", "smal"], 'Did you mean "small"'),
        (["temo", "--scale", "smal"], 'Did you mean "small"'),
        (["temo", "--results", "nowhere"], "results folder nowhere does not exist"),
    ],
)
def test_wrong_usage_is_told(arguments: list[str], says: str, runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--results", runs, *arguments) == 2
    assert says in capsys.readouterr().err


def test_a_method_s_figures_are_of_the_regime_that_is_asked_for(made: Path, tmp_path: Path) -> None:
    found = {}
    for regime in ("", "printed", "tuned"):
        file = tmp_path / f"of-{regime}.csv"
        assert command("temo", "--results", made, "--out", file, *(["--regime", regime] if regime else [])) == 0
        found[regime] = file.read_text().splitlines()[1:]
    assert found["printed"]
    assert found["tuned"]
    assert sorted(found[""]) == sorted([*found["printed"], *found["tuned"]])


@pytest.mark.parametrize("option", [("--added",), ("--regime", "printed")])
def test_the_survey_is_of_both_regimes(runs: Path, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--survey", "--results", runs, *option) == 2
    assert "--added and --regime are not for --survey" in capsys.readouterr().err
