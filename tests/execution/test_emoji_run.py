"""The scale `emoji`: tables are planned on packages, and a tiny run on them fills a record."""

import pytest
from support.npm_files import emoji_packages, packed

from benchsuite.execution.measure import measure
from benchsuite.papers import read_table
from benchsuite.planning.columns import measured_columns
from benchsuite.planning.plan import Run, plan_table
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_method, resolve_setup
from benchsuite.records.schema import run_id


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    packages = packed(tmp_path_factory.mktemp("packages"), emoji_packages())
    return {"emoji": str(packages), "emoji.test": "4", "emoji.validation": "2"}


@pytest.mark.parametrize(("table", "column"), [("temo/table1", "coco_ir1"), ("dystress/table4", "")])
def test_a_table_is_planned_on_packages(folders: dict[str, str], table: str, column: str) -> None:
    plan = plan_table(table, "emoji", [0], folders=folders)
    assert plan.runs
    assert not plan.problems
    measured = measured_columns(read_table(table), read_recipe(read_table(table).recipes["emoji"]))
    assert not column or measured.stand_ins[column] == "the 800 test pictures of emoji, each with its name"


def test_without_data_a_plan_says_what_to_add() -> None:
    plan = plan_table("temo/table1", "emoji", [0])
    assert not plan.runs
    assert all("Add --data emoji=FOLDER" in problem.what for problem in plan.problems)
    assert plan.problems


def test_a_run_with_text_views_fills_a_record(folders: dict[str, str]) -> None:
    whole = read_recipe("emoji-pairs")
    chosen = {name: whole.protocols[name] for name in ("retrieval", "zero-shot-group", "knn-subgroup")}
    training = whole.training.model_copy(update={"batch": 8, "steps": 2})
    changed = whole.model_copy(update={"protocols": chosen, "training": training, "clusters": None, "experts": None})
    setup = resolve_setup(changed, "RN50", folders)
    part = resolve_method("amclr", {}, 1.0)
    record = measure(
        Run(run_id=run_id(setup.setup_id, part.method_id, 0), setup=setup, method=part, seed=0, label="", estimate=0.0)
    )[0]
    assert set(record.results) == set(chosen)
    assert record.results["retrieval"].counts == {"i2t": 4, "t2i": 4}
    stored = str({key: value for key, value in record.as_json().items() if key != "environment"})
    assert folders["emoji"] not in stored
