"""One tiny run on real layouts, from plan to sealed record."""

from pathlib import Path

import pytest
from support.real_files import write_cifar, write_mmvp, write_senteval

from benchsuite.execution.measure import measure
from benchsuite.planning.plan import Run
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_method, resolve_setup
from benchsuite.records.schema import Record, run_id
from benchsuite.setup import Data, Protocol

IDS = [*range(10)] * 4


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    root = tmp_path_factory.mktemp("real")
    folders = {
        "cifar10": str(write_cifar(root / "cifar", IDS, IDS)),
        "mmvp": str(write_mmvp(root / "mmvp")),
        "senteval": str(write_senteval(root / "senteval")),
    }
    sentences = Data(name="senteval")
    protocols = {
        "zero-shot": Protocol(task="zero-shot", options={"classes": "class", "templates": "names"}),
        "mmvp": Protocol(task="mmvp", data=Data(name="mmvp", options={"size": 32})),
        "sts": Protocol(task="sts", data=sentences),
        "transfer": Protocol(task="sentence-transfer", options={"folds": 2, "sets": ["MR", "TREC"]}, data=sentences),
    }
    recipe = read_recipe("cifar10-smoke")
    training = recipe.training.model_copy(update={"batch": 8, "steps": 2})
    setup = resolve_setup(
        recipe.model_copy(update={"protocols": protocols, "training": training, "experts": None}), "RN50", folders
    )
    method = resolve_method("infonce", {}, 1.0)
    ids = run_id(setup.setup_id, method.method_id, 0)
    return measure(Run(run_id=ids, setup=setup, method=method, seed=0, label="tiny", estimate=0.0))[0]


def test_the_record_answers_every_protocol(record: Record) -> None:
    assert set(record.results["zero-shot"].metrics) == {"top1", "top3", "top5"}  # of ten classes
    assert record.results["mmvp"].counts == {"pairs": 9}
    assert set(record.results["sts"].measures) >= {"STS12", "SICK-R", "average"}
    assert record.results["sts"].metrics == {}
    assert set(record.results["transfer"].metrics) == {"MR", "TREC", "average"}


def test_the_record_names_each_protocols_data_and_no_place(record: Record, tmp_path: Path) -> None:
    stored = record.as_json()
    data = {name: one["data"] for name, one in stored["setup"]["protocols"].items()}
    assert data["zero-shot"] is None
    assert data["mmvp"]["digest"] != data["sts"]["digest"] == data["transfer"]["digest"]
    assert str(tmp_path.parent) not in str({key: value for key, value in stored.items() if key != "environment"})
    assert Record.model_validate(stored) == record
