"""The dataset `emoji`: the same rows from clones and from parquet, and splits by concept and style."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.emoji_files import CONCEPTS, emoji_rows, encoded, picture, write_emoji_clones, write_emoji_parquet

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset
from benchsuite.data.readers import emoji_splits
from benchsuite.data.readers.emoji import Emoji, Pictures, pictures_in
from benchsuite.data.readers.emoji_clones import CATEGORIES, base_of, cleaned
from benchsuite.data.readers.emoji_splits import held_out, long_tailed
from benchsuite.data.real.emoji import captions_of, paraphrases_of
from benchsuite.errors import UsageError

REAL = Path(__file__).parents[2].parent / "shared" / "data" / "emoji"
FEW = {"test": 4, "validation": 2}


def opened(folder: Path, **options: Any) -> PairDataset:
    return create_dataset("emoji", folder=str(folder), **{**FEW, **options})


def read(folder: Path) -> Pictures:
    return pictures_in("emoji", str(folder), 40)


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_emoji_clones(tmp_path_factory.mktemp("clones"))


@pytest.fixture(scope="module")
def rows(clones: Path) -> dict[tuple[str, str], Emoji]:
    return {(row.style, row.sequence): row for row in read(clones).rows}


def test_each_style_gives_its_named_emoji_of_one_skin_tone(rows: dict[tuple[str, str], Emoji]) -> None:
    assert {sequence for style, sequence in rows if style == "noto"} == {*CONCEPTS, "1f44d-1f3fb", "1f44d-1f3ff"}
    assert {sequence for _, sequence in rows} == {*CONCEPTS, "1f44d-1f3fb", "1f44d-1f3ff", "1f1eb-1f1f7"}


@pytest.mark.parametrize(
    ("sequence", "name", "keywords", "category"),
    [
        ("1f600", "grinning face", ("happy", "joy", "smile"), "Smileys & Emotion"),
        ("2764", "red heart", ("love", "valentines"), "Smileys & Emotion"),
        ("23-20e3", "keycap hash", ("symbol", "twitter"), "Symbols"),
        ("1f697", "car", (), "Travel & Places"),
        ("1f44d-1f3ff", "thumbs up, dark skin tone", ("hand", "yes"), "People & Body"),
        ("1f1eb-1f1f7", "flag france", ("flag", "nation"), "Flags"),
    ],
)
def test_names_keywords_and_categories_come_from_whoever_has_them(
    rows: dict[tuple[str, str], Emoji], sequence: str, name: str, keywords: tuple[str, ...], category: str
) -> None:
    row = rows["emojitwo", sequence]
    assert (row.name, row.keywords, row.category) == (name, keywords, category)


@pytest.mark.parametrize(
    ("sequence", "base", "tone"),
    [
        ("1f600", "1f600", 0),
        ("1f44d-1f3fb", "1f44d", 1),
        ("1f93d-1f3fc-200d-2642", "1f93d-200d-2642", 2),
        ("1f468-1f3fb-200d-1f468-1f3fb", "1f468-200d-1f468", 1),
        ("1f468-1f3fb-200d-1f468-1f3ff", "1f468-200d-1f468", -1),
        ("1f3fd", "1f3fd", 0),
    ],
)
def test_a_base_has_no_skin_tone(sequence: str, base: str, tone: int) -> None:
    assert base_of(sequence) == (base, tone)


@pytest.mark.parametrize(
    ("given", "category"), [("people", "People & Body"), ("symbols", "Symbols"), ("", "other"), ("modifier", "other")]
)
def test_categories_are_unicodes(given: str, category: str) -> None:
    assert cleaned("a", [], given)[2] == category


def test_pictures_stand_whole_on_a_white_square(clones: Path, rows: dict[tuple[str, str], Emoji]) -> None:
    stored = read(clones)
    for style in ("noto", "emojitwo"):
        image = stored.images[stored.rows.index(rows[style, "1f600"])]
        width = 136 if style == "noto" else 64
        centre = picture(style, "1f600", (width, 128 if style == "noto" else 64)).getpixel((width // 2, 32))
        assert image.shape == (40, 40, 3)
        assert (image[0] == 255).all()
        assert (image[-1] == 255).all()
        assert tuple(image[20, 20]) == centre[:3]  # type: ignore[index]


@pytest.mark.parametrize("code_points", [True, False])
def test_clones_and_parquet_of_one_content_have_one_digest(tmp_path: Path, code_points: bool) -> None:
    clones = opened(write_emoji_clones(tmp_path / "clones", code_points))
    parquet = opened(write_emoji_parquet(tmp_path / "parquet", emoji_rows(level=1)))
    assert clones.manifest() == parquet.manifest()
    for split in clones.manifest().splits:
        one, other = clones.split(split), parquet.split(split)
        assert (one.images == other.images).all()
        assert (one.captions, one.paraphrases) == (other.captions, other.paraphrases)


def test_the_same_from_a_folder_data_as_hubs_have_it(tmp_path: Path) -> None:
    write_emoji_parquet(tmp_path / "data")
    assert len(read(tmp_path).rows) == len(emoji_rows())


def dot(row: dict[str, Any]) -> None:
    image = picture("noto", "1f600", (136, 136))
    image.putpixel((68, 68), (1, 2, 3, 255))
    row["image"] = {"bytes": encoded(image), "path": ""}


@pytest.mark.parametrize(
    "change", [dot, lambda row: row.update(name="face"), lambda row: row.update(keywords=["new"]),
               lambda row: row.update(category="Flags")],
)  # fmt: skip
def test_a_digest_covers_pictures_and_words(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    changed = emoji_rows()
    change(changed[0])
    before, after = (
        opened(write_emoji_parquet(tmp_path / name, content)).manifest().digest
        for name, content in (("before", emoji_rows()), ("after", changed))
    )
    assert before != after


def test_test_pictures_show_concepts_of_train_in_another_style(clones: Path) -> None:
    stored, dataset = read(clones), opened(clones)
    sizes = dataset.manifest().splits
    assert {name: sizes[name] for name in FEW} == FEW
    assert sizes["train"] == 3 * len(CONCEPTS) + 1 - sum(FEW.values())
    train, validation, test = (dataset.split(name).labels["concept"] for name in ("train", "validation", "test"))
    assert len(set(test)) == FEW["test"]
    assert not set(test) & set(validation)
    assert {*test, *validation} <= set(train)
    pictures = [set(map(bytes, dataset.split(name).images)) for name in sizes]
    assert sum(map(len, pictures)) == len(set().union(*pictures)) == len([r for r in stored.rows if not r.tone])


FIXED = [("noto", "red heart"), ("blob", "dog face"), ("emojitwo", "thumbs up"), ("emojitwo", "car")]


def test_what_is_held_out_is_fixed(clones: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = read(clones).rows
    (test,) = held_out(stored, [4])
    assert [(stored[i].style, stored[i].name) for i in test] == FIXED
    assert [held_out(stored, [2, 2])[0], held_out(stored, [2, 2])[1]] == [test[:2], test[2:]]
    monkeypatch.setattr(emoji_splits, "VERSION", 0)
    assert held_out(stored, [4]) != [test]


@pytest.mark.parametrize(
    "change",
    [
        lambda row: row.update(category=""),
        lambda row: row.update(name="car") if row["name"] == "dog_face" else None,
        lambda row: row.update(image={"bytes": encoded(Image.new("RGB", (8, 8))), "path": ""}),
    ],
)
def test_what_cannot_be_told_apart_is_not_held_out(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    content = emoji_rows()
    changed = {row["sequence"] for row in content if row["name"] in ("dog_face", "car")}
    for row in content:
        if row["sequence"] in changed:
            change(row)
    stored = read(write_emoji_parquet(tmp_path, content)).rows
    (out,) = held_out(stored, [len(CONCEPTS) - 2])
    assert not changed & {stored[i].base for i in out}
    with pytest.raises(UsageError, match=f"4 \\+ 5 pictures .* only {len(CONCEPTS) - 2} concepts .* options test"):
        held_out(stored, [4, 5])


def test_skin_tones_are_more_to_train_on_but_not_of_what_is_held_out(clones: Path) -> None:
    without, with_tones = (opened(clones, tones=tones, test=8) for tones in (False, True))
    assert without.split("test").captions == with_tones.split("test").captions
    stored = read(clones).rows
    (out,) = held_out(stored, [10])
    held = {stored[i].style for i in out if stored[i].base == "1f44d"}
    added = {text[0] for text in with_tones.split("train").captions} - {t[0] for t in without.split("train").captions}
    assert added == {"thumbs up, light skin tone", "thumbs up, dark skin tone"}
    assert with_tones.manifest().splits["train"] - without.manifest().splits["train"] == 2 * (3 - len(held))
    assert len(held) == 1


def made(category: str, number: int) -> Emoji:
    return Emoji("noto", f"{category} {number}", f"{category} {number}", 0, "name", category, "", ())


def test_a_long_tail_follows_zipfs_law_and_keeps_what_is_asked_for() -> None:
    stored = [made(category, number) for category in CATEGORIES for number in range(60)]
    sizes = {
        tail: np.bincount([CATEGORIES.index(stored[i].category) for i in long_tailed(stored, range(600), set(), tail)])
        for tail in (0.0, 1.0, 2.0)
    }
    assert sizes[0.0].tolist() == [60] * 10
    assert sorted(sizes[1.0].tolist(), reverse=True) == [60 // rank for rank in range(1, 11)]
    assert sizes[2.0].sum() < sizes[1.0].sum()
    asked = {row.base for row in stored[::4]}
    assert asked <= {stored[i].base for i in long_tailed(stored, range(600), asked, 2.0)}


def test_captions_are_the_name_and_paraphrases_are_keywords(clones: Path, rows: dict[tuple[str, str], Emoji]) -> None:
    row = rows["noto", "1f600"]
    assert captions_of(row)[:2] == ["grinning face", "an emoji of grinning face"]
    assert sorted(captions_of(row)[-1].split(", ")) == ["grinning face", "happy", "joy", "smile"]
    assert all(set(text.split(", ")) <= set(row.keywords) for text in paraphrases_of(row))
    assert paraphrases_of(rows["noto", "1f697"]) == ["something called car"]
    assert all(len(texts) == 1 for texts in opened(clones).split("test").captions)


def test_classes_have_names_and_prompts(clones: Path) -> None:
    dataset = opened(clones)
    test = dataset.split("test")
    names = dataset.classes_of("concept")
    assert [names[i] for i in test.labels["concept"]] == [texts[0] for texts in test.captions]
    assert dataset.prompts_for("category", "emoji-4")[0][1] == "an emoji of smileys and emotion"
    categories = {name: category for name, category, _ in CONCEPTS.values()}
    assert [CATEGORIES[i] for i in test.labels["category"]] == [categories[texts[0]] for texts in test.captions]


def test_licences_and_credits_go_with_the_data(clones: Path) -> None:
    about = opened(clones).manifest().about
    assert "CC BY 4.0" in about["license"]
    assert any("EmojiTwo" in one and "creativecommons.org/licenses/by/4.0" in one for one in about["credit"])


@pytest.mark.parametrize(
    ("remove", "message"),
    [
        ("gemoji", r"no.* a folder gemoji. There, run:\n  git clone --depth 1 https://github.com/github/gemoji gemoji"),
        ("emojilib/dist/emoji-en-US.json", "emoji-en-US.json: no such file. .* a whole clone of muan/emojilib"),
        ("blobmoji/png", "blobmoji: no pictures such as png/128/emoji_u1f600.png"),
    ],
)
def test_what_a_clone_lacks_is_named(tmp_path: Path, remove: str, message: str) -> None:
    write_emoji_clones(tmp_path)
    (tmp_path / remove).rename(tmp_path / "away")
    with pytest.raises(UsageError, match=message):
        opened(tmp_path).manifest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: [row.pop("base") for row in rows], "no column base .* Give clones of noto-emoji"),
        (lambda rows: rows[3].update(image={"bytes": b"no", "path": ""}), "noto .*: these 2 bytes are not an image"),
        (lambda rows: rows[3].update(image=None), "row 3, column image: no bytes"),
        (lambda rows: rows[0].update(base="1"), "base 1, tone 5; 1f44d-1f3ff has 1f44d, 5"),
        (lambda rows: rows.append(rows[0]), "noto has two pictures of 1f44d-1f3ff"),
        (lambda rows: rows.clear(), "no column image"),
    ],
)
def test_a_wrong_table_is_refused(tmp_path: Path, change: Callable[[list[dict[str, Any]]], None], message: str) -> None:
    content = emoji_rows()
    change(content)
    with pytest.raises(UsageError, match=message):
        opened(write_emoji_parquet(tmp_path, content)).manifest()


def test_without_a_folder_it_says_what_to_give() -> None:
    with pytest.raises(UsageError, match=r"Add --data emoji=FOLDER, which holds clones of .* \(docs/emoji.md"):
        create_dataset("emoji").manifest()


@pytest.mark.slow
@pytest.mark.skipif(not REAL.is_dir(), reason=f"no emoji at {REAL}: the shared data is not part of the repository")
def test_the_real_pictures() -> None:
    dataset = create_dataset("emoji", folder=str(REAL))
    assert dataset.manifest().splits == {"train": 3551, "validation": 400, "test": 800}
    train, test = dataset.split("train"), dataset.split("test")
    assert set(test.labels["concept"]) <= set(train.labels["concept"])
    assert not set(map(bytes, test.images)) & set(map(bytes, train.images))
    assert create_dataset("emoji", folder=str(REAL), tones=True).manifest().splits["train"] == 6312
    assert create_dataset("emoji", folder=str(REAL), tail=1.0).manifest().splits["train"] == 1756
