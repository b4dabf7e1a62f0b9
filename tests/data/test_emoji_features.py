"""The embedded dataset `emoji-features`, as shipped: its splits, views and texts. And how its files are made."""

import io
import json
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from support.files_of import module_of
from support.npm_files import CONCEPTS, STYLES, emoji_packages, packed
from support.peers import transformers_text

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset
from benchsuite.data.readers.pictures import pictures_in
from benchsuite.data.real.emoji_features import FOLDER, ICONS
from benchsuite.errors import UsageError
from benchsuite.evaluation.multi_instance import Actions, relevancy_parts
from benchsuite.torchvision_ops import make_importable

make_importable()
import timm  # noqa: E402

WORDS = json.loads((FOLDER / "words.json").read_text("utf-8"))


def opened(**options: Any) -> PairDataset:
    return create_dataset("emoji-features", **options)


def emoji(images: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which emoji each vector shows, told by the vectors alone."""
    stored = np.load(FOLDER / "images.npy").astype(np.float32)
    stored /= np.linalg.norm(stored, axis=1, keepdims=True)
    nearest = (images @ stored.T).argmax(1)
    return np.asarray(np.load(FOLDER / "shown.npy")[nearest])


@pytest.fixture(scope="module")
def world() -> PairDataset:
    return opened()


def test_no_style_of_a_test_emoji_is_trained_on(world: PairDataset) -> None:
    shown = {name: set(emoji(world.split(name).images[:, 0])) for name in world.manifest().splits}
    assert not shown["train"] & (shown["test"] | shown["validation"])
    assert not shown["test"] & shown["validation"]
    assert shown["test"] == shown["tags"] == shown["single"]
    assert [len(shown[name]) for name in ("test", "validation")] == [400, 300]


def test_galleries_have_each_emoji_once_in_one_style(world: PairDataset) -> None:
    test = world.split("test")
    galleries = emoji(test.images[:, 0]).reshape(4, 400)
    assert (galleries == galleries[0]).all()
    assert len(set(galleries[0])) == 400
    assert len(np.unique(test.images[:, 0], axis=0)) == 1600
    labels = np.concatenate(list(test.captions))
    assert (labels[:400] == labels[400:800]).all()
    assert len(np.unique(labels[:400], axis=0)) == 400
    assert len(world.split("single")) == 400


def test_captions_are_labels_in_test_and_labels_and_tags_in_train(world: PairDataset) -> None:
    texts = np.load(FOLDER / "texts.npy").astype(np.float32)
    texts *= np.sqrt(texts.shape[1]) / np.linalg.norm(texts, axis=1, keepdims=True)
    for name, position in (("test", 0), ("tags", 1)):
        split = world.split(name)
        wanted = texts[2 * emoji(split.images[:, 0]) + position]
        assert np.allclose(np.concatenate(list(split.captions)), wanted, atol=1e-4)
    train = world.split("train")
    own = 2 * emoji(train.images[:9, 0])
    for k in range(9):
        assert np.allclose(train.captions[k][:2], texts[[own[k], own[k] + 1]], atol=1e-4)
        assert len(train.captions[k]) == 8


def test_views_are_the_same_emoji_in_other_styles_with_noise(world: PairDataset) -> None:
    train = world.split("train")
    assert train.images.shape[1:] == (4, 256)
    assert np.allclose((train.images[:, 0] ** 2).mean(1), 1, atol=1e-4)
    shown = [emoji(train.images[:500, view]) for view in range(4)]
    assert all((shown[0] == view).mean() > 0.9 for view in shown)  # noise, and flags that are alike
    plain = opened(noise=0.0).split("train").images
    same = (plain[:, :1] == plain[:, 1:]).all(2).mean()
    assert same < 0.06  # but emoji that one style draws alone
    assert np.abs((train.images - plain)[:, 1:].std() - 0.3) < 0.01
    assert (train.images[:, 0] == plain[:, 0]).all()


def test_each_seed_is_a_world_of_its_own() -> None:
    digests = {opened(seed=seed).manifest().digest for seed in (0, 0, 1)}
    assert len(digests) == 2
    first, second = (set(emoji(opened(seed=seed).split("single").images[:, 0])) for seed in (0, 1))
    assert 50 < len(first & second) < 200


def test_classes_have_names_and_prompts(world: PairDataset) -> None:
    test = world.split("test")
    for name, count in (("group", 10), ("subgroup", 100)):
        assert len(world.classes_of(name)) == count
        assert world.prompts_for(name, "prompts").shape == (count, 3, 384)
        assert set(test.labels[name]) <= set(world.split("train").labels[name])
    fox = WORDS["labels"].index("fox")
    group, subgroup, *tags = np.load(FOLDER / "concepts.npy")[fox]
    assert (WORDS["group"][group], WORDS["subgroup"][subgroup]) == ("animals and nature", "mammals")
    assert sum(tag >= 0 for tag in tags) == 2
    prompts = world.prompts_for("subgroup", "prompts").mean(1)
    mammals = prompts @ world.prompts_for("group", "prompts").mean(1).T
    assert WORDS["group"][mammals[subgroup].argmax()] == "animals and nature"


@pytest.mark.parametrize("name", ["test", "validation"])
def test_relevancy_is_half_the_subgroup_and_half_the_overlap_of_tags(world: PairDataset, name: str) -> None:
    split = world.split(name)
    one_style = len(split) // 4
    numbers = emoji(split.images[:one_style, 0])
    subgroups = np.load(FOLDER / "concepts.npy")[:, 1]
    lines = [line.split("\t")[1] for line in (FOLDER / "captions.txt").read_text("utf-8").splitlines()]
    words = [[] if line == label else line.split(", ") for line, label in zip(lines, WORDS["labels"], strict=True)]
    assert [len(of) for of in words].count(0) == 11
    common = Counter(tag for of in words for tag in of)
    tags = [set(sorted(of, key=lambda tag: (-common[tag], tag))[:8]) or {k} for k, of in enumerate(words)]
    wanted = [
        [0.5 * (subgroups[a] == subgroups[b]) + 0.5 * len(tags[a] & tags[b]) / len(tags[a] | tags[b]) for b in numbers]
        for a in numbers
    ]
    labels = [split.labels["verb"], [{*nouns} - {-1} for nouns in split.labels["nouns"].tolist()]]
    actions = Actions.of(*labels)
    parts, whole = relevancy_parts(actions, actions.take(range(one_style)))
    found = (parts / whole).reshape(4, one_style, one_style)
    assert np.allclose(found, wanted, rtol=0, atol=1e-12)
    assert (found == found.transpose(0, 2, 1)).all()
    assert 0 <= found.min() < found.max() == 1
    own = np.eye(one_style, dtype=bool)
    assert (found[:, own] == 1).all()
    others = found[0][~own]
    assert 0.03 < (others > 0).mean() < 0.06
    assert (others == 1).mean() < 1e-3


def test_items_are_described_to_readers_by_what_they_show(world: PairDataset) -> None:
    numbers = emoji(world.split("test").images[:, 0])
    labels, tags = world.in_words("test"), world.in_words("tags")
    assert [label for _, label in labels] == [WORDS["labels"][k] for k in numbers]
    assert [shown for shown, _ in labels] == [shown for shown, _ in tags]
    texts = {(shown, tagged) for (shown, _), (_, tagged) in zip(labels, tags, strict=True)}
    every = {tuple(line.split("\t")) for line in (FOLDER / "captions.txt").read_text("utf-8").splitlines()}
    assert texts < every
    assert ("🦊", "animal, face") in every
    assert len(every) == len(WORDS["labels"])


@pytest.mark.parametrize("name", ["emoji-features", "icons-features"])
def test_each_item_has_a_small_picture_of_what_it_shows(name: str) -> None:
    world = create_dataset(name)
    items, pictures = world.in_words("test"), world.in_pictures("test")
    assert len(pictures) == len(items) == world.manifest().splits["test"]
    shown = {what: picture for (what, _), picture in zip(items, pictures, strict=True)}
    assert all(shown[what] == picture for (what, _), picture in zip(items, pictures, strict=True))
    assert len({*shown.values()}) == len(shown) == 400
    for picture in list(shown.values())[:20]:
        with Image.open(io.BytesIO(picture)) as opened_picture:
            assert (opened_picture.format, opened_picture.size) == ("WEBP", (32, 32))
            assert np.ptp(np.asarray(opened_picture.convert("L"))) > 50
    assert world.in_pictures("train") == ()


def colour(picture: bytes) -> list[str]:
    """Which of red, green and blue stand out in the coloured part of a picture, the strongest first."""
    with Image.open(io.BytesIO(picture)) as opened_picture:
        pixels = np.asarray(opened_picture.convert("RGB")).reshape(-1, 3).astype(float)
    strength = pixels[np.ptp(pixels, 1) > 60].mean(0)
    return [name for value, name in sorted(zip(strength, ("red", "green", "blue"), strict=True), reverse=True)]


def test_a_picture_shows_its_own_emoji() -> None:
    world = opened(test=1000, validation=400)
    splits = [(world.in_words(name), world.in_pictures(name)) for name in ("test", "validation")]
    drawn = {label: picture for both in splits for (_, label), picture in zip(*both, strict=True)}
    strongest, weakest = {"red": "red", "green": "green", "blue": "blue"}, {"yellow": "blue", "purple": "green"}
    labels = [f"{name} {shape}" for name in (*strongest, *weakest) for shape in ("heart", "circle", "square")]
    known = [label for label in labels if label in drawn]
    assert len(known) > 10, "each draw leaves some in train"
    for label in known:
        name, order = label.split()[0], colour(drawn[label])
        assert strongest.get(name, order[0]) == order[0], label
        assert weakest.get(name, order[2]) == order[2], label


def test_too_many_held_out_are_refused() -> None:
    with pytest.raises(UsageError, match=r"1500 \+ 300 concepts are to be held out, but only 1\d\d\d can be"):
        opened(test=1500).manifest()


@pytest.mark.parametrize(
    ("folder", "largest", "whose"),
    [
        (FOLDER, 5_000_000, ("Copyright (c) Microsoft", "Twitter", "Ranks.com", "Mozilla", "(c) 2017-2019 Miles")),
        (ICONS, 4_200_000, ("Pictogrammers", "IBM", "(c) 2020-2024 Paweł Kuna", "Phosphor", "Lorc, Delapouite")),
    ],
)
def test_what_is_included_is_small_and_says_whose_work_it_is(folder: Path, largest: int, whose: list[str]) -> None:
    assert sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) < largest
    credits = (folder / "ATTRIBUTION.md").read_text("utf-8")
    assert [one for one in ("Google", *whose) if one not in credits] == []
    assert "BY-SA" not in credits


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    return module_of(Path(__file__).parents[2] / "tools" / "embed_emoji.py")


def test_weights_by_other_names_give_the_same_tower(tool: ModuleType) -> None:
    trained = timm.create_model("tf_efficientnet_lite0")
    named = {f"_layer{k}": tensor for k, tensor in enumerate(trained.state_dict().values()) if tensor.dim()}
    tower = tool.image_tower(named)
    image = torch.rand(2, 3, 64, 64)
    with torch.inference_mode():
        expected = trained.eval().forward_head(trained.forward_features(image), pre_logits=True)
        assert torch.equal(tower(image), expected)
    with pytest.raises(UsageError, match="have other layers"):
        tool.image_tower(dict(list(named.items())[1:]))


def test_components_keep_distances_and_bytes_keep_directions(tool: ModuleType) -> None:
    features = np.random.default_rng(0).standard_normal((200, 5)) @ np.random.default_rng(1).standard_normal((5, 30))
    kept = tool.reduced(features, 5)
    assert np.allclose(np.linalg.norm(kept[0] - kept[1]), np.linalg.norm(features[0] - features[1]))
    assert (np.diff(kept.std(0)) < 0).all()
    assert np.allclose(np.abs(tool.reduced(-features, 5)), np.abs(kept))
    stored = tool.in_bytes(kept)
    assert stored.dtype == np.int8
    cosine = (stored * kept).sum(1) / np.linalg.norm(stored.astype(float), axis=1) / np.linalg.norm(kept, axis=1)
    assert cosine.min() > 0.999


def test_each_text_is_encoded_alone(tool: ModuleType, tmp_path: Path) -> None:
    model, texts = str(transformers_text(tmp_path / "model")), ["fox", "animal, face of a fox", "red"]
    together = tool.text_features(model, texts)
    assert together.shape == (3, tool.text_features(model, ["fox"]).shape[1])
    assert np.array_equal(together, np.concatenate([tool.text_features(model, [text]) for text in texts]))


def test_files_are_the_same_each_time(tool: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool, "STYLES", ("noto", "twemoji"))
    monkeypatch.setattr(tool, "GALLERIES", ("noto", "twemoji"))
    codes = np.random.default_rng(0).standard_normal((256, 384))
    monkeypatch.setattr(
        tool, "text_features", lambda _, texts: np.stack([codes[list(t.encode())].sum(0) for t in texts])
    )
    packages = emoji_packages()
    icons = packages["@iconify-json/twemoji"]["icons.json"]["icons"]
    icons.pop("car")
    icons["cat-face"] = icons["dog-face"]  # nobody could tell them apart
    pictures = pictures_in("emoji", str(packed(tmp_path / "packages", packages)), 32)
    tower = tool.image_tower(timm.create_model("tf_efficientnet_lite0").state_dict())
    for name in ("once", "again"):
        tool.write(pictures, tower, "", tmp_path / name, kept=8)
    files = sorted(file.name for file in (tmp_path / "once").iterdir())
    assert files == sorted(file.name for file in FOLDER.iterdir() if file.suffix in (".npy", ".json", ".txt", ".riff"))
    assert all((tmp_path / "once" / name).read_bytes() == (tmp_path / "again" / name).read_bytes() for name in files)
    made = {name.removesuffix(".npy"): np.load(tmp_path / "once" / name) for name in files if name.endswith(".npy")}
    assert len(STYLES) == 3  # one of which is left out
    assert made["images"].shape == (2 * len(CONCEPTS) - 1, 8)
    assert made["texts"].shape == (2 * len(CONCEPTS), 384)
    assert (np.diff(made["shown"]) >= 0).all()
    labels = json.loads((tmp_path / "once" / "words.json").read_text("utf-8"))["labels"]
    held = {labels[made["shown"][image]] for image in made["galleries"].ravel()}
    assert held == {label for label, *_ in CONCEPTS.values()} - {"car", "cat face", "dog face"}
