import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.own_data import (
    COLOURS,
    COUNT,
    FORMATS,
    as_csv,
    caption,
    name,
    picture,
    stored,
    table,
    write_csv,
    write_pictures,
)

from benchsuite.data import PairDataset, create_dataset
from benchsuite.data.batches import BatchPlan
from benchsuite.data.readers.index import Index
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation

NO_CUT = {"validation_share": 0, "test_share": 0, "size": 8}
OPTIONS: dict[str, dict[str, Any]] = {"webdataset": {"classes": COLOURS}}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each format, of the same pairs."""
    root = tmp_path_factory.mktemp("own")
    for kind, write in FORMATS.items():
        write(root / kind)
    return root


@pytest.fixture
def pairs(folders: Path) -> Callable[..., PairDataset]:
    """`pairs(kind, **options)`."""

    def make(kind: str = "csv", **options: Any) -> PairDataset:
        return create_dataset("pairs", folder=str(folders / kind), **{"size": 8, **OPTIONS.get(kind, {}), **options})

    return make


@pytest.fixture
def own(tmp_path: Path) -> Callable[..., PairDataset]:
    """`own(rows, **options)`: a CSV of these rows beside two pictures, 00.png and 01.png; not cut unless asked for."""

    def make(rows: list[dict[str, str]], dataset: str = "pairs", **options: Any) -> PairDataset:
        write_pictures(tmp_path, 2)
        (tmp_path / "list.csv").write_text(as_csv(rows))
        return create_dataset(dataset, folder=str(tmp_path), **{**NO_CUT, **options})

    return make


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_batches(kind: str, pairs: Callable[..., PairDataset]) -> None:
    one, reference = pairs(kind), pairs("csv")
    assert one.manifest() == reference.manifest()
    assert one.class_names == {"class": COLOURS}
    plans = [BatchPlan(data.split("train"), 8, Augmentation(crop=(0.5, 1.0)), seed=3) for data in (one, reference)]
    assert plans[0].digest() == plans[1].digest()
    draw = plans[0].draw(0)
    assert np.array_equal(*(plan.split.images[draw.index] for plan in plans))
    assert np.array_equal(*(plan.split.labels["class"][draw.index] for plan in plans))


def test_each_picture_keeps_its_caption_and_class(pairs: Callable[..., PairDataset]) -> None:
    split = pairs(**NO_CUT).split("train")
    assert [*split.captions] == [[caption(i)] for i in range(COUNT)]
    assert split.labels["class"].tolist() == [i % 3 for i in range(COUNT)]
    brightest = split.images[:].mean((1, 2)).argmax(1)
    assert brightest.tolist() == [2 - i % 3 for i in range(COUNT)]


def test_only_the_pictures_of_a_batch_are_read(
    pairs: Callable[..., PairDataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    split = pairs().split("train")
    read: list[int] = []
    original = Index.read
    monkeypatch.setattr(Index, "read", lambda self, i: read.append(i) or original(self, i))
    assert split.images[[0, 3]].shape == (2, 8, 8, 3)
    assert len(read) == 2


def test_the_digest_follows_the_content_and_not_the_folder(folders: Path, tmp_path: Path) -> None:
    before = create_dataset("pairs", folder=str(folders / "csv")).manifest()
    moved = tmp_path / "elsewhere"
    shutil.copytree(folders / "csv", moved)
    assert create_dataset("pairs", folder=str(moved)).manifest() == before
    (moved / "pictures" / name(4)).write_bytes(picture(4) + b"\0")
    assert create_dataset("pairs", folder=str(moved)).manifest().digest != before.digest
    (moved / "pictures" / name(4)).write_bytes(picture(4))
    text = (moved / "list.csv").read_text()
    (moved / "list.csv").write_text(text.replace("number 7", "number seven"))
    assert create_dataset("pairs", folder=str(moved)).manifest().digest != before.digest


def test_a_picture_outside_of_the_folder_that_changes_is_seen(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, own: Callable[..., PairDataset]
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "a.png"
    outside.write_bytes(picture(0))
    rows = [{"image": str(outside), "caption": "a"}, {"image": name(1), "caption": "b"}]
    before = own(rows).manifest().digest
    outside.write_bytes(picture(7))
    assert create_dataset("pairs", folder=str(tmp_path), **NO_CUT).manifest().digest != before


def test_a_later_visit_needs_no_library_which_leaves_no_copy(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHSUITE_CACHE", str(tmp_path))
    before = create_dataset("pairs", folder=str(folders / "parquet")).manifest()
    assert not list((tmp_path / "library").glob("*"))
    monkeypatch.setattr("datasets.load_dataset", lambda *_, **__: pytest.fail("opened again"))
    later = create_dataset("pairs", folder=str(folders / "parquet"))
    assert later.manifest() == before
    assert later.class_names == {"class": COLOURS}
    assert len(later.split("train").images[:2]) == 2


def test_a_cut_is_a_function_of_seed_and_picture(pairs: Callable[..., PairDataset]) -> None:
    data = pairs(seed=5, validation_share=0.25, test_share=0.25)
    expected: dict[str, list[list[str]]] = {"train": [], "validation": [], "test": []}
    for i in range(COUNT):
        number = int.from_bytes(sha256(b"5\0" + sha256(picture(i)).digest()).digest()[:8], "big") / 2**64
        expected["test" if number < 0.25 else "validation" if number < 0.5 else "train"].append([caption(i)])
    assert all(expected.values())
    assert {split: [*data.split(split).captions] for split in data.manifest().splits} == expected


def test_an_empty_split_is_refused_with_the_number_of_pictures(own: Callable[..., PairDataset]) -> None:
    with pytest.raises(
        UsageError,
        match=r"of 2 pictures none falls into test under seed 0. About 25 pictures are needed .* Set another",
    ):
        own(table("", 2), test_share=0.001).manifest()


def test_the_sources_splits_are_taken_and_only_missing_ones_cut(tmp_path: Path) -> None:
    import datasets

    whole = stored()
    parts = {"train": range(14), "dev": range(14, 18), "test": range(18, COUNT)}
    datasets.DatasetDict({k: whole.select(rows) for k, rows in parts.items()}).save_to_disk(tmp_path)  # type: ignore[attr-defined]
    named = create_dataset("pairs", folder=str(tmp_path), validation="dev", size=8)
    assert named.manifest().splits == {"train": 14, "validation": 4, "test": 6}
    assert [*named.split("validation").captions] == [[caption(i)] for i in range(14, 18)]
    cut = create_dataset("pairs", folder=str(tmp_path), size=8)
    assert [*cut.split("test").captions] == [*named.split("test").captions]
    assert cut.manifest().splits["train"] + cut.manifest().splits["validation"] == 14
    ignored = create_dataset("pairs", folder=str(tmp_path), test="none", test_share=0.3, validation_share=0)
    assert sum(ignored.manifest().splits.values()) == 14
    with pytest.raises(UsageError, match=r'split "tset" does not exist \(known: dev, test, train\)'):
        create_dataset("pairs", folder=str(tmp_path), test="tset").manifest()


def test_tables_beside_pictures_tell_the_split_by_their_names(tmp_path: Path) -> None:
    write_pictures(tmp_path / "pictures")
    rows = table("pictures/")
    (tmp_path / "train.csv").write_text(as_csv(rows[:18]))
    (tmp_path / "test.csv").write_text(as_csv(rows[18:]))
    data = create_dataset("pairs", folder=str(tmp_path), validation_share=0)
    assert data.manifest().splits == {"train": 18, "test": 6}
    (tmp_path / "more.jsonl").write_text(json.dumps(rows[0]))
    with pytest.raises(UsageError, match=r"both .csv and .jsonl files lie beside the images"):
        create_dataset("pairs", folder=str(tmp_path)).manifest()


def test_captions_may_be_lists_or_several_columns(tmp_path: Path, own: Callable[..., PairDataset]) -> None:
    rows = [{"image": name(i), "title": f"title {i}", "alt": f"alt {i}"} for i in range(2)]
    assert [*own(rows, caption="title, alt").split("train").captions] == [[f"title {i}", f"alt {i}"] for i in range(2)]
    lines = [{"image": name(i), "caption": [f"one {i}", f"two {i} "]} for i in range(2)]
    (tmp_path / "list.csv").unlink()
    (tmp_path / "list.jsonl").write_text("\n".join(map(json.dumps, lines)))
    data = create_dataset("pairs", folder=str(tmp_path), **NO_CUT)
    assert [*data.split("train").captions] == [["one 0", "two 0"], ["one 1", "two 1"]]


def test_words_for_missing_values_are_words(own: Callable[..., PairDataset]) -> None:
    data = own([{"image": name(i), "caption": text, "label": text} for i, text in enumerate(("NA", "None"))])
    assert [*data.split("train").captions] == [["NA"], ["None"]]
    assert data.class_names["class"] == ("NA", "None")


def test_rows_of_one_picture_are_one_pair(own: Callable[..., PairDataset]) -> None:
    rows = [{"image": name(i), "caption": text} for i, text in ((0, "a"), (1, "b"), (0, "c"), (0, "a"))]
    assert [*own(rows).split("train").captions] == [["a", "c"], ["b"]]
    assert own(rows, merge="false").manifest().splits == {"train": 4}


def test_rows_of_one_picture_must_agree_on_its_class(own: Callable[..., PairDataset]) -> None:
    rows = [{"image": name(0), "caption": "a", "label": label} for label in ("cat", "dog")]
    with pytest.raises(UsageError, match='rows 0 and 1 have the same picture but different classes of "class"'):
        own(rows).manifest()


def test_paraphrases_have_a_digest_of_their_own(own: Callable[..., PairDataset]) -> None:
    def manifest(other: str, **options: Any) -> Any:
        return own([{**row, "other": f"{other} {i}"} for i, row in enumerate(table("", 2))], **options).manifest()

    without, one, two = manifest("so"), manifest("so", paraphrase="other"), manifest("or so", paraphrase="other")
    assert without.digest == one.digest == two.digest
    assert without.paraphrases is None
    assert one.paraphrases != two.paraphrases
    assert [*own([{**row, "other": "x"} for row in table("", 2)], paraphrase="other").split("train").paraphrases] == [
        ["x"],
        ["x"],
    ]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            ("photo", "caption"),
            {},
            "has the pictures? .*pairs.image=COLUMN; there are photo, caption, label",
        ),
        (
            ("image", "words"),
            {},
            "has the captions? .*pairs.caption=COLUMN; there are image, words, label",
        ),
        (
            ("image", "caption"),
            {"caption": "capton"},
            'no column "capton". Did you mean "caption".* --data pairs.caption=COLUMN',
        ),
        (("image", "caption"), {"image": "label"}, "row 0: picture (red|blue) not found; looked in"),
        (("image", "caption"), {"label": "kind"}, 'no column "kind". .*pairs.label=COLUMN'),
        (("image", "caption"), {"classes": "blue"}, 'column label has class "green", which the option names'),
    ],
)
def test_columns_that_are_not_there(
    columns: tuple[str, str], options: dict[str, str], message: str, own: Callable[..., PairDataset]
) -> None:
    rows = [dict(zip((*columns, "label"), row.values(), strict=True)) for row in table("", 2)]
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        own(rows, **options).manifest()


def test_all_wrong_columns_are_told_before_pictures_are_read(own: Callable[..., PairDataset]) -> None:
    rows = [{"image": "99.png", "titel": "a", "details": "b"}]
    for options, wrong in (
        ({"image": "foto"}, ["foto", "detials"]),
        ({}, ["detials"]),
        ({"label": "x"}, ["x", "detials"]),
    ):
        with pytest.raises(UsageError) as raised:
            own(rows, caption="titel,detials", **options).manifest()
        assert [line.split('"')[1] for line in str(raised.value).splitlines()] == wrong


def test_two_columns_that_may_be_meant_are_named(own: Callable[..., PairDataset]) -> None:
    with pytest.raises(UsageError, match=r"caption or text\? Name the column: --data pairs\.caption=COLUMN"):
        own([{**row, "text": "x"} for row in table("", 2)]).manifest()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"image": name(0), "caption": " "}], "split train, row 0: caption is empty"),
        ([{"image": "99.png", "caption": "a"}], "row 0: picture 99.png not found; looked in .*/ and .*/images/\\."),
        ([{"image": "/no/99.png", "caption": "a"}], "row 0: picture /no/99.png not found\\."),
        ([{"image": "https://a/b.png", "caption": "a"}], "holds addresses .* download the pictures first"),
        ([{"image": "list.csv", "caption": "a"}], r"row 0 \(list.csv\): not an image that can be decoded"),
        ([{"image": name(0), "caption": "7"}], "row 0: column caption holds int, not text"),
    ],
)
def test_rows_that_cannot_be_used_are_named(
    rows: list[dict[str, str]], message: str, own: Callable[..., PairDataset]
) -> None:
    with pytest.raises(UsageError, match=message):
        own(rows).manifest()


def test_a_truncated_picture_is_refused_before_training(tmp_path: Path, own: Callable[..., PairDataset]) -> None:
    data = own(table("", 2))
    (tmp_path / name(1)).write_bytes(picture(1)[:150])
    with pytest.raises(UsageError, match=r"split train, row 1 \(01.png\): not an image that can be decoded"):
        data.manifest()


def test_all_pictures_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    write_csv(tmp_path)
    for i in range(7, 14):
        (tmp_path / "pictures" / name(i)).write_bytes(picture(i)[:150])
    with pytest.raises(UsageError, match=f"7 of {COUNT} pictures cannot be read") as raised:
        create_dataset("pairs", folder=str(tmp_path)).manifest()
    *named, _ = str(raised.value).splitlines()
    assert [name(i) in line for i, line in zip(range(7, 12), named, strict=True)] == [True] * 5


def test_classes_are_values_or_numbers_with_names(own: Callable[..., PairDataset]) -> None:
    numbers = [{**row, "label": str(i)} for i, row in enumerate(table("", 2))]
    assert own(numbers).class_names == {"class": ("0", "1")}
    assert own(numbers, classes="cat,dog").class_names == {"class": ("cat", "dog")}
    digests = {own(numbers, classes=given).manifest().digest for given in ("", "cat,dog", "dog,cat")}
    assert len(digests) == 3
    with pytest.raises(UsageError, match="column label has class 1, but there are 1 names"):
        own(numbers, classes="cat").manifest()
    data = own([{**row, "kind": "x"} for row in table("", 2)], label="label,kind")
    assert data.class_names == {"class": ("blue", "green"), "kind": ("x",)}
    assert own(table("", 2), label="none").class_names == {}
    assert own(table("", 2), label="none").manifest().digest != own(table("", 2)).manifest().digest


def test_prompts_are_a_set_of_templates(own: Callable[..., PairDataset]) -> None:
    assert own(table("", 2)).templates["prompts"] == ("a photo of a {}.",)
    assert own(table("", 2), prompts="a {}, drawn").templates["prompts"] == ("a {}, drawn",)
    assert own(table("", 2), prompts='["a {}", "the {}"]').templates["prompts"] == ("a {}", "the {}")
    with pytest.raises(UsageError, match=r'"a thing" must have one \{\} for the class name'):
        own(table("", 2), prompts="a thing")


def test_images_have_no_captions_and_classes_by_folder(tmp_path: Path) -> None:
    for i in range(6):
        (tmp_path / ("cat", "dog")[i % 2]).mkdir(exist_ok=True)
        (tmp_path / ("cat", "dog")[i % 2] / name(i)).write_bytes(picture(i))
    data = create_dataset("images", folder=str(tmp_path), **NO_CUT)
    assert data.class_names == {"class": ("cat", "dog")}
    split = data.split("train")
    assert (len(split), len(split.captions)) == (6, 0)
    assert split.labels["class"].tolist() == [0, 0, 0, 1, 1, 1]
    assert not data.captioned


def test_an_empty_folder_is_told_what_it_must_hold(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"It is empty, and must hold parquet, CSV"):
        create_dataset("pairs", folder=str(tmp_path)).manifest()


def test_code_in_the_folder_is_not_run(tmp_path: Path) -> None:
    folder = tmp_path / "things"
    write_csv(folder)
    (folder / "things.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    with pytest.raises(UsageError, match=r"cannot be read \(Dataset scripts are no longer supported"):
        create_dataset("pairs", folder=str(folder)).manifest()
    assert not (tmp_path / "ran").exists()


def test_a_hub_name_goes_to_the_library_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folders: Path
) -> None:
    import datasets

    asked: list[Any] = []
    here = datasets.load_dataset(str(folders / "parquet"), cache_dir=str(tmp_path))
    monkeypatch.setattr(datasets, "load_dataset", lambda *given, **more: asked.append((*given, more)) or here)
    manifest = create_dataset("pairs", folder="me/things@v2", config="small").manifest()
    assert asked == [("me/things", "small", {"revision": "v2"})]
    assert manifest.digest == create_dataset("pairs", folder=str(folders / "save_to_disk")).manifest().digest


def test_a_hub_that_cannot_be_reached_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets.config.HF_HUB_OFFLINE", True)
    with pytest.raises(UsageError, match=r"^pairs: me/things is neither a folder nor .* the hub \(.*me/things.*\)\.$"):
        create_dataset("pairs", folder="me/things").manifest()


@pytest.mark.parametrize("source", ["", "/no/such", "./here", "a/b/c", "nowhere"])
def test_what_is_neither_a_folder_nor_a_hub_name_is_refused(source: str) -> None:
    with pytest.raises(UsageError, match=r"pairs: (no folder was given. Add --data pairs=FOLDER|.* is not a folder)"):
        create_dataset("pairs", folder=source).manifest()
