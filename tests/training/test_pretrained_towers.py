"""Sides of pretrained models as towers: what is trained of them, by which methods, and how a training goes on."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support.forged import RECIPE, measured
from support.own_tables import NAME, TABLE, own_folder
from support.peers import transformers_clip, transformers_text
from support.resuming import require_equal, stopped_and_resumed, trained

from benchsuite.analysis.building import build_views
from benchsuite.data.base import Split
from benchsuite.errors import UsageError
from benchsuite.execution.ticket import Ticket
from benchsuite.folders import use_folders
from benchsuite.methods import create_method
from benchsuite.models.clip_models import transformers_model
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.judged import judged
from benchsuite.models.pretrained import choose_trained, merge_lora, opened
from benchsuite.models.sides import TrainedSides
from benchsuite.models.towers import ImageEncoder
from benchsuite.models.vectors import text_reader
from benchsuite.planning.data_folders import require_fitting, require_used
from benchsuite.planning.plan import make_run, plan_table
from benchsuite.planning.recipe import read_recipe
from benchsuite.planning.resolve import resolve_method, with_models
from benchsuite.records.store import Store
from benchsuite.setup import Data, Protocol, Setup
from benchsuite.tower_settings import ImageTower, TextTower
from benchsuite.training.engine import parameter_groups
from benchsuite.training.loop import train

Make = Callable[..., Setup]
MODELS = ("clip", "open_clip", "siglip")


@pytest.mark.parametrize("kind", MODELS)
def test_towers_start_as_the_model_is(kind: str, tuning: Make, models: dict[str, str], split: Split) -> None:
    setup = tuning(kind)
    _, found, weights = opened(models[kind])
    assert setup.image
    assert setup.text
    assert (setup.text.max_tokens, setup.text.weights, setup.image.weights) == (found.max_tokens, weights, weights)
    assert (setup.image.mean, setup.image.std) == tuple(map(tuple, found.pictures[1:3]))
    encoder = seeded_encoder(setup, 0, 0)
    sides, model = TrainedSides(encoder, text_reader(setup, split), setup.image), judged(models[kind])
    texts = [captions[0] for captions in split.captions[:9]]
    for features in (False, True):
        assert torch.equal(sides.pictures(split.images[:9], features), model.sides.pictures(split.images[:9], features))
        assert torch.equal(sides.texts(texts, features), model.sides.texts(texts, features))


@pytest.mark.parametrize("kind", ["vit", "resnet"])
def test_a_timm_folder_is_an_image_tower(kind: str, of_timm: Make, models: dict[str, str], split: Split) -> None:
    """With the mean, deviation and size of its pictures, and a projection of its own."""
    setup = of_timm(kind)
    assert setup.image
    assert (setup.image.mean, setup.image.std) == ((0.4, 0.5, 0.6), (0.2, 0.3, 0.4))
    assert (setup.image.model, setup.image.weights) == (f"timm:{kind}", opened(models[kind])[2])
    assert models[kind] not in setup.model_dump_json()
    encoder = seeded_encoder(setup, 0, 0)
    sides, model = TrainedSides(encoder, None, setup.image), judged(models[kind])
    assert torch.equal(sides.pictures(split.images[:9], features=True), model.sides.pictures(split.images[:9]))
    assert sides.pictures(split.images[:9]).shape == (9, setup.projection.width)


TIMM_WAYS: list[tuple[str, dict[str, Any], str]] = [
    ("resnet", {}, r"image_(tower|projection).*(weight|bias|running_mean|running_var|num_batches_tracked)"),
    ("vit", {"train": "last 1"}, r"image_projection|blocks\.1\.|model\.norm\."),
    ("vit", {"train": "lora", "lora": {"rank": 2, "targets": ["qkv"]}}, "image_projection|lora_"),
    ("resnet", {"train": "none"}, "image_projection"),
]


@pytest.mark.parametrize(("kind", "image", "moves"), TIMM_WAYS)
def test_a_timm_folder_is_trained_as_far_as_was_asked(
    kind: str, image: dict[str, Any], moves: str, of_timm: Make, split: Split
) -> None:
    pytest.importorskip("peft")
    setup = of_timm(kind, {"train": "none"}, **image)
    moved = changed(setup, split)
    assert moved == {name for name in seeded_encoder(setup, 0, 0).state_dict() if re.search(moves, name)}


@pytest.mark.parametrize(
    ("kind", "train", "message"),
    [("resnet", "last 1", "is for transformers"), ("vit", "last 3", "has 2 blocks"), ("vit", "lora", "called q_proj")],
)
def test_what_a_timm_folder_lacks_is_named(kind: str, train: str, message: str, of_timm: Make) -> None:
    pytest.importorskip("peft")
    with pytest.raises(UsageError, match=f'image tower "timm:{kind}": .*{message}'):
        seeded_encoder(of_timm(kind, train=train), 0, 0)


def test_a_folder_by_the_key_of_names_is_told_the_other_one(models: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=re.escape(f'Write model = "{models["vit"]}"')):
        ImageEncoder(ImageTower(timm=models["vit"].removeprefix("timm:"), pretrained=True))


def test_timm_has_no_texts_and_stands_for_no_model_of_both(of_timm: Make, models: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="timm has no models of texts"):
        TextTower(model=models["vit"])
    setup = of_timm("vit")
    for given, image, text in (
        ("resnet", "timm:resnet", "transformers:clip"),
        ("siglip", "timm:vit", "transformers:siglip"),
    ):
        now = with_models(setup, {"model": models[given]})
        assert (now.image.model, now.text.model) == (image, text)
        assert now.called("RN50") == f"RN50 ({image})"
    require_used(read_recipe("finetune-tiny"), {"model": models["clip"]})
    with pytest.raises(UsageError, match="no tower is a side of such a model"):
        require_used(read_recipe("finetune-tiny"), {"model": models["vit"]})


def test_other_sets_are_read_as_the_model_takes_them(tuning: Make) -> None:
    other = Protocol(task="zero-shot", data=Data(name="cifar10"))
    setup = with_models(tuning("siglip").model_copy(update={"protocols": {"other": other}}), {})
    read = setup.protocols["other"].data
    assert read
    assert read.options == {"size": 32, "fit": "squash"}


def test_a_tower_has_its_own_learning_rate_and_a_new_projection_the_recipes(tuning: Make) -> None:
    setup = tuning("clip", {"lr_factor": 0.1, "projection": "new"}, {"lr_factor": 0.5, "projection": "new"})
    encoder = seeded_encoder(setup, 0, 0)
    factors = {
        id(parameter): group["lr_factor"]
        for group in parameter_groups(encoder, create_method("infonce"), setup)
        for parameter in group["params"]
    }
    expected = {"image_tower": 0.1, "image_projection": 1.0, "text_tower": 0.5, "text_projection": 1.0}
    trained = {name: p for name, p in encoder.named_parameters() if p.requires_grad}
    assert {name: factors[id(p)] for name, p in trained.items()} == {n: expected[n.partition(".")[0]] for n in trained}


def changed(setup: Setup, split: Split, method: str = "infonce") -> set[str]:
    """The parameters that a training moved, by name."""
    before, after = seeded_encoder(setup, 0, 0).state_dict(), trained(method, setup, split).state
    return {name for name, value in before.items() if not torch.equal(value, after[name])}


LAST = {
    "clip": r"visual_projection|text_projection|layers\.1\.|post_layernorm|final_layer_norm",
    "open_clip": r"visual\.proj|text_projection|resblocks\.1\.|ln_post|ln_final",
}


@pytest.mark.parametrize("kind", sorted(LAST))
def test_the_last_blocks_and_what_follows_are_trained(kind: str, tuning: Make, split: Split) -> None:
    both = {"train": "last 1"}
    moved = changed(tuning(kind, both, both), split)
    assert moved == {name for name in seeded_encoder(tuning(kind), 0, 0).state_dict() if re.search(LAST[kind], name)}


@pytest.mark.parametrize("kind", MODELS)
def test_all_of_a_tower_is_trained_and_nothing_of_a_frozen_one(kind: str, tuning: Make, split: Split) -> None:
    setup = tuning(kind, text={"train": "none"}, steps=2)
    encoder = seeded_encoder(setup, 0, 0).train()
    assert (encoder.image_tower.training, encoder.text_tower.training) == (True, False)
    moved = changed(setup, split, "temo")
    names = [name for name, part in seeded_encoder(setup, 0, 0).named_parameters() if name.startswith("image")]
    assert moved == {name for name in names if "logit" not in name}


def test_a_new_projection_is_trained_in_place_of_the_models(tuning: Make, split: Split) -> None:
    frozen = {"train": "none", "projection": "new"}
    setup = tuning("clip", frozen, frozen)
    assert setup.projection.width == 8
    assert changed(setup, split) == {"image_projection.weight", "text_projection.weight"}


@pytest.mark.parametrize("kind", ["clip", "open_clip"])
def test_lora_trains_what_it_adds_and_merged_it_gives_the_same(kind: str, tuning: Make, split: Split) -> None:
    pytest.importorskip("peft")
    lora = {"train": "lora", "lora": {"rank": 2, "targets": LAYERS[kind]}}
    setup = tuning(kind, lora, lora, lr=1e-2)
    result = train(setup, create_method("infonce"), split, 0)
    moved = changed(setup, split)
    assert moved == {name for name in seeded_encoder(setup, 0, 0).state_dict() if "lora_" in name}
    whole, merged = result.encoder, merge_lora(result.encoder)
    assert not [name for name in merged.state_dict() if "lora" in name]
    pixels = torch.rand(2, 3, 32, 32)
    start = seeded_encoder(tuning(kind), 0, 0).eval()
    assert torch.allclose(merged.image(pixels), whole.image(pixels), atol=1e-6)
    assert not torch.allclose(merged.image(pixels), start.image(pixels), atol=1e-3)


LAYERS = {"clip": ["q_proj", "v_proj"], "open_clip": ["c_fc", "c_proj"]}
WAYS = [
    ("clip", {}, "infonce", {}),
    ("clip", {"train": "lora"}, "siglip", {}),
    ("open_clip", {"train": "last 1"}, "temo", {"zero_stage": 2}),
    ("siglip", {"train": "all"}, "cwcl", {"processes": 2}),
]


@pytest.mark.parametrize(("kind", "image", "method", "more"), WAYS)
def test_a_training_goes_on_to_the_same_bits(
    kind: str, image: dict[str, Any], method: str, more: dict[str, Any], tuning: Make, split: Split, tmp_path: Path
) -> None:
    setup = tuning(kind, image, {"train": "none"} if method == "temo" else {}, **more)
    require_equal(trained(method, setup, split), stopped_and_resumed(method, setup, split, tmp_path / "run"))


def test_two_shares_are_as_one(tuning: Make, split: Split) -> None:
    """No batch norm and no dropout: how a batch is shared changes nothing but rounding."""
    one, two = (trained("infonce", tuning("clip", processes=count), split).curves["loss"] for count in (1, 2))
    assert one == pytest.approx(two, rel=1e-4)
    assert one[-1] < one[0]


def edited(folder: Path, models: dict[str, str], kind: str) -> str:
    """A copy of a model whose configuration has one more block of text than its weights."""
    library, _, place = models[kind].partition(":")
    shutil.copytree(place, folder / "edited")
    file = folder / "edited" / ("open_clip_config.json" if kind == "open_clip" else "config.json")
    config = json.loads(file.read_text("utf-8"))
    part, layers = {
        "open_clip": lambda: (config["model_cfg"]["text_cfg"], "layers"),
        "vit": lambda: (config["model_args"], "depth"),
    }.get(kind, lambda: (config["text_config"], "num_hidden_layers"))()
    part[layers] += 1
    file.write_text(json.dumps(config))
    return f"{library}:{folder / 'edited'}"


@pytest.mark.parametrize("kind", [*MODELS, "vit"])
def test_a_checkpoint_of_another_architecture_is_refused(kind: str, models: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"edited: its weights are of another architecture .* and \d+ more") as caught:
        opened(edited(tmp_path, models, kind))
    assert len(re.findall(r"(?:layers|resblocks|blocks)\.2\.[\w.]+", str(caught.value))) == 3


@pytest.mark.parametrize(
    ("tower", "message"),
    [
        ({"train": "lora", "lora": {"targets": ["q_proj", "key"]}}, r"no linear layer is called key \(.*c_fc|fc1"),
        ({"train": "last 3"}, "has 2 blocks"),
    ],
)
def test_what_a_tower_lacks_is_named(tower: dict[str, Any], message: str, tuning: Make) -> None:
    pytest.importorskip("peft")
    with pytest.raises(UsageError, match=f"image tower .*{message}"):
        seeded_encoder(tuning("clip", tower), 0, 0)


def test_blocks_are_those_of_transformers() -> None:
    with pytest.raises(UsageError, match='tower "image": train = "last 1" is for transformers'):
        choose_trained(
            ImageEncoder(ImageTower(timm="test_resnet")), ImageTower(timm="x", train="last 1"), 'tower "image"'
        )


def test_weights_that_change_after_the_plan_are_refused(tuning: Make, models: dict[str, str]) -> None:
    setup = tuning("clip")
    other = setup.image.model_copy(update={"place": models["siglip"]})
    with pytest.raises(UsageError, match="its weights have changed since the run was planned"):
        seeded_encoder(setup.model_copy(update={"image": other}), 0, 0)


def test_a_ticket_says_where_the_model_is_and_a_record_does_not(tuning: Make, models: dict[str, str]) -> None:
    run = make_run(tuning("clip"), resolve_method("infonce", {}, 1.0), 0, "a run", 0.0)
    setup = Ticket.model_validate_json(Ticket.of(run).model_dump_json()).opened().setup
    assert setup.image.place == setup.text.place == models["clip"]
    assert setup.image.model == "transformers:clip"
    assert models["clip"] not in setup.model_dump_json()


def test_two_frozen_towers_have_nothing_to_train(tuning: Make) -> None:
    frozen = {"train": "none"}
    with pytest.raises(UsageError, match="there is nothing to train"):
        require_fitting("recipe", tuning("clip", frozen, frozen))
    require_fitting("recipe", tuning("clip", frozen, {**frozen, "projection": "new"}))


@pytest.mark.parametrize(
    "name",
    ["transformers:nowhere/at/all", "open_clip:nowhere", "timm:test_vit", "timm:test_vit?pretrained=false", "clip"],
)
def test_a_model_that_is_not_there_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match=r"write transformers:|cannot be loaded|no such folder"):
        opened(name)


def test_rows_of_backbones_of_two_models_have_their_own_runs(tmp_path: Path, models: dict[str, str]) -> None:
    """Asked for one after the other. A backbone without runs keeps the recipe's words, whatever another one trained."""
    vit = f'backbones.ViT = {{ tower = {{ model = "{models["vit"]}" }}, description = "a tiny ViT" }}\n'
    recipe = RECIPE.replace('timm = "test_resnet"', f'model = "{models["resnet"]}"') + vit
    table = TABLE.replace('backbone = "RN50"\nmethod = "ts"', 'backbone = "ViT"\nmethod = "ts"')
    own_folder(tmp_path, table)
    (tmp_path / "recipes" / "tiny.toml").write_text(recipe)
    use_folders([tmp_path])
    store = Store(tmp_path)
    for label, backbone in (("InfoNCE", "RN50"), ("TS", "ViT")):
        plan = plan_table(NAME, "smoke", [0], [label])
        (run,) = plan.runs
        store.write(*measured(0, method=run.method, setup=run.setup))
        store.add_request(plan.request)
        (view,), skipped = build_views(store.read())
        assert not skipped
        assert view.stand_in("ViT") == "a tiny ViT"
        assert [(row.backbone, row.measured) for row in view.rows][-1] == (backbone, 1)
    assert [row.measured for row in view.rows] == [1, 1]


@pytest.fixture
def of_texts(make_setup: Make, tmp_path: Path) -> Callable[..., Setup]:
    """`of_texts(folder, folders={}, **text)`: the setup with a text encoder from a folder, resolved."""

    def make(folder: str, folders: dict[str, str] | None = None, **text: Any) -> Setup:
        tower = TextTower(transformer=str(tmp_path / folder), pretrained=True, max_tokens=8, **text)
        return with_models(make_setup().model_copy(update={"text": tower}), folders or {})

    return make


def test_a_folder_of_texts_may_be_any_but_its_weights_are_the_setups(
    of_texts: Callable[..., Setup], tmp_path: Path, split: Split
) -> None:
    shutil.copytree(transformers_text(tmp_path / "here"), tmp_path / "there")
    transformers_text(tmp_path / "other", seed=5)
    here, there, other = (of_texts(name) for name in ("here", "there", "other"))
    assert here.setup_id == there.setup_id != other.setup_id
    assert (here.text.transformer, here.text.place) == ("distilbert", str(tmp_path / "here"))
    assert str(tmp_path) not in here.model_dump_json()
    assert of_texts("here", {"text": str(tmp_path / "other")}).setup_id == other.setup_id
    run = make_run(here, resolve_method("infonce", {}, 1.0), 0, "a run", 0.0)
    opened = Ticket.model_validate_json(Ticket.of(run).model_dump_json()).opened().setup
    assert opened.text.place == str(tmp_path / "here")
    require_equal(trained("infonce", opened, split), stopped_and_resumed("infonce", opened, split, tmp_path / "run"))
    moved = here.model_copy(update={"text": here.text.model_copy(update={"place": other.text.place})})
    with pytest.raises(UsageError, match=r'other": its weights have changed since the run was planned'):
        seeded_encoder(moved, 0, 0)


def test_weights_that_no_file_gives_are_no_part_of_a_digest(of_texts: Callable[..., Setup], tmp_path: Path) -> None:
    """A pooler that a checkpoint lacks is drawn anew each time."""
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
    BertModel(BertConfig(vocab_size=40, **sizes), add_pooling_layer=False).save_pretrained(tmp_path / "bert")
    setup = of_texts("bert")
    assert [seeded_encoder(setup, 0, seed).text_tower.weights for seed in (0, 1)] == [setup.text.weights] * 2


def test_a_record_without_its_folder_of_texts_asks_for_it(of_texts: Callable[..., Setup], tmp_path: Path) -> None:
    folder = str(transformers_text(tmp_path / "here"))
    stored = Setup.model_validate(of_texts("here").model_dump(mode="json"))
    with pytest.raises(UsageError, match=r'"distilbert": no such folder.*--data text=FOLDER'):
        with_models(stored, {})
    assert with_models(stored, {"text": folder}).setup_id == stored.setup_id
    with pytest.raises(UsageError, match='"/not/here": no such folder'):
        of_texts("here", {"text": "/not/here"})


def test_a_text_encoder_by_name_stays_as_it_is(of_texts: Callable[..., Setup]) -> None:
    setup = of_texts("absent")
    assert (setup.text.place, setup.text.weights) == (None, None)
    with pytest.raises(UsageError, match=r"--data text: .*no tower of texts is pretrained"):
        require_used(read_recipe("scenes-smoke"), {"text": "/folder"})
    require_used(read_recipe("pairs-gpu"), {"text": "/folder"})


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_what_was_stored_in_half_precision_is_trained_in_full(
    of_texts: Callable[..., Setup], tmp_path: Path, half: torch.dtype
) -> None:
    from transformers import AutoModel

    for folder in (transformers_text(tmp_path / "text"), transformers_clip(tmp_path / "clip")):
        AutoModel.from_pretrained(folder).to(half).save_pretrained(folder)
    both = transformers_model(str(tmp_path / "clip"))
    assert both
    models = seeded_encoder(of_texts("text"), 0, 0).text_tower, both.model
    assert {p.dtype for model in models for p in model.parameters() if p.is_floating_point()} == {torch.float32}
