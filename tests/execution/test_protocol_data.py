import json
import pickle
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
from support.real_files import write_cifar, write_senteval
from torch import Tensor, nn

from benchsuite.cli.shared.options import parse_folders
from benchsuite.errors import RunError, UsageError
from benchsuite.execution.evaluate import evaluate, opened
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.sides import TrainedSides
from benchsuite.planning.data_folders import open_dataset, require_used
from benchsuite.planning.plan import plan_run
from benchsuite.planning.recipe import Recipe, read_recipe
from benchsuite.planning.resolve import resolve_setup
from benchsuite.setup import Data, Protocol, differences

IDS = [*range(10), *range(10)]


@pytest.fixture
def cifar(tmp_path: Path) -> str:
    return str(write_cifar(tmp_path / "cifar", IDS, range(10)))


def recipe(**protocols: Any) -> Recipe:
    plain = read_recipe("scenes-smoke")
    data = Data(name="scenes", options={"train": 64, "validation": 8, "test": 8, "gallery": 8})
    return plain.model_copy(update={"data": data, "protocols": protocols or plain.protocols})


ON_CIFAR = Protocol(task="zero-shot", options={"classes": "class", "templates": "names"}, data=Data(name="cifar10"))


def test_a_protocols_data_is_resolved_with_version_options_and_digest(cifar: str) -> None:
    setup = resolve_setup(recipe(real=ON_CIFAR), "RN50", {"cifar10": cifar})
    data = setup.protocols["real"].data
    assert data is not None
    assert data.version == 2
    assert data.options == {"size": 32, "fit": "crop", "imbalance": 1.0, "seed": 0, "captions": "names"}
    assert data.digest == open_dataset(data).manifest().digest
    assert data.folder == cifar


def test_the_place_is_no_part_of_the_identity_and_the_content_is(tmp_path: Path, cifar: str) -> None:
    moved = str(write_cifar(tmp_path / "moved", IDS, range(10), shards=2))
    other = str(write_cifar(tmp_path / "other", IDS, list(range(10))[::-1]))
    here, there, elsewhere = (
        resolve_setup(recipe(real=ON_CIFAR), "RN50", {"cifar10": f}) for f in (cifar, moved, other)
    )
    assert here.setup_id == there.setup_id != elsewhere.setup_id
    found = differences(here.model_dump(mode="json"), elsewhere.model_dump(mode="json"))
    assert list(found) == ["protocols.real.data.digest"]


def test_nothing_that_is_written_names_the_folder_and_what_travels_does(cifar: str) -> None:
    setup = resolve_setup(recipe(real=ON_CIFAR), "RN50", {"cifar10": cifar})
    assert cifar not in json.dumps(setup.model_dump(mode="json"))
    carried = pickle.loads(pickle.dumps(setup)).protocols["real"].data
    assert carried.folder == cifar


def test_a_folder_in_a_recipe_is_kept_apart_too(cifar: str) -> None:
    as_option = ON_CIFAR.model_copy(update={"data": Data(name="cifar10", options={"folder": cifar})})
    by_hand = resolve_setup(recipe(real=as_option), "RN50")
    assert by_hand.setup_id == resolve_setup(recipe(real=ON_CIFAR), "RN50", {"cifar10": cifar}).setup_id


def test_one_folder_serves_all_datasets_of_its_files(cifar: str) -> None:
    run = plan_run("infonce", "cifar10-smoke", "RN50", 0, {}, {"cifar10": cifar})
    assert run.setup.data.folder == cifar
    assert run.setup.protocols["knn-long-tailed-bank"].data.folder == cifar  # type: ignore[union-attr]


def test_setups_without_real_data_keep_their_identity() -> None:
    assert resolve_setup(recipe(retrieval=Protocol(task="retrieval")), "RN50").setup_id == "833eccbc36a1ba3e"


class Mean(nn.Module):
    """Embeds a picture as its mean colour."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Parameter(torch.ones(1))

    def image(self, pixels: Tensor, features: bool = False) -> Tensor:
        return self.one * pixels.mean(dim=(2, 3))


def test_protocols_are_evaluated_on_their_own_data_though_splits_share_names(tmp_path: Path, cifar: str) -> None:
    larger = str(write_cifar(tmp_path / "larger", IDS, [*IDS, *IDS]))
    nearest = {"task": "knn", "options": {"classes": "class", "k": 3}}
    protocols = {"a": Protocol(**nearest), "b": Protocol(**nearest, data=Data(name="cifar10", folder=larger))}
    plain = recipe().model_copy(update={"data": Data(name="cifar10", folder=cifar), "protocols": protocols})
    setup = resolve_setup(plain, "RN50")
    tower = cast(DualEncoder, Mean())
    trained_on = open_dataset(setup.data)

    sides = TrainedSides(tower, None, setup.image)
    both = evaluate(sides, setup.protocols, trained_on)
    assert {name: one.counts for name, one in both.items()} == {"a": {"samples": 10}, "b": {"samples": 40}}
    alone = evaluate(sides, {"b": setup.protocols["b"]}, trained_on)
    assert np.array_equal(both["b"].ranks["class"], alone["b"].ranks["class"])


def test_data_that_changed_since_the_plan_is_refused(cifar: str) -> None:
    setup = resolve_setup(recipe(real=ON_CIFAR), "RN50", {"cifar10": cifar})
    data = setup.protocols["real"].data.model_copy(update={"digest": "other"})  # type: ignore[union-attr]
    with pytest.raises(RunError, match="cifar10: the data has changed since the run was planned"):
        opened(data)


def test_a_folder_for_data_that_nobody_reads_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r'--data cifar1=...: .*dataset "cifar1" does not exist .*Did you mean "cifar10"'
    ):
        require_used(read_recipe("cifar10-smoke"), {"cifar1": "x"})
    with pytest.raises(UsageError, match=r'dataset "scenes" does not exist \(known: none\)'):
        require_used(read_recipe("scenes-smoke"), {"scenes": "x"})


@pytest.mark.parametrize("text", ["cifar10", "=x", "cifar10=", " = "])
def test_half_a_pair_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="write NAME=FOLDER"):
        parse_folders([text])


def test_folders_become_absolute_and_hub_names_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path)
    assert parse_folders(["a=here", "b=uoft-cs/cifar10"]) == {"a": str(tmp_path / "here"), "b": "uoft-cs/cifar10"}
    with pytest.raises(UsageError, match="--data a is given twice"):
        parse_folders(["a=here", "a=there"])


def on(dataset: str, frames: str | None, **protocols: Protocol) -> Recipe:
    plain = recipe()
    tower = plain.backbones["RN50"].tower
    assert tower is not None
    backbone = plain.backbones["RN50"].model_copy(update={"tower": tower.model_copy(update={"frames": frames})})
    data = Data(name=dataset, options={"train": 8, "validation": 4, "test": 4})
    return plain.model_copy(
        update={"data": data, "backbones": {"RN50": backbone}, "protocols": protocols or plain.protocols}
    )


CLIPS = Data(name="clips", options={"train": 8, "validation": 4, "test": 4})


@pytest.mark.parametrize(
    ("dataset", "frames", "protocols", "description"),
    [
        ("clips", None, {}, 'backbone RN50: image tower "test_resnet" takes images, but dataset clips shows clips'),
        ("clips", None, {}, r'frames = "mean" or "transformer"'),
        ("scenes", "mean", {}, "takes clips, but dataset scenes shows images.* without `frames`"),
        ("senteval", None, {}, "takes images, but dataset senteval shows nothing. Remove the tower"),
        ("wiki1m", None, {}, "takes images, but dataset wiki1m shows nothing"),
        ("epic-kitchens", None, {}, "takes images, but dataset epic-kitchens shows clips"),
        ("scenes", None, {"moving": Protocol(task="retrieval", data=CLIPS)}, r"protocol moving \(retrieval\): .*clips"),
        (
            "scenes",
            None,
            {"near": Protocol(task="knn", options={"classes": "verb"}, data=CLIPS)},
            r"protocol near \(knn\): image tower .*dataset clips shows clips",
        ),
    ],
)
def test_a_tower_for_what_the_data_does_not_show_is_refused_by_the_plan(
    dataset: str, frames: str | None, protocols: dict[str, Protocol], description: str
) -> None:
    with pytest.raises(UsageError, match=rf'recipe "scenes, smoke", .*{description}'):
        resolve_setup(on(dataset, frames, **protocols), "RN50")


def test_towers_that_fit_and_texts_alone_are_planned() -> None:
    assert resolve_setup(on("clips", "transformer"), "RN50").data.name == "clips"
    text = {"classes": "verb", "side": "text"}
    protocols = {task: Protocol(task=task, options=text, data=CLIPS) for task in ("knn", "knn-plain", "linear-probe")}
    protocols["shape"] = Protocol(task="geometry", options={"sides": "text"}, data=CLIPS)
    assert set(resolve_setup(on("scenes", None, **protocols), "RN50").protocols) == set(protocols)


def test_sentences_may_be_judged_whatever_the_tower(tmp_path: Path) -> None:
    folder = str(write_senteval(tmp_path / "senteval"))
    tasks = {task: Protocol(task=task, data=Data(name="senteval")) for task in ("sts", "sentence-transfer")}
    for dataset, frames in (("scenes", None), ("clips", "mean")):
        assert resolve_setup(on(dataset, frames, **tasks), "RN50", {"senteval": folder})


def test_a_text_tower_alone_is_not_asked_what_it_sees() -> None:
    plain = recipe()
    blind = plain.backbones["RN50"].model_copy(update={"tower": None})
    geometry = {"shape": Protocol(task="geometry", options={"sides": "text"})}
    alone = plain.model_copy(update={"data": CLIPS, "backbones": {"RN50": blind}, "protocols": geometry})
    assert resolve_setup(alone, "RN50").image is None
