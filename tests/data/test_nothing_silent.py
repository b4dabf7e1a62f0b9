"""What would be read wrongly without a word: it is read rightly, or refused."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from support.own_data import COUNT, as_csv, name, picture, stored, write_pictures

from benchsuite.data import create_dataset
from benchsuite.data.long_tail import class_sizes
from benchsuite.data.readers.files import files_under, read_json
from benchsuite.data.readers.images import BadPicture, decoded, open_image
from benchsuite.data.real.senteval import lines
from benchsuite.data.real.videos import in_time
from benchsuite.errors import UsageError
from benchsuite.evaluation.labelled import vote_ranks

CARD = """---
configs:
- config_name: one
  data_files: [{split: train, path: one.parquet}]
- config_name: two
  data_files: [{split: train, path: two.parquet}]
---
"""


def test_two_configurations_of_a_folder_have_their_own_pictures(tmp_path: Path) -> None:
    for config, rows in (("one", range(5)), ("two", range(5, 15))):
        stored().select(rows).to_parquet(tmp_path / f"{config}.parquet")  # type: ignore[attr-defined]
    (tmp_path / "README.md").write_text(CARD)
    whole = {"validation_share": 0, "test_share": 0}
    found = [create_dataset("pairs", folder=str(tmp_path), config=config, **whole) for config in ("one", "two")]
    assert [data.manifest().splits for data in found] == [{"train": 5}, {"train": 10}]


def test_no_split_of_the_source_is_two_of_ours(tmp_path: Path) -> None:
    import datasets

    whole = stored()
    parts = {"train": range(16), "validation": range(16, COUNT)}
    datasets.DatasetDict({k: whole.select(rows) for k, rows in parts.items()}).save_to_disk(tmp_path)  # type: ignore[attr-defined]
    data = create_dataset("pairs", folder=str(tmp_path), test="validation", validation_share=0.3)
    sizes = data.manifest().splits
    assert (sizes["test"], sizes["train"] + sizes["validation"]) == (8, 16)
    assert not {*map(tuple, data.split("test").captions)} & {*map(tuple, data.split("validation").captions)}
    with pytest.raises(UsageError, match="train and test are both train"):
        create_dataset("pairs", folder=str(tmp_path), train="train", test="train").manifest()


def test_classes_in_another_order_in_another_split_are_refused(tmp_path: Path) -> None:
    import datasets

    def part(names: list[str]) -> object:
        rows = [{"image": {"bytes": picture(i), "path": None}, "label": i % len(names)} for i in range(6)]
        features = datasets.Features(image=datasets.Image(), label=datasets.ClassLabel(names=names))
        return datasets.Dataset.from_list(rows, features=features)

    parts = {"train": part(["a", "b"]), "test": part(["b", "a"])}
    datasets.DatasetDict(parts).save_to_disk(tmp_path)
    with pytest.raises(UsageError, match="column label is of other classes in split test than in split train"):
        create_dataset("images", folder=str(tmp_path), validation_share=0).manifest()


@pytest.mark.parametrize(
    ("rows", "options", "told"),
    [
        ([{"label": "a"}, {"label": " "}], {}, r"row 1: column label holds no class"),
        ([{"kind": "a", "class": "x"}] * 2, {"label": "kind, class"}, r'of a column "class": name it first'),
    ],
)
def test_classes_that_are_none_or_would_hide_others_are_refused(
    tmp_path: Path, rows: list[dict[str, str]], options: dict[str, str], told: str
) -> None:
    write_pictures(tmp_path, 2)
    whole = [{"image": name(i), "caption": "x", **row} for i, row in enumerate(rows)]
    (tmp_path / "list.csv").write_text(as_csv(whole))
    with pytest.raises(UsageError, match=told):
        create_dataset("pairs", folder=str(tmp_path), validation_share=0, test_share=0, **options).manifest()


def test_a_table_with_a_comma_that_has_no_quotes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text("image,caption\na.jpg,a dog, running\n")
    with pytest.raises(UsageError, match=r"train.csv, line 2: 3 cells under 2 names; .* needs quotes"):
        create_dataset("cc3m", folder=str(tmp_path)).manifest()


def encoded(pixels: np.ndarray, kind: str) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, kind)
    return file.getvalue()


def test_sixteen_bits_become_eight_and_pixels_without_a_brightest_are_refused() -> None:
    ramp = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    found = decoded(lambda: open_image(encoded(ramp, "PNG")), "x", 8)
    assert np.array_equal(found[..., 0], ramp // 257)
    for pixels in (ramp.astype(np.int32), ramp.astype(np.float32) / 65535):
        with pytest.raises(BadPicture, match="x: not an image that can be decoded"):
            decoded(lambda pixels=pixels: open_image(encoded(pixels, "TIFF")), "x", 8)  # type: ignore[misc]


def test_frames_are_in_the_order_of_their_numbers() -> None:
    names = [f"{n}.jpg" for n in (10, 2, 1)] + [f"clip2_{n}.jpg" for n in (11, 9)]
    assert sorted(names, key=in_time) == ["1.jpg", "2.jpg", "10.jpg", "clip2_9.jpg", "clip2_11.jpg"]


def test_links_to_folders_are_followed_but_not_back_up(tmp_path: Path) -> None:
    elsewhere, inside = tmp_path / "elsewhere", tmp_path / "folder"
    (elsewhere / "deep").mkdir(parents=True)
    inside.mkdir()
    for place in (elsewhere / "deep" / "a", inside / "b", inside / ".hidden"):
        place.write_text("x")
    (inside / "link").symlink_to(elsewhere)
    (elsewhere / "up").symlink_to(inside)
    (inside / "self").symlink_to(inside)
    assert list(files_under(inside)) == ["b", "link/deep/a"]
    assert files_under(tmp_path / "none") == {}


def test_votes_of_a_small_temperature_do_not_overflow() -> None:
    bank = torch.nn.functional.normalize(torch.tensor([[1.0, 0.0], [0.96, 0.28], [0.9, 0.436]]), dim=1)
    labels, truth = torch.tensor([0, 1, 1]), torch.tensor([0])
    ranks = [vote_ranks(bank[:1], bank, labels, truth, 3, temperature) for temperature in (0.02, 0.002, 1e-4)]
    assert [found.tolist() for found in ranks] == [[1]] * 3


def test_marks_at_the_beginning_and_other_ends_of_lines(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf" + json.dumps([1]).encode())
    assert read_json(tmp_path / "a.json") == [1]
    (tmp_path / "a.txt").write_bytes(b"one\rstill one\ntwo\r\n")
    assert lines(tmp_path / "a.txt") == ["one\rstill one", "two"]


def test_one_class_keeps_all_its_images() -> None:
    assert class_sizes(7, 1, 100.0) == [7]
