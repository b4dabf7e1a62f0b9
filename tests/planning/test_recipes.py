"""Every recipe file that ships, against the code it is for: no data and no download is needed to find a mistake."""

import importlib.util
import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
import torch
from torch import nn

from benchsuite.data import PairDataset, create_dataset
from benchsuite.data.embeddings import create_embedding
from benchsuite.evaluation.base import create_task
from benchsuite.models.towers import image_encoder, text_config
from benchsuite.planning.columns import metrics_of
from benchsuite.planning.data_folders import read_by, require_fitting
from benchsuite.planning.recipe import Recipe, read_recipe, recipe_names
from benchsuite.planning.subjects import judged_by
from benchsuite.setup import Data, Expert, Setup
from benchsuite.torchvision_ops import make_importable
from benchsuite.tower_settings import ImageTower
from benchsuite.training.engine import make_optimizer

make_importable()
import timm  # noqa: E402

RECIPES = {name: read_recipe(name) for name in recipe_names()}
PAPER = sorted(name for name in RECIPES if name.endswith("-paper"))
OF_NO_PAPER = {"cc3m-100k-gpu", "pairs-gpu", "images-gpu", "finetune-gpu"}
"""Scales for one GPU that shorten no recipe of a paper."""
SHORTENED = sorted(name for name in RECIPES if name.endswith("-gpu") and name not in OF_NO_PAPER)
SMOKE = sorted(name for name in RECIPES if name.endswith("-smoke") and name.replace("-smoke", "-small") in RECIPES)
EPOCHS = {
    "cc3m-paper": (2_900_000, 30),
    "cc3m-100k-gpu": (100_000, 30),
    "coco-paper": (113_287, 100),
    "coco-gpu": (113_287, 30),
    "epic-paper": (67_217, 100),
    "epic-gpu": (67_217, 10),
    "youcook2-paper": (10_337, 30),
    "ssv2-lt-paper": (50_000, 10),
    "cifar-paper": (50_000, 200),
    "cifar-gpu": (50_000, 50),
    "imagenet100-paper": (126_689, 400),
    "imagenet1k-paper": (1_281_167, 100),
    "wiki1m-paper": (1_000_000, 1),
}
"""Training items as published, and how many epochs the paper or the shortened recipe trains."""
each_recipe = pytest.mark.parametrize("name", sorted(RECIPES))


def setups(recipe: Recipe) -> Iterator[Setup]:
    yield from (recipe.setup(backbone) for backbone in recipe.backbones)


@each_recipe
def test_its_towers_are_for_what_its_data_show(name: str) -> None:
    for setup in setups(RECIPES[name]):
        require_fitting(name, setup)


@each_recipe
def test_its_image_towers_can_be_made(name: str) -> None:
    for setup in setups(RECIPES[name]):
        if setup.image is not None and not (setup.image.mlp or setup.image.model):
            with torch.device("meta"):
                assert image_encoder(setup.image.model_copy(update={"pretrained": False})).width > 0
            assert not setup.image.pretrained or has_weights(setup.image)


def has_weights(tower: ImageTower) -> bool:
    """Whether timm knows weights by exactly this name; which ones a name without a tag means has changed before."""
    return "." in tower.timm and tower.timm in timm.list_models(pretrained=True)


@each_recipe
def test_its_text_tower_can_be_configured_and_reads_as_many_tokens_as_it_is_given(name: str) -> None:
    text = RECIPES[name].text
    if text is not None and (text.mlp or text.model):
        return
    if text is not None and not text.pretrained:
        assert text.vocabulary is not None
        assert text_config(text, text.vocabulary).max_position_embeddings >= text.max_tokens
    elif text is not None:
        assert text.max_tokens <= 512


@each_recipe
def test_its_optimizer_can_be_made_and_its_rate_falls(name: str) -> None:
    recipe = RECIPES[name]
    groups = [{"params": [nn.Parameter(torch.zeros(2, 2))], "weight_decay": recipe.optimizer.weight_decay}]
    assert make_optimizer(groups, recipe.optimizer).param_groups[0]["lr"] == recipe.optimizer.lr
    assert recipe.schedule.final_lr < recipe.optimizer.lr
    if "first-steps" not in name:  # the beginning of a longer training
        assert recipe.schedule.warmup_steps < recipe.training.steps


@each_recipe
def test_its_data_sets_take_the_options_they_are_given(name: str) -> None:
    for data in read_by(RECIPES[name]):
        assert create_dataset(data.name, **data.options).options().keys() >= data.options.keys()
        assert "folder" not in data.options


@each_recipe
def test_its_protocols_ask_for_splits_classes_and_prompts_that_there_are(name: str) -> None:
    recipe = RECIPES[name]
    of_trials = recipe.tuning.protocols if recipe.tuning else {}
    for protocol in (*recipe.protocols.values(), *recipe.with_classes.values(), *of_trials.values()):
        options = create_task(protocol.task, **protocol.options).options()
        data = protocol.data or recipe.data
        only = data.options.get("only")
        assert only in (None, options.get("split"))
        dataset = create_dataset(data.name, **data.options)
        for option, what in (("classes", "class_names"), ("templates", "templates")):
            if options.get(option) and (names := known(dataset, what)) is not None:
                assert options[option] in names


def known(dataset: PairDataset, what: str) -> Mapping[str, Any] | None:
    """Sets of classes or prompts by name; None where only the files say, or a library that is not installed."""
    values = inspect.getattr_static(dataset, what)
    if isinstance(values, Mapping):
        return values
    if dataset.card.name == "features":
        return None
    installed = what == "templates" and importlib.util.find_spec("clip_benchmark")
    return cast(Mapping[str, Any], getattr(dataset, what)) if installed else None


@each_recipe
def test_its_clusters_and_experts_can_be_made(name: str) -> None:
    recipe = RECIPES[name]
    experts = [expert for expert in (recipe.experts.image, recipe.experts.text) if expert] if recipe.experts else []
    clusters = recipe.clusters
    if clusters and clusters.labels is None:
        experts.append(Expert(embedding=clusters.embedding, options=clusters.options))
    for expert in experts:
        create_embedding(expert.embedding, **expert.options)
        assert expert.embedding != "timm" or expert.options["model"] in timm.list_models(pretrained=True)


@each_recipe
def test_images_are_as_large_as_its_towers_want_them_wherever_they_come_from(name: str) -> None:
    recipe = RECIPES[name]
    sizes = {side(data) for data in read_by(recipe) if recipe.setup(next(iter(recipe.backbones))).image} - {None}
    assert len(sizes) <= 1
    for setup in setups(recipe):
        if setup.image is not None and (size := setup.image.options.get("img_size")) and sizes:
            assert sizes == {size}


def test_a_variant_of_another_size_judges_its_trials_at_that_size() -> None:
    recipe = RECIPES["cc3m-paper"]
    assert recipe.tuning
    for variant, size in (("", 256), ("CC12M", 224)):
        setup = judged_by(recipe.tuning, recipe).setup("ViT-B/16", [variant])
        assert {side(data) for data in read_by(setup)} == {size}
        assert [*setup.protocols] == ["validation"]


@pytest.mark.parametrize(
    "name", ["cc3m-paper", "cc3m-100k-gpu", "cc12m-paper", "coco-paper", "coco-gpu", "ssv2-lt-paper"]
)
def test_at_the_papers_size_a_command_searches_only_if_it_is_asked_to(name: str) -> None:
    recipe = RECIPES[name]
    assert recipe.regime == "printed"
    assert recipe.tuning
    assert (recipe.tuning.count("printed", None), recipe.tuning.count("tuned", None)) == (0, 8)


def side(data: Data) -> int | None:
    """Pixels of a side; None for sentences, and for synthetic data, whose size recipes know."""
    options = create_dataset(data.name, **data.options).options()
    return options.get("size") if data.name not in ("wiki1m", "senteval") else None


@pytest.mark.parametrize("name", sorted(EPOCHS))
def test_its_steps_are_the_epochs_it_says(name: str) -> None:
    items, epochs = EPOCHS[name]
    training = RECIPES[name].training
    assert training.steps == pytest.approx(items // training.batch * epochs, rel=0.001)


@pytest.mark.parametrize("name", PAPER)
def test_a_papers_recipe_says_what_it_leaves_open_in_whole_sentences(name: str) -> None:
    recipe = RECIPES[name]
    assert recipe.assumptions
    assert all(re.fullmatch(r"[A-Z].*\.", sentence) for sentence in recipe.assumptions)
    assert recipe.temperature_factor == 1


@pytest.mark.parametrize("name", SHORTENED)
def test_a_shortened_recipe_says_first_what_was_shortened(name: str) -> None:
    assert RECIPES[name].assumptions[0].startswith("Shortened: ")


def test_the_papers_protocols_have_the_names_that_tables_use() -> None:
    def protocols(name: str) -> set[str]:
        return set(RECIPES[name].protocols)

    pairs = {"retrieval-coco", "retrieval-flickr30k", "zero-shot-cifar10", "zero-shot-cifar100", "zero-shot-imagenet1k"}
    assert protocols("cc3m-paper") >= pairs | {"knn-cifar10", "knn-cifar100", "geometry"}
    assert len([name for name in protocols("cc3m-paper") if name.startswith("zero-shot-")]) == 17
    assert protocols("cc12m-paper") >= pairs
    assert protocols("cc3m-100k-gpu") >= {"retrieval-coco", "zero-shot-imagenet1k"}
    gap = {"retrieval-coco", "zero-shot-cifar10", "linear-probe-cifar10", "geometry", "mmvp"}
    assert protocols("coco-paper") == protocols("coco-gpu") == gap
    assert protocols("epic-paper") == protocols("epic-gpu") == {"multi-instance"}
    assert protocols("youcook2-paper") == protocols("ssv2-lt-paper") == {"retrieval"}
    assert protocols("cifar-paper") == protocols("cifar-gpu") == protocols("cifar-small")
    assert protocols("wiki1m-paper") == {"sts", "transfer"}


def test_a_shortened_recipe_differs_from_the_papers_in_nothing_else() -> None:
    changed = {"coco": {"training", "schedule"}, "cifar": {"training"}, "epic": {"training", "schedule", "data"}}
    for track, allowed in changed.items():
        whole, short = (RECIPES[f"{track}-{scale}"] for scale in ("paper", "gpu"))
        parts = set(Setup.model_fields) & set(Recipe.model_fields)
        assert {part for part in parts if getattr(whole, part) != getattr(short, part)} <= allowed
        assert whole.backbones == short.backbones


@pytest.mark.parametrize("part", ["protocols", "backbones", "variants", "stand_ins", "missing"])
@pytest.mark.parametrize("smoke", SMOKE)
def test_what_smoke_checks_is_what_small_runs(smoke: str, part: str) -> None:
    small = RECIPES[smoke.replace("-smoke", "-small")]
    assert set(getattr(RECIPES[smoke], part)) == set(getattr(small, part))


@each_recipe
def test_why_something_is_missing_is_said_of_its_own_scale(name: str) -> None:
    own = name.rpartition("-")[2]
    for what, reason in RECIPES[name].missing.items():
        named = re.findall(r"\b(?:at|in) `?(smoke|small|latents|emoji|cifar|gpu|paper)\b", reason)
        assert set(named) <= {own}, f"{what}: {reason}"


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_protocol_is_judged_by_is_what_its_task_measures(name: str) -> None:
    recipe = RECIPES[name]
    tasks = {key: protocol.task for key, protocol in {**recipe.protocols, **recipe.with_classes}.items()}
    assert recipe.primary
    assert [key for key, primary in recipe.primary.items() if primary.metric not in metrics_of(tasks[key])] == []
