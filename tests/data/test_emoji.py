"""The datasets `emoji` and `icons`: pictures and words of npm packages, and splits by concept, anew for each seed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.npm_files import CONCEPTS, STYLES, Packages, a_set, disc, emoji_packages, icon_packages, installed, packed

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset
from benchsuite.data.readers.pictures import Pictures, icons_in, picture, pictures_in, slug
from benchsuite.errors import UsageError

FEW = {"test": 4, "validation": 2}


def opened(folder: Path, name: str = "emoji", **options: Any) -> PairDataset:
    return create_dataset(name, folder=str(folder), **{**FEW, **options})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return packed(tmp_path_factory.mktemp("packages"), emoji_packages())


@pytest.fixture(scope="module")
def read(folder: Path) -> Pictures:
    return pictures_in("emoji", str(folder), 32)


def test_each_style_draws_each_emoji_without_skin_tones(read: Pictures) -> None:
    points = {"1f600", "2764", "1f468-200d-1f467", "0023-20e3"}
    assert points < set(read.concepts)
    assert len(read.concepts) == len(CONCEPTS)
    assert [row[:2] for row in read.rows] == sorted([style, one] for style in STYLES for one in read.concepts)
    assert len({sha for *_, sha in read.rows}) == len(read.rows)


def test_what_people_say_of_an_emoji(read: Pictures) -> None:
    dog = read.concepts["1f436"]
    assert dog[1:] == ("dog face", "animals & nature", "subgroup 34", ["animal", "pet"])
    assert read.concepts["1f34e"].words == ["fruit"]  # not its own label again
    assert read.credit[0] == "Noto, A. Uthor, CC BY 4.0"


def test_an_icon_is_the_one_that_a_sets_own_list_names(read: Pictures) -> None:
    def shown(style: str, concept: str) -> tuple[int, ...]:
        return tuple(read.images[[row[:2] for row in read.rows].index([style, concept])][16, 8])

    def colour(*about: str) -> tuple[int, ...]:
        return tuple(bytes.fromhex(disc(*about).split("#")[1][:6]))

    assert shown("noto", "1f436") == colour("noto", "dog-face")  # it is called hound there
    assert shown("noto-v1", "1f436") == (255, 255, 255)  # an alias that is mirrored: hound, by noto's list
    assert shown("twemoji", "1f436") == colour("twemoji", "dog-face")


def test_another_sets_name_of_an_emoji_counts_only_where_the_own_list_has_none(tmp_path: Path) -> None:
    packages = emoji_packages()
    for name, own in (("twemoji", {"1f436": "pup"}), ("noto-v1", {})):
        packages[f"@iconify-json/{name}"]["icons.json"]["icons"] |= {"pup": {"body": disc("pup")}}
        packages[f"@iconify-json/{name}"]["icons.json"]["icons"] |= {"hound": {"body": disc("hound")}}
        packages[f"@iconify-json/{name}"]["chars.json"] = own
    read = pictures_in("emoji", str(packed(tmp_path, packages)), 32)
    digest = {style: sha for style, concept, sha in read.rows if concept == "1f436"}
    middle = {
        style: bytes(read.images[[row[2] for row in read.rows].index(sha)][16, 8]) for style, sha in digest.items()
    }
    assert middle["twemoji"] == bytes.fromhex(disc("pup").split("#")[1][:6])
    assert middle["noto-v1"] == bytes.fromhex(disc("hound").split("#")[1][:6])


def test_a_picture_stands_whole_in_the_middle_of_a_white_square() -> None:
    wide = {"width": 40, "height": 20, "icons": {"bar": {"body": '<path d="M0 0h40v20H0z"/>'}}}
    tall = {"width": 20, "height": 40, "icons": {"bar": {"body": '<path d="M0 0h20v40H0z"/>'}}}
    middle = np.zeros((40, 40), bool)
    middle[10:30] = True
    for icons, shown in ((wide, middle), (tall, middle.T)):
        image = picture(icons, "bar", 40, "here")
        assert image.shape == (40, 40, 3)
        assert ((image < 128).all(2) == shown).all()


def test_aliases_are_mirrored_and_turned() -> None:
    left = '<path d="M0 0h8v16H0z"/>'
    aliases = {"right": {"parent": "left", "hFlip": True}, "again": {"parent": "right", "hFlip": True},
               "up": {"parent": "left", "rotate": 1}, "loop": {"parent": "loop"}}  # fmt: skip
    icons = {"icons": {"left": {"body": left}}, "aliases": aliases}
    dark = {name: picture(icons, name, 16, "here")[..., 0] < 128 for name in ("left", *aliases)}
    assert dark["left"][:, :8].all()
    assert not dark["left"][:, 8:].any()
    assert (dark["right"] == dark["left"][:, ::-1]).all()
    assert (dark["again"] == dark["left"]).all()
    assert dark["up"][:8].all()
    assert not dark["up"][8:].any()
    assert not dark["loop"].any()  # drawn as nothing, not for ever


def test_archives_and_installed_packages_are_the_same_data(folder: Path, tmp_path: Path) -> None:
    others = (installed(tmp_path, emoji_packages()), tmp_path / "node_modules")
    assert len({opened(place).manifest().digest for place in (folder, *others)}) == 1


def changed_picture(packages: Packages) -> None:
    packages["@iconify-json/noto"]["icons.json"]["icons"]["car"]["body"] = disc("another")


def changed_tag(packages: Packages) -> None:
    packages["emojibase-data"]["en/data.json"][1]["tags"] = ["new"]


@pytest.mark.parametrize("change", [changed_picture, changed_tag])
def test_a_digest_covers_pictures_and_words(folder: Path, tmp_path: Path, change: Callable[[Packages], None]) -> None:
    packages = emoji_packages()
    change(packages)
    assert opened(packed(tmp_path, packages)).manifest().digest != opened(folder).manifest().digest


def test_test_pictures_show_concepts_of_train_in_another_style(folder: Path) -> None:
    dataset = opened(folder)
    sizes = dataset.manifest().splits
    assert sizes == {"train": len(STYLES) * len(CONCEPTS) - 6, "validation": 2, "test": 4}
    train, validation, test = (dataset.split(name).labels["concept"] for name in ("train", "validation", "test"))
    assert len({*test, *validation}) == 6
    assert {*test, *validation} <= set(train)
    pictures = [set(map(bytes, dataset.split(name).images)) for name in sizes]
    assert sum(map(len, pictures)) == len(set().union(*pictures)) == len(STYLES) * len(CONCEPTS)


def test_each_seed_holds_out_other_pictures(folder: Path) -> None:
    held = [opened(folder, seed=seed).split("test") for seed in (0, 0, 1)]
    assert held[0].captions == held[1].captions
    assert held[0].captions != held[2].captions
    assert len({opened(folder, seed=seed).manifest().digest for seed in (0, 1)}) == 2


def test_what_cannot_be_told_apart_is_not_held_out(tmp_path: Path) -> None:
    packages = emoji_packages()
    entries = packages["emojibase-data"]["en/data.json"]
    entries[-1]["label"] = entries[3]["label"]  # two emoji of one name
    icons = packages["@iconify-json/twemoji"]["icons.json"]["icons"]
    icons["crying-face"] = icons["red-apple"]  # two of one picture
    folder = packed(tmp_path, packages)
    dataset = opened(folder, test=6, validation=2)
    names = [texts[0] for split in ("test", "validation") for texts in dataset.split(split).captions]
    assert not {"dog face", "car"} & set(names)
    for seed in range(6):
        dataset = opened(folder, test=6, validation=2, seed=seed)
        held, train = ({bytes(image) for image in dataset.split(name).images} for name in ("test", "train"))
        assert not held & train
    with pytest.raises(UsageError, match=r"7 \+ 2 pictures .* only 8 concepts .* options test"):
        opened(folder, test=7, validation=2).manifest()


def test_fewer_pictures_and_long_tails_to_train_on(folder: Path) -> None:
    whole, one, tailed = (opened(folder, **given).split("train") for given in ({}, {"each": 1}, {"imbalance": 9.0}))
    assert np.bincount(one.labels["concept"]).tolist() == [1] * len(CONCEPTS)
    assert len(tailed) < len(whole)
    assert set(tailed.labels["subgroup"]) == set(whole.labels["subgroup"])


def test_captions_are_the_name_and_paraphrases_are_tags(folder: Path) -> None:
    train, test = (opened(folder).split(name) for name in ("train", "test"))
    at = [texts[0] for texts in train.captions].index("grinning face")
    assert train.captions[at][1:] == [
        "an emoji of grinning face", "a small drawing of grinning face", "a picture that shows grinning face",
        "grinning face, happy, joy, smile",
    ]  # fmt: skip
    assert train.paraphrases[at] == ["happy, joy, smile"]
    keycap = [texts[0] for texts in train.captions].index("keycap: #")
    assert train.paraphrases[keycap] == ["something called keycap: #"]
    assert all(len(texts) == 1 for texts in test.captions)


def test_classes_have_names_and_prompts(folder: Path) -> None:
    dataset = opened(folder)
    test = dataset.split("test")
    names = dataset.classes_of("concept")
    assert [names[i] for i in test.labels["concept"]] == [texts[0] for texts in test.captions]
    assert dataset.prompts_for("group", "emoji-4")[0][1] == "an emoji of smileys and emotion"
    of = {label: f"subgroup {sub}" for label, _, sub, _ in CONCEPTS.values()}
    assert [dataset.classes_of("subgroup")[i] for i in test.labels["subgroup"]] == [of[t[0]] for t in test.captions]


def test_icons_of_one_name_are_one_concept(tmp_path: Path) -> None:
    dataset = opened(packed(tmp_path, icon_packages()), "icons")
    assert set(dataset.classes_of("concept")) == {"home", "arrow left", "camera", "moon", "sun", "cup", "bee"}
    assert {texts[0] for texts in dataset.split("test").captions} < {
        "home",
        "arrow left",
        "camera",
        "moon",
        "sun",
        "cup",
    }
    assert dataset.manifest().splits["train"] == 13 - 6
    concepts, icons = icons_in({name: part["icons.json"] for name, part in icon_packages().items()})
    assert next(one.words for one in concepts if one.concept == "arrow-left") == ["left arrow"]
    assert icons["@iconify-json/mdi", "home"] == "home"  # and its outline is left out


@pytest.mark.parametrize(
    ("label", "name"), [("family: man, girl", "family-man-girl"), ("piñata", "pinata"), ("woman’s hat", "womans-hat")]
)
def test_slugs_are_as_sets_write_them(label: str, name: str) -> None:
    assert slug(label) == name


def without_words(packages: Packages) -> None:
    del packages["emojibase-data"]


def without_icons(packages: Packages) -> None:
    del packages["@iconify-json/noto"]["icons.json"]


def without_groups(packages: Packages) -> None:
    del packages["emojibase-data"]["en/messages.json"]


def strangers(packages: Packages) -> None:
    for style in STYLES:
        packages[f"@iconify-json/{style}"] = a_set(style, ["unknown"])


def broken(packages: Packages) -> None:
    packages["@iconify-json/noto"]["icons.json"]["icons"]["car"]["body"] = "<circle"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_words, "has no package emojibase-data; it must hold npm packages .*docs/emoji.md"),
        (lambda packages: packages.clear(), r"has no package @iconify-json/\.\.\.; it must hold"),
        (without_icons, "iconify-json-noto-1.2.3.tgz: its icons.json has no icons"),
        (without_groups, "emojibase-data-17.0.0.tgz: its en/messages.json has no groups"),
        (strangers, "none of noto, noto-v1, twemoji has a picture of a known concept"),
        (broken, "noto, car: not an image that can be decoded"),
    ],
)
def test_what_a_folder_lacks_is_named(tmp_path: Path, change: Callable[[Packages], None], message: str) -> None:
    packages = emoji_packages()
    change(packages)
    with pytest.raises(UsageError, match=message):
        opened(packed(tmp_path, packages)).manifest()


def test_a_cut_archive_and_a_second_version_are_refused(folder: Path, tmp_path: Path) -> None:
    packed(tmp_path, emoji_packages())
    cut = tmp_path / "iconify-json-noto-1.2.3.tgz"
    whole = cut.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError, match=r"noto-1\.2\.3\.tgz: not a whole archive"):
        opened(tmp_path).manifest()
    (tmp_path / "iconify-json-noto-1.3.0.tgz").write_bytes(whole)
    with pytest.raises(UsageError, match="has the package @iconify-json/noto 2 times"):
        opened(tmp_path).manifest()
