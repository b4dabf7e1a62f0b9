import json
import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.commands import exit_code
from support.made_records import MakeRecord
from support.measured import HIGH, LOW, TIED, fill
from support.tiny_tuning import PLUGIN

from benchsuite.analysis.both_regimes import MEANING
from benchsuite.records.requests import Regime

command = partial(exit_code, "claims")


@pytest.fixture
def runs(tmp_path: Path, make_record: MakeRecord) -> Path:
    return fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH})


def claims(runs: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    assert command("temo/table1", "--results", runs, "--json", *options) == 0
    found = json.loads(capsys.readouterr().out)["claims"]
    assert isinstance(found, list)
    return found


def test_a_table_in_both_regimes_ends_with_what_became_of_each_headline(
    tmp_path: Path, make_record: MakeRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH}, scale="latents")
    fill(runs, make_record, {"InfoNCE": LOW, "TeMo": TIED}, scale="latents", regime="tuned")
    assert command("temo/table1", "--results", runs, "--json") == 0
    both = json.loads(capsys.readouterr().out)["both_regimes"]
    found = {one["outcome"]: one for one in both}
    assert "gain of tuning" in found
    one = found["gain of tuning"]
    assert (one["printed"]["verdict"], one["tuned"]["verdict"]) == ("reproduced", "undecided")
    assert command("temo/table1", "--results", runs) == 0
    told = capsys.readouterr().out
    assert f"gain of tuning ({MEANING['gain of tuning']}): published by 1.64, as printed +" in told
    assert "(headline)" not in told, "each claim has one line"
    assert command("temo/table1", "temo/table3", "--scale", "latents", "--results", runs) == 0
    assert "not run here: temo/table3 (3 headline claims)" in capsys.readouterr().out
    (counted,) = re.findall(r"^scale latents: (.*)$", told, re.M)
    assert {words.split(" ", 1)[1]: int(words.split()[0]) for words in counted.split(", ")} == Counter(
        one["outcome"] for one in both
    )
    assert command("temo/table1", "--results", runs, "--json", "--regime", "tuned") == 0
    assert json.loads(capsys.readouterr().out)["both_regimes"] == []


@pytest.fixture
def looked_at(tmp_path: Path, make_record: MakeRecord) -> Path:
    """A gain of tuning, and a remark on it."""
    runs = fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH}, scale="latents")
    fill(runs, make_record, {"InfoNCE": LOW, "TeMo": TIED}, scale="latents", regime="tuned")
    (runs / "remarks.toml").write_text(REMARK)
    return runs


REMARK = """
[[remarks]]
table = "temo/table1"
scale = "latents"
claim = "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1"
text = "Seen <b>twice</b>."
"""


MANY = "".join(REMARK.replace("IR@1", f"IR@{n}") for n in range(2, 102))


def test_a_remark_stands_beside_what_became_of_its_claim(looked_at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("temo/table1", "--results", looked_at) == 0
    *_, said = (line for line in capsys.readouterr().out.splitlines() if "Seen <b>twice</b>." in line)
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1: gain of tuning" in said
    assert command("temo/table1", "--results", looked_at, "--regime", "tuned") == 0
    (said,) = (line for line in capsys.readouterr().out.splitlines() if "Seen <b>twice</b>." in line)
    assert "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1 (headline)" in said
    assert command("temo/table1", "--results", looked_at, "--json") == 0
    told = json.loads(capsys.readouterr().out)["claims"]
    assert {one["remark"] for one in told if one["headline"]} == {"", "Seen <b>twice</b>."}
    assert exit_code("report", "--results", looked_at, "--report", looked_at / "site") == 0
    site = looked_at / "site"
    for page in ("claims/temo-latents", "tables/temo-table1-latents"):
        assert "Looked at: Seen &lt;b&gt;twice&lt;/b&gt;." in (site / f"{page}.html").read_text("utf-8")
    assert 'aria-label="more is said of this claim">†</a>' in (site / "index.html").read_text("utf-8")
    capsys.readouterr()
    exit_code("verify", looked_at)
    assert "remarks.toml" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("IR@1", "IR@10", 'claim "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@10" does not exist'),
        ("latents", "latent", "temo/table1 was not run here at scale latent"),
        ("[[remarks]]", f"{REMARK}[[remarks]]", "two remarks on RN50/TeMo beats"),
        ("Seen", "Seen" * 501, "String should have at most 2000 characters"),
        ("[[remarks]]", f"{MANY}[[remarks]]", "at most 100"),
        ("text", "words", 'remarks.toml: line 6: remarks.0: key "words" does not exist'),
        ("[[remarks]]", "[[remark]]", 'key "remark" does not exist'),
        ('text = "', 'text = ""', "remarks.toml: not valid TOML"),
    ],
)
def test_a_remark_on_no_claim_is_named_and_the_rest_is_shown(
    looked_at: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, says: str
) -> None:
    (looked_at / "remarks.toml").write_text(REMARK.replace(old, new))
    assert command("temo/table1", "--results", looked_at) == 1
    told = capsys.readouterr()
    assert says in told.err
    assert "gain of tuning" in told.out
    assert exit_code("verify", looked_at) == 1
    assert "remarks.toml: " in capsys.readouterr().out


@pytest.mark.parametrize("regime", ["printed", "tuned"])
def test_a_remark_stands_on_pages_of_one_regime_and_where_nothing_was_measured(
    tmp_path: Path, make_record: MakeRecord, regime: Regime
) -> None:
    """The claim on TS was not run: its rows were not asked for."""
    runs = fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH}, scale="latents", regime=regime)
    unrun = REMARK.replace("beats RN50/InfoNCE", "beats RN50/TS").replace("twice", "never")
    (runs / "remarks.toml").write_text(REMARK + unrun)
    for site in (runs / "one", runs / "both"):
        assert exit_code("report", "--results", runs, "--report", site) == 0
        pages = [
            (site / f"{name}.html").read_text("utf-8") for name in ("claims/temo-latents", "tables/temo-table1-latents")
        ]
        assert all("Looked at: Seen &lt;b&gt;twice&lt;/b&gt;." in page for page in pages)
        assert all("Looked at: Seen &lt;b&gt;never&lt;/b&gt;." in page for page in pages)
        other: Regime = "tuned" if regime == "printed" else "printed"
        fill(runs, make_record, {"InfoNCE": LOW, "TeMo": HIGH}, scale="latents", regime=other)


def test_a_second_laboratory_answers_each_verdict_that_found_a_difference(
    runs: Path, make_record: MakeRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(runs / "second", make_record, {"InfoNCE": LOW, "TeMo": HIGH}, first=100)
    assert command("temo/table1", "--results", runs, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    decided = [one for one in told["claims"] if one["headline"] and one["verdict"] == "reproduced"]
    assert [one["first"] for one in told["second_laboratory"]] == decided
    assert [one["second"]["seeds"][0] for one in told["second_laboratory"]] == [100] * len(decided)
    assert command("temo/table1", "--results", runs) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert (
        f"{len(decided)} of {len(decided)} that were run agree; {len(decided)}.0 would if the first one's were exact"
        in last
    )
    for record in (runs / "second").glob("temo-s1*.json"):
        record.rename(record.with_suffix(".kept"))
    assert command("temo/table1", "--results", runs) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "second laboratory: none was run"
    for record in (runs / "second").glob("temo-s1*.kept"):
        record.rename(record.with_suffix(".json"))
    assert exit_code("report", "--results", runs, "--report", runs / "site") == 0
    assert f"It agrees on {len(decided)} of {len(decided)}" in (runs / "site" / "index.html").read_text("utf-8")
    next((runs / "second").glob("temo-s100-*.json")).write_text("{")
    assert command("temo/table1", "--results", runs) == 1


def test_runs_that_no_table_asks_for_are_counted(
    tmp_path: Path, make_record: MakeRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH})
    assert exit_code("report", "--results", runs, "--report", tmp_path / "site") == 0
    assert "of no table" not in capsys.readouterr().out
    (request,) = (runs / "tables").glob("*.json")
    asked = json.loads(request.read_text())
    request.write_text(json.dumps({**asked, "rows": asked["rows"][:1]}))
    assert exit_code("report", "--results", runs, "--report", tmp_path / "site") == 0
    assert f"{len(HIGH)} runs of no table that was asked for here" in capsys.readouterr().out


def test_a_scale_that_no_table_has_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("temo/table1", "--scale", "featurs", "--results", runs) == 2
    assert 'scale "featurs" does not exist' in (said := capsys.readouterr().err)
    assert 'Did you mean "features"?' in said


def test_headline_claims_are_shown_and_counted_and_all_others_on_request(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    every = claims(runs, capsys)
    kinds = {claim["verdict"] for claim in every if not claim["headline"]}
    assert "exploratory" in kinds
    assert not kinds & {"reproduced", "opposite", "equivalent", "undecided"}
    shown = {}
    for options in ((), ("--exploratory",)):
        assert command("temo/table1", "--results", runs, *options) == 0
        shown[options] = capsys.readouterr().out.splitlines()
    headline = sum(bool(claim["headline"]) for claim in every)
    assert 0 < headline < len(every)
    short, long = shown.values()
    assert sum("(headline)" in line for line in short) == headline == len(short) - 2
    assert short[-2].startswith(f"{headline} headline claims: ")
    assert short[-1].startswith(f"{len(every) - headline} exploratory comparisons")
    assert len(long) == len(every) + 1


def test_a_claim_says_its_family_its_power_and_what_stands_for_its_data(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (claim,) = (one for one in claims(runs, capsys) if one["verdict"] == "reproduced")
    assert claim["family"] == "headline claims of temo at scale small"
    assert claim["stand_in"] == "all test images of scenes"
    assert isinstance(claim["seeds_for_interest"], int)
    assert isinstance(claim["family_size"], int)
    assert claim["family_size"] > 3
    assert isinstance(claim["confirmable_difference"], float)
    assert isinstance(claim["power_for_published"], float)


def test_scales_stand_beside_each_other_with_how_far_they_agree(
    tmp_path: Path, make_record: MakeRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    for scale, temo in (("small", HIGH), ("latents", TIED)):
        values = {"InfoNCE": LOW, "TeMo": temo, "CWCL": (0.2, 0.21, 0.22, 0.2)}
        fill(runs, make_record, values, scale=scale)
    assert command("temo/table1", "--results", runs, "--all-scales") == 0
    told = capsys.readouterr().out
    (line,) = (line for line in told.splitlines() if "RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1" in line)
    assert line.count("undecided") == line.count("small reproduced") == line.count("latents undecided") == 1
    assert command("temo/table1", "--results", runs, "--scale", "small", "--all-scales") == 2


def test_added_rows_are_counted_apart(
    tmp_path: Path, make_record: MakeRecord, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = fill(tmp_path / "own", make_record, {"InfoNCE": LOW, "TeMo": HIGH, "Mine": HIGH})
    added = [claim for claim in claims(runs, capsys) if claim["added"]]
    assert {claim["row"] for claim in added} == {"RN50/Mine"}
    asked = [claim for claim in added if claim["headline"]]
    assert {claim["column"] for claim in asked if claim["verdict"] == "reproduced"} == {"coco_ir1"}
    assert command("temo/table1", "--results", runs) == 0
    said = capsys.readouterr().out
    assert said.count("(added row)") == len(asked)
    assert f"{len(asked)} headline comparisons of added rows: " in said


def test_a_method_without_a_run_is_named_with_the_command_that_makes_them(
    runs: Path, plugin_file: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = plugin_file(PLUGIN)
    assert command("temo/table1", "--results", runs, "--plugin", plugin) == 0
    told = capsys.readouterr().out
    makes = f"benchsuite repro temo/table1 --rows infonce,mine --plugin FILE --results {runs}"
    assert f"has no run of mine in these tables: `{makes}`" in told
    assert command("temo/table1", "--results", runs) == 0
    assert "has no run of" not in capsys.readouterr().out


def test_a_table_without_runs_has_the_command_that_makes_them_at_its_scale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("temo/table1", "--scale", "paper", "--results", tmp_path) == 0
    assert "run `benchsuite repro temo/table1 --scale paper`, or" in capsys.readouterr().out


@pytest.mark.parametrize("option", [("--regime", "tuned"), ("--exploratory",)])
def test_all_scales_are_of_headline_claims_in_both_regimes(
    runs: Path, option: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("temo/table1", "--results", runs, "--all-scales", *option) == 2
    assert "leave out --regime and --exploratory" in capsys.readouterr().err
