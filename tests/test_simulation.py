"""benchmarks/verdicts.py: what it counts as wrong, and whether docs/statistics.md has the table that it makes."""

import sys
from pathlib import Path

import pytest
from support.files_of import module_of

from benchsuite.analysis.verdict import Kind, Verdict

ROOT = Path(__file__).parents[1]
simulation = module_of(ROOT / "benchmarks" / "verdicts.py")
BY_NAME = {scenario.name: scenario for scenario in simulation.SCENARIOS}


@pytest.mark.parametrize(
    ("kind", "truth", "wrong"),
    [
        ("reproduced", 0.001, False),
        ("reproduced", 0.0, True),
        ("opposite", 0.02, True),
        ("opposite", -0.02, False),
        ("equivalent", 0.0, False),
        ("equivalent", simulation.INTEREST, True),
        ("undecided", 0.02, False),
    ],
)
def test_a_verdict_is_wrong_where_it_contradicts_the_truth(kind: Kind, truth: float, wrong: bool) -> None:
    assert simulation.is_wrong(Verdict(kind, ""), truth) == wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", [one.name for one in simulation.SCENARIOS if one.name.startswith("equal")])
def test_equal_rows_seldom_have_a_verdict_whatever_their_searches_do(name: str) -> None:
    """Three standard errors above 5%; where replicates are no replicates, more: the simulation sees faults."""
    tables = 200
    counts = simulation.simulate(BY_NAME[name], 10, tables)
    bound = 0.05 + 3 * (0.05 * 0.95 / tables) ** 0.5
    faulty = BY_NAME[name].once or BY_NAME[name].alike > 0.3
    assert (counts.wrong / tables > 2 * bound) if faulty else (counts.wrong / tables <= bound)
    assert faulty or 0.9 < counts.held / counts.claims < 0.99
    assert sum(counts.kinds.values()) == counts.claims == 8 * tables


@pytest.mark.slow
def test_what_is_there_is_found_as_often_as_its_power_says() -> None:
    ahead, near = (
        simulation.simulate(BY_NAME[f"ahead by {how} the smallest difference"], 10, 40) for how in ("twice", "half of")
    )
    assert ahead.kinds["reproduced"] > 0.95 * ahead.claims
    assert ahead.wrong == near.wrong == 0
    declared = sum(near.power) / len(near.power)
    assert abs(near.kinds["reproduced"] / near.claims - declared) < 0.15


@pytest.mark.slow
def test_the_page_has_the_tables_that_the_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text((ROOT / "docs" / "statistics.md").read_text("utf-8"), "utf-8")
    monkeypatch.setattr(sys, "argv", ["verdicts.py", "--repeats", "4", "--out", str(page)])
    simulation.main()
    (before, made, after), (old_before, old, old_after) = (
        simulation.split(text)
        for text in (page.read_text("utf-8"), (ROOT / "docs" / "statistics.md").read_text("utf-8"))
    )
    assert (before, after) == (old_before, old_after)
    assert made != old
    assert [line.split(" | ")[:2] for line in made.splitlines() if line.startswith("|")] == [
        line.split(" | ")[:2] for line in old.splitlines() if line.startswith("|")
    ]
