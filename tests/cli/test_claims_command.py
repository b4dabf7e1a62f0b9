import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from support.commands import exit_code
from support.measured import HIGH, LOW, TIED, fill

from benchsuite.records.schema import Record

command = partial(exit_code, "claims")
STAND_IN = {"stand_ins": {"coco_ir1": "synthetic images"}}


@pytest.fixture
def runs(tmp_path: Path, make_record: Callable[..., tuple[Record, bytes]]) -> Path:
    return fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH}, **STAND_IN)


def claims(runs: Path, capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    assert command("temo/table1", "--results", runs, "--json", *options) == 0
    found = json.loads(capsys.readouterr().out)["claims"]
    assert isinstance(found, list)
    return found


def test_a_table_in_both_regimes_ends_with_what_became_of_each_headline(
    tmp_path: Path, make_record: Callable[..., tuple[Record, bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = fill(tmp_path / "runs", make_record, {"InfoNCE": LOW, "TeMo": HIGH}, **STAND_IN)
    fill(runs, make_record, {"InfoNCE": LOW, "TeMo": TIED}, mark=" tuned", **STAND_IN, regime="tuned")
    assert command("temo/table1", "--results", runs, "--json") == 0
    both = json.loads(capsys.readouterr().out)["both_regimes"]
    found = {one["outcome"]: one for one in both}
    assert "gain of tuning" in found
    one = found["gain of tuning"]
    assert (one["printed"]["verdict"], one["tuned"]["verdict"]) == ("reproduced", "undecided")
    assert command("temo/table1", "--results", runs) == 0
    assert "gain of tuning (better as printed only" in capsys.readouterr().out
    assert command("temo/table1", "--results", runs, "--json", "--regime", "tuned") == 0
    assert json.loads(capsys.readouterr().out)["both_regimes"] == []


def test_claims_are_chosen_by_verdict_and_by_headline(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = claims(runs, capsys)
    kinds = {str(claim["verdict"]) for claim in every}
    assert {"reproduced", "not selected", "not run"} <= kinds
    two = claims(runs, capsys, "--kind", "reproduced, not run")
    assert two == [claim for claim in every if claim["verdict"] in ("reproduced", "not run")]
    headline = claims(runs, capsys, "--headline")
    assert headline == [claim for claim in every if claim["headline"]]
    assert 0 < len(headline) < len(every)
    both = claims(runs, capsys, "--headline", "--kind", "reproduced")
    assert both == [claim for claim in headline if claim in two and claim["verdict"] == "reproduced"]


def test_a_claim_says_its_family_its_power_and_what_stands_for_its_data(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (claim,) = claims(runs, capsys, "--headline", "--kind", "reproduced")
    assert claim["family"] == "headline claims of temo at scale small"
    assert (claim["stand_in"], claim["seeds_for_interest"]) == ("synthetic images", None)
    assert isinstance(claim["family_size"], int)
    assert claim["family_size"] > 3
    assert isinstance(claim["confirmable_difference"], float)
    assert isinstance(claim["power_for_published"], float)
    assert command("temo/table1", "--results", runs, "--headline", "--kind", "reproduced") == 0
    told = capsys.readouterr().out
    assert told.startswith(
        "temo/table1 at scale small, on a stand-in: RN50/TeMo beats RN50/InfoNCE on MSCOCO IR@1 (headline)"
    )
    assert told.endswith("\n1 claim: 1 reproduced\n")


def test_a_verdict_that_does_not_exist_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("temo/table1", "--results", runs, "--kind", "reprodced") == 2
    told = capsys.readouterr().err
    assert '--kind: verdict "reprodced" does not exist' in told
    assert 'Did you mean "reproduced"?' in told


def test_added_rows_are_shown_alone(
    tmp_path: Path, make_record: Callable[..., tuple[Record, bytes]], capsys: pytest.CaptureFixture[str]
) -> None:
    runs = fill(tmp_path / "own", make_record, {"InfoNCE": LOW, "TeMo": HIGH, "Mine": HIGH})
    every, added = claims(runs, capsys), claims(runs, capsys, "--added")
    assert {claim["row"] for claim in added} == {"RN50/Mine"}
    assert added == [claim for claim in every if claim["added"]]
    assert claims(runs, capsys, "--added", "--kind", "reproduced") == [
        claim for claim in added if claim["verdict"] == "reproduced"
    ]
    assert command("temo/table1", "--results", runs, "--added") == 0
    said = capsys.readouterr().out
    assert said.count("(added row)") == len(added) == said.count("\n") - 1, "no other claims"
    assert said.splitlines()[-1].startswith(f"{len(added)} comparisons of added rows: ")
    assert command("temo/table1", "--results", runs) == 0
    own, apart = capsys.readouterr().out.splitlines()[-2:]
    assert own.startswith(f"{len(every) - len(added)} claims: ")
    assert apart == said.splitlines()[-1]
    assert command("temo/table1", "--results", runs, "--added", "--headline") == 2
    assert "--headline and --added exclude each other" in capsys.readouterr().err
