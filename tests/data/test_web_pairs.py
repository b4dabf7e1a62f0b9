"""Pairs of pictures and captions from tables and from tar files."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from support.real_files import flat, png, write_pairs, write_shard, write_shards

from benchsuite.data import create_dataset
from benchsuite.data.readers import shards
from benchsuite.errors import UsageError

KINDS = ("tsv", "csv", "json", "jsonl")


def greys(images: np.ndarray) -> list[int]:
    return [round(float(row.mean()) / 10) for row in images]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_table_gives_the_same_pairs(tmp_path: Path, kind: str) -> None:
    split = create_dataset("cc3m", folder=str(write_pairs(tmp_path, kind=kind)), size=4).split("train")
    assert split.images.shape == (12, 4, 4, 3)
    assert greys(split.images[3:5]) == [3, 4]
    assert split.captions[3] == ["a thing, number 3"]
    assert len(split.paraphrases) == 0


def test_a_csv_may_be_parted_by_tabs_as_open_clips_are(tmp_path: Path) -> None:
    folder = write_pairs(tmp_path)
    before = create_dataset("cc3m", folder=str(folder)).manifest()
    (folder / "train.tsv").rename(folder / "train.csv")
    assert create_dataset("cc3m", folder=str(folder)).manifest() == before


def test_tar_files_give_pairs_in_the_order_of_their_names(tmp_path: Path) -> None:
    split = create_dataset("cc12m", folder=str(write_shards(tmp_path)), size=4).split("train")
    assert greys(split.images[:]) == list(range(12))
    assert [texts[0] for texts in split.captions] == [f"a thing, number {i}" for i in range(12)]


def test_validation_is_there_where_its_files_are(tmp_path: Path) -> None:
    write_pairs(tmp_path)
    assert create_dataset("cc3m", folder=str(tmp_path)).manifest().splits == {"train": 12}
    write_shards(tmp_path, (2,), "val")
    assert create_dataset("cc3m", folder=str(tmp_path)).manifest().splits == {"train": 12, "validation": 2}


@pytest.mark.parametrize("write", [write_pairs, write_shards])
def test_a_limit_takes_the_first_pairs_of_training_alone(tmp_path: Path, write: type) -> None:
    write(tmp_path)
    write_pairs(tmp_path, 8, "validation")
    data = create_dataset("cc3m", folder=str(tmp_path), limit=7, size=4)
    assert data.manifest().splits == {"train": 7, "validation": 8}
    assert greys(data.split("train").images[:]) == list(range(7))
    assert len(data.split("train").captions) == 7


def test_a_limit_reads_no_more_tar_files_than_it_needs(tmp_path: Path) -> None:
    write_shards(tmp_path)
    (tmp_path / "train" / "00002.tar").write_bytes(b"no tar file")
    assert create_dataset("cc3m", folder=str(tmp_path), limit=9).manifest().splits == {"train": 9}
    with pytest.raises(UsageError, match=r"00002\.tar: not a complete tar file"):
        create_dataset("cc3m", folder=str(tmp_path), limit=10).manifest()


def test_a_limit_beyond_the_pairs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cc3m: limit = 13, but .* has 12 pairs"):
        create_dataset("cc3m", folder=str(write_pairs(tmp_path)), limit=13).manifest()


def digest(folder: Path, **options: object) -> str:
    return create_dataset("cc3m", folder=str(folder), **options).manifest().digest


def test_the_digest_is_of_the_listing_not_of_the_place_or_the_size(tmp_path: Path) -> None:
    one, two, three = (write_pairs(tmp_path / name) for name in "abc")
    assert digest(one) == digest(two) == digest(three, size=32, fit="squash")


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "train.tsv").write_text((folder / "train.tsv").read_text().replace("number 3", "x")),
        lambda folder: (
            (folder / "train_pictures/003.jpg").write_bytes(png(flat(1, 80, 60), "JPEG")),
            (folder / "train.tsv").write_text((folder / "train.tsv").read_text()),
        ),
        lambda folder: write_pairs(folder, 11),
        lambda folder: write_pairs(folder, 2, "validation"),
    ],
    ids=["a caption", "a picture's size", "fewer pairs", "another split"],
)
def test_what_changes_the_pairs_changes_the_digest(tmp_path: Path, change: type) -> None:
    write_pairs(tmp_path)
    before = digest(tmp_path)
    change(tmp_path)
    assert digest(tmp_path) != before


def test_the_split_that_alone_counts_stands_for_all(tmp_path: Path) -> None:
    write_pairs(tmp_path, 3, "validation")
    alone = digest(tmp_path)
    write_pairs(tmp_path)
    data = create_dataset("cc3m", folder=str(tmp_path), only="validation")
    assert data.manifest().digest == alone
    assert data.manifest().splits == {"validation": 3}
    with pytest.raises(UsageError, match=r'cc3m, only: split "valid" does not exist .*Did you mean "validation"'):
        create_dataset("cc3m", folder=str(tmp_path), only="valid").manifest()


def test_a_listing_is_digested_once_then_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = create_dataset("cc3m", folder=str(write_pairs(tmp_path))).manifest()
    monkeypatch.setattr("benchsuite.data.real.conceptual_captions.pairs_in", lambda *_: pytest.fail("listed again"))
    assert create_dataset("cc3m", folder=str(tmp_path)).manifest() == before


def test_eight_tar_files_are_gone_through_by_other_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for i in range(8):
        write_shard(tmp_path / "train" / f"{i:05}.tar", {str(i): {"jpg": png(flat(i), "JPEG"), "txt": b"a"}})
    scan = shards._scan
    monkeypatch.setattr(
        shards, "_scan", lambda tar, kinds: ((tmp_path / f"{tar.stem}.{os.getpid()}").touch(), scan(tar, kinds))[1]
    )
    monkeypatch.setattr("benchsuite.workers.processors", lambda: 2)
    assert create_dataset("cc12m", folder=str(tmp_path)).manifest().splits == {"train": 8}
    scanned = [file.name.split(".") for file in tmp_path.glob("0*")]
    assert sorted(tar for tar, _ in scanned) == [f"{i:05}" for i in range(8)]
    assert str(os.getpid()) not in {process for _, process in scanned}


def test_a_tar_file_is_gone_through_once_and_again_when_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned: list[str] = []
    real = shards._scan
    monkeypatch.setattr(shards, "_scan", lambda tar, kinds: (scanned.append(tar.name), real(tar, kinds))[1])
    for _ in range(2):
        create_dataset("cc3m", folder=str(write_folder(tmp_path))).split("train")
    assert scanned == ["00000.tar", "00001.tar", "00002.tar"]
    write_shard(tmp_path / "train" / "00001.tar", {"k": {"jpg": png(flat(0), "JPEG"), "txt": b"new"}})
    split = create_dataset("cc3m", folder=str(tmp_path)).split("train")
    assert scanned[3:] == ["00001.tar"]
    assert split.captions[5] == ["new"]


def write_folder(folder: Path) -> Path:
    return folder if (folder / "train").is_dir() else write_shards(folder)


def test_captions_may_be_in_json_alone_and_words_of_any_script(tmp_path: Path) -> None:
    told = json.dumps({"caption": "ein Stück Küche, 猫"}).encode()
    write_shard(tmp_path / "train" / "a.tar", {"x/1": {"png": png(flat(70)), "json": told}, "__meta__": {"txt": b""}})
    split = create_dataset("cc3m", folder=str(tmp_path), size=4).split("train")
    assert [*split.captions] == [["ein Stück Küche, 猫"]]
    assert greys(split.images[:]) == [7]


def samples(**members: bytes) -> dict[str, dict[str, bytes]]:
    return {"0": {"jpg": png(flat(0), "JPEG"), "txt": b"good"}, "1": members}


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"jpg": b"x"}, r"a\.tar, 1: an image without a caption"),
        ({"jpg": b"x", "txt": b"  "}, r"a\.tar, 1: an image without a caption"),
        ({"jpg": b"x", "json": b'{"caption": null}'}, r"a\.tar, 1: an image without a caption"),
        ({"jpg": b"x", "json": b"{"}, r"a\.tar, 1\.json: not valid JSON"),
        ({"jpg": b"x", "txt": b"\xff\xfe"}, r"a\.tar: not a complete tar file"),
        ({"jpg": b"x", "png": b"x", "txt": b"a"}, r"a\.tar: .*1 has two members .png, or two images"),
        ({"jpg": b"x", "txt": b"a", "TXT": b"b"}, r"a\.tar: .*1 has two members .txt"),
        ({"jpg": b"x", "json": b'{"caption": ["a", "b"]}'}, r"a\.tar: .*caption of 1.json is no text but a list"),
    ],
)
def test_wrong_samples_are_refused_by_shard_and_key(tmp_path: Path, members: dict[str, bytes], told: str) -> None:
    write_shard(tmp_path / "train" / "a.tar", samples(**members))
    with pytest.raises(UsageError, match=told):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()


def test_a_broken_image_in_a_tar_file_is_named_when_it_is_asked_for(tmp_path: Path) -> None:
    write_shard(tmp_path / "train" / "a.tar", samples(jpg=b"\xff\xd8\xff", txt=b"bad"))
    split = create_dataset("cc3m", folder=str(tmp_path), size=4).split("train")
    assert greys(split.images[:1]) == [0]
    with pytest.raises(UsageError, match=r"a\.tar, 1: not an image that can be decoded"):
        split.images[1:]


@pytest.mark.parametrize("end", [3 * 512, 2 * 512 + 100, 3 * 512 + 100, 5 * 512, 200])
def test_a_tar_file_that_is_cut_short_is_refused(tmp_path: Path, end: int) -> None:
    file = write_shard(tmp_path / "train" / "a.tar", {"0": {"jpg": b"x" * 600, "txt": b"a"}, "1": {"jpg": b"x"}})
    file.write_bytes(file.read_bytes()[:end])  # header, two blocks, header, block, header, block, end
    with pytest.raises(UsageError, match=r"a\.tar: not a complete tar file"):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("train.tsv", "filepath\ttitle\n", "train.tsv: there are no pairs"),
        ("train.tsv", "", "train.tsv: there are no pairs"),
        ("train.tsv", "a.jpg\ta dog\nb.jpg\ta cat\n", "train.tsv, line 2: it has a.jpg, a dog. There must be a column"),
        ("train.csv", "image,caption\na.jpg\n", "train.csv, line 2: the image file or its caption is empty"),
        ("train.csv", "image,caption\na.jpg,\n", "train.csv, line 2: the image file or its caption is empty"),
        ("train.csv", "image,caption\na.jpg,a dog\n", r"a\.jpg or .*images/a\.jpg or .*: no such image"),
        ("train.json", "{", "train.json: not valid JSON"),
        ("train.json", "{}", "train.json: not a list of objects"),
        ("train.json", "[1]", "train.json, line 1: not an object"),
        ("train.jsonl", '{"image": "a.jpg", "caption": []}', "train.jsonl, line 1: the image file or its caption"),
        ("train.csv", "image,caption\n\0,\xe4\n", "train.csv"),
        ("other.csv", "", "must hold train.tsv"),
    ],
)
def test_wrong_tables_are_refused_by_file_and_line(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=told):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()


def test_an_image_that_is_listed_but_not_there_is_named(tmp_path: Path) -> None:
    (write_pairs(tmp_path) / "train_pictures" / "005.jpg").unlink()
    with pytest.raises(UsageError, match=r"train_pictures/005\.jpg: no such file, but it is listed"):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()


def test_two_sources_of_one_split_are_refused(tmp_path: Path) -> None:
    write_pairs(write_pairs(tmp_path), kind="json")
    with pytest.raises(UsageError, match=r"train\.tsv and train\.json are two tables for the same"):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()
    (tmp_path / "train.json").unlink()
    write_shards(tmp_path)
    with pytest.raises(UsageError, match=r"train\.tsv and train/00000\.tar are train"):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()


def test_no_folder_says_how_to_give_one() -> None:
    with pytest.raises(UsageError, match=r"cc12m: no folder was given. Add --data cc12m=FOLDER"):
        create_dataset("cc12m").manifest()


def write_paraphrases(folder: Path, ids: list[str], kind: str = "jsonl") -> None:
    if kind == "jsonl":
        rows = [json.dumps({"id": one, "paraphrases": [f"{one} said {k}" for k in range(5)]}) for one in ids]
    else:
        rows = ["id,paraphrase", *(f"{one},{one} said {k}" for one in ids for k in range(5))]
    (folder / f"paraphrases.{kind}").write_text("\n".join(rows) + "\n")


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_paraphrases_are_found_by_the_tables_id(tmp_path: Path, kind: str) -> None:
    write_pairs(tmp_path, kind="json")
    write_pairs(tmp_path, 2, "validation")
    write_paraphrases(tmp_path, [str(i) for i in reversed(range(20))], kind)
    data = create_dataset("cc3m", folder=str(tmp_path))
    assert data.split("train").paraphrases[3] == [f"3 said {k}" for k in range(5)]
    assert data.split("validation").paraphrases == ()


def test_paraphrases_are_found_by_the_key_in_the_tar_file(tmp_path: Path) -> None:
    write_shards(tmp_path, (1, 1))
    write_paraphrases(tmp_path, ["000000000", "000010000"])
    split = create_dataset("cc3m", folder=str(tmp_path)).split("train")
    assert [said[0] for said in split.paraphrases] == ["000000000 said 0", "000010000 said 0"]


def test_a_pair_without_a_paraphrase_is_named(tmp_path: Path) -> None:
    write_pairs(tmp_path, kind="json")
    write_paraphrases(tmp_path, [str(i) for i in range(11)])
    with pytest.raises(UsageError, match=r'paraphrases\.jsonl: there is no paraphrase for "11"'):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()
    (tmp_path / "paraphrases.jsonl").write_text('{"id": 1, "other": []}\n')
    with pytest.raises(UsageError, match=r'paraphrases\.jsonl, line 1: there must be "id", and "paraphrases"'):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()
