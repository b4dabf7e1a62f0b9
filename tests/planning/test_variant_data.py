"""Variants that train on another dataset than their recipe: its folder is needed where it is used, and only there."""

from pathlib import Path

import pytest
from support.real_files import write_cifar

from benchsuite.errors import UsageError
from benchsuite.planning.plan import Plan, plan_table


@pytest.fixture
def cifar10(tmp_path: Path) -> str:
    return str(write_cifar(tmp_path / "cifar10", [*range(10)], range(10)))


@pytest.fixture
def cifar100(tmp_path: Path) -> str:
    return str(write_cifar(tmp_path / "cifar100", [*range(100)], range(100), label="fine_label"))


def trained_on(plan: Plan) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for run in plan.runs:
        found.setdefault(run.row.rpartition(" ")[2], set()).add(run.setup.data.name)
    return found


def test_parts_train_on_the_folders_that_are_given_for_them(cifar10: str, cifar100: str) -> None:
    plan = plan_table("dystress/table3", "cifar", folders={"cifar10": cifar10, "cifar100": cifar100})
    assert trained_on(plan) == {"CIFAR10": {"cifar10"}, "CIFAR100": {"cifar100"}}


def test_a_part_without_its_folder_is_left_out_with_what_to_add(cifar10: str) -> None:
    plan = plan_table("dystress/table3", "cifar", folders={"cifar10": cifar10})
    assert trained_on(plan) == {"CIFAR10": {"cifar10"}}
    reasons = [reason for reason in plan.not_run if "no data was given: add --data cifar100=FOLDER" in reason]
    assert len(reasons) >= 4


def test_a_table_of_nothing_else_is_refused(cifar10: str) -> None:
    with pytest.raises(UsageError, match=r"table9 at scale cifar: nothing can be run: .* --data cifar100=FOLDER"):
        plan_table("dystress/table9", "cifar", folders={"cifar10": cifar10})


def test_the_recipes_own_data_must_still_be_given(cifar100: str) -> None:
    plan = plan_table("dystress/table3", "cifar", folders={"cifar100": cifar100})
    assert ["Add --data cifar10=FOLDER" in problem.what for problem in plan.problems] == [True]


def test_a_folder_that_neither_recipe_nor_variant_reads_is_still_refused(cifar10: str) -> None:
    with pytest.raises(UsageError, match='dataset "coco" does not exist'):
        plan_table("dystress/table3", "cifar", folders={"cifar10": cifar10, "coco": cifar10})
