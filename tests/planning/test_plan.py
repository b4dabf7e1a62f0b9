from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchsuite.errors import UsageError
from benchsuite.paths import baselines
from benchsuite.planning.plan import plan_run, plan_table, plan_under
from benchsuite.planning.recipe import read_recipe, recipe_name
from benchsuite.planning.resolve import resolve_method
from benchsuite.registry import load_plugin
from benchsuite.work.duration import estimated_seconds

WRITE = Callable[..., Path]
NAMESAKE = """
from benchsuite.methods.infonce import InfoNCE
from benchsuite.registry import register_method

@register_method("{name}", title="{title}")
class Another(InfoNCE):
    "Another."
"""


def test_rows_are_chosen_by_method_label_or_backbone_and_label() -> None:
    def chosen(*rows: str) -> list[str]:
        return plan_table("temo/table1", "smoke", [0], rows).request.rows

    assert chosen("infonce") == ["RN50/InfoNCE", "ViT-B/16/InfoNCE"]
    assert chosen("TeMo") == ["RN50/TeMo", "ViT-B/16/TeMo"]
    assert chosen("RN50/TS", "infonce") == ["RN50/InfoNCE", "RN50/TS", "ViT-B/16/InfoNCE"]
    added = plan_table("temo/table1", "smoke", [0], ["sogclr"]).request.added
    assert [(one.method, one.backbone) for one in added] == [("sogclr", "RN50"), ("sogclr", "ViT-B/16")]


def test_every_temperature_is_scaled_by_the_recipes_factor_and_nothing_else() -> None:
    part = resolve_method("temo", {"tau_alpha": 0.08}, 5.0)
    assert part.hyperparameters["tau_alpha"] == pytest.approx(0.4)
    assert part.hyperparameters["tau"] == pytest.approx(0.05)
    assert resolve_method("ts", {}, 5.0).hyperparameters["periods"] == 5.0


def test_seeds_share_a_setup_and_have_runs_of_their_own() -> None:
    plan = plan_table("temo/table1", "smoke", [0, 7], ["RN50/InfoNCE", "RN50/TS"])
    assert len({run.setup.setup_id for run in plan.runs}) == 1
    assert len({run.run_id for run in plan.runs}) == 4
    assert {run.seed for run in plan.runs} == {0, 7}


def test_methods_with_views_are_estimated_to_take_longer() -> None:
    plain, views, three = (plan_run(name, "scenes-smoke", "RN50", 0, {}) for name in ("infonce", "temo", "slip"))
    assert views.estimate == pytest.approx(2 * plain.estimate)
    assert three.estimate == pytest.approx(2 * plain.estimate)
    assert estimated_seconds([plain, views], 2, {}) == pytest.approx(views.estimate)


def test_accumulated_losses_are_in_the_estimate() -> None:
    recipe = read_recipe("scenes-smoke")
    twice = recipe.model_copy(update={"training": recipe.training.model_copy(update={"accumulation": 2})})
    once, doubled = (plan_under(r, "infonce", "RN50", 0, {}).estimate for r in (recipe, twice))
    assert doubled == pytest.approx(2 * once)


def test_what_a_run_took_before_replaces_the_guess() -> None:
    run = plan_run("infonce", "scenes-smoke", "RN50", 0, {})
    measured = [
        SimpleNamespace(
            setup=run.setup,
            setup_id=run.setup.setup_id,
            method=run.method,
            cost={"seconds": seconds, "evaluation_seconds": 30.0},
        )
        for seconds in (70.0, 60.0, 900.0)  # the last one beside other work
    ]
    other = SimpleNamespace(setup_id="other", method=run.method, cost={"seconds": 9000.0})
    records: Any = dict(enumerate([*measured, other]))
    assert estimated_seconds([run, run], 1, records) == 200
    assert estimated_seconds([run, run], 2, records) == 100


def test_an_evaluation_takes_as_long_as_that_of_any_run_that_was_evaluated_alike() -> None:
    one, other = (plan_run(name, "scenes-smoke", "RN50", 0, {}) for name in ("infonce", "ts"))
    runs: Any = {
        str(seconds): SimpleNamespace(
            setup=one.setup,
            setup_id=one.setup.setup_id,
            method=one.method,
            cost={"seconds": 1.0, "evaluation_seconds": seconds},
        )
        for seconds in (30.0, 40.0, 90.0)
    }
    assert one.setup.setup_id == other.setup.setup_id
    assert estimated_seconds([other], 1, runs) == pytest.approx(other.estimate + 40)
    another_tower = plan_run("ts", "scenes-smoke", "ViT-B/16", 0, {})
    assert estimated_seconds([another_tower], 1, runs) == pytest.approx(another_tower.estimate + 40)
    elsewhere = plan_run("ts", "latents-pairs", "RN50", 0, {})
    assert estimated_seconds([elsewhere], 1, runs) == pytest.approx(elsewhere.estimate)


def test_a_plugin_cannot_take_a_printed_rows_place(plugin_file: WRITE) -> None:
    load_plugin(plugin_file(NAMESAKE.format(name="mytemo", title="TeMo")))
    with pytest.raises(UsageError, match='has a row "TeMo": give method "mytemo" another title'):
        plan_table("temo/table1", "smoke", [0], ["mytemo"])


def test_a_plugins_methods_are_rows_unless_rows_are_named(plugin_file: WRITE) -> None:
    load_plugin(plugin_file(NAMESAKE.format(name="mine", title="Mine")))
    all_rows = plan_table("temo/table1", "smoke", [0], extra=["mine"]).request.added
    named = plan_table("temo/table1", "smoke", [0], ["infonce"], extra=["mine"]).request.added
    assert [(row.method, row.backbone) for row in all_rows] == [("mine", "RN50"), ("mine", "ViT-B/16")]
    assert not named


def test_a_run_knows_its_recipes_name_and_no_folder_and_its_identity_neither(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text((baselines() / "recipes" / "scenes-smoke.toml").read_text())
    built_in, own = (plan_run("infonce", name, "RN50", 0, {}) for name in ("scenes-smoke", str(tmp_path / "mine.toml")))
    assert (built_in.recipe, recipe_name(own.recipe)) == ("scenes-smoke", "mine")
    assert built_in.run_id == own.run_id
    assert {run.recipe for run in plan_table("temo/table1", "smoke", [0]).runs} == {"scenes-smoke"}


def test_a_recipe_may_lie_anywhere(tmp_path: Path) -> None:
    text = (baselines() / "recipes" / "scenes-smoke.toml").read_text().replace("steps = 15", "steps = 3")
    (tmp_path / "mine.toml").write_text(text)
    assert read_recipe(str(tmp_path / "mine.toml")).training.steps == 3
    with pytest.raises(UsageError, match="no such file"):
        read_recipe(str(tmp_path / "absent.toml"))


def test_a_record_names_a_users_file_without_its_folder(plugin_file: WRITE) -> None:
    load_plugin(plugin_file(NAMESAKE.format(name="mine", title="Mine")))
    assert resolve_method("mine", {}, 1.0).owner == "mine.py"
    assert resolve_method("infonce", {}, 1.0).owner == "benchsuite.methods.infonce"
