import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.made_trials import trials_file
from support.measured import HIGH, LOW, fill

from benchsuite.analysis import results
from benchsuite.records.schema import Record, Result
from benchsuite.records.trials import TRIALS, write_trials

PAGE = (Path(__file__).parents[2] / "docs" / "data-frame.md").read_text("utf-8")
MakeRecord = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def make(make_record: MakeRecord) -> MakeRecord:
    """Records that also have a gap, and the same metrics on a second protocol."""
    gap = Result(task="geometry", version=1, metrics={}, counts={"pairs": 4}, measures={"gap": 0.5})

    def with_gap(*arguments: int, **changes: Any) -> tuple[Record, bytes]:
        results = changes.pop("results", make_record()[0].results)
        more = {"geometry": gap, "retrieval-galleries": results["retrieval"]}
        own = {
            name: more.get(name, result).model_copy(update={"task": result.task, "version": result.version})
            for name, result in results.items()
        }
        return make_record(*arguments, results=own, **changes)

    return with_gap


def test_the_snippets_of_the_page_answer(tmp_path: Path, make: MakeRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(tmp_path / "results", make, {"InfoNCE": LOW, "TeMo": HIGH}, scale="latents", regime="tuned")
    monkeypatch.chdir(tmp_path)
    recipes = ("emoji-pairs", "latents-pairs")
    for recipe in recipes:
        made = trials_file({"temo": 0.5, "infonce": 0.5}, recipe=recipe)
        write_trials(tmp_path / "results" / TRIALS / f"{recipe}.parquet", made)
    load, *questions = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(load, names)
    names["results"]["hp_tau"] = 0.05
    best, gap, furthest, tuned, scores = (answer(question, names) for question in questions)
    assert best["count"].to_dict() == {("RN50", "InfoNCE"): 4, ("RN50", "TeMo"): 4}
    assert gap.tolist() == [0.5]
    assert furthest.row.tolist() == ["InfoNCE", "TeMo", "InfoNCE"]
    assert sorted(tuned.index) == [
        (recipe, "RN50", name, "{}", 1.0, "tuned", 0) for recipe in recipes for name in ("infonce", "temo")
    ]
    assert (tuned.gain > 0).all()
    assert tuned.hp_tau.notna().all()
    assert {"i2t_r1", "t2i_r10", "r_mean", "gap", "uniformity_w2"} < {*scores}


def answer(question: str, names: dict[str, Any]) -> Any:
    """The value of a snippet's last line."""
    *statements, last = question.strip().splitlines()
    exec("\n".join(statements), names)
    return eval(last, names)


def test_the_page_names_every_column(tmp_path: Path, make: MakeRecord) -> None:
    folder = fill(tmp_path / "results", make, {"InfoNCE": LOW})
    first, rest = PAGE.split("## Columns of `load_table`")
    second, third = rest.split("## Columns of `load_trials`")
    named = re.findall(r"`(\w+)`", first.partition("## Columns of `load_results`")[2])
    columns = [name for name in results.load_results(folder).columns if not name.startswith("hp_")]
    assert set(columns) <= set(named)
    table = [
        name for name in results.load_table("temo/table1", "small", folder).columns if not name.startswith("seed_")
    ]
    assert set(table) <= set(re.findall(r"`(\w+)`", second))
    write_trials(folder / TRIALS / "latents-pairs.parquet", trials_file({"temo": 0.5}))
    trials = [name for name in results.load_trials(folder).columns if not name.startswith("hp_")]
    assert set(trials) <= set(re.findall(r"`(\w+)`", third))
