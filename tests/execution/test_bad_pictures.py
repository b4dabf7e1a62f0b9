"""A picture that cannot be decoded ends a run by name, or is replaced and counted where that was asked for."""

from pathlib import Path

import pytest
from support.real_files import write_pairs

from benchsuite.analysis.pairing import pairable
from benchsuite.data.readers.images import BadPicture
from benchsuite.errors import UsageError
from benchsuite.execution.measure import measure
from benchsuite.planning.plan import Run, resolve_method, resolve_setup
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import Record, run_id
from benchsuite.setup import Data, Protocol
from benchsuite.training.feed import MOST_IN_A_ROW, Pictures

BAD = "005.jpg"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve training pairs; the bytes of one picture are damaged."""
    write_pairs(tmp_path, 4, "validation")
    picture = write_pairs(tmp_path) / "train_pictures" / BAD
    content = bytearray(picture.read_bytes())
    content[: len(content) // 2] = bytes(len(content) // 2)
    picture.write_bytes(content)
    return tmp_path


def planned(folder: Path, seed: int = 0) -> Run:
    recipe = read_recipe("cifar10-smoke")
    changes = {
        "data": Data(name="cc3m", options={"size": 32}),
        "training": recipe.training.model_copy(update={"batch": 4, "steps": 3}),
        "protocols": {"geometry": Protocol(task="geometry", options={"split": "validation"})},
    }
    setup = resolve_setup(recipe.model_copy(update=changes), "RN50", {"cc3m": str(folder)})
    part = resolve_method("infonce", {}, 1.0)
    ids = run_id(setup.setup_id, part.method_id, seed)
    return Run(run_id=ids, setup=setup, method=part, seed=seed, label="tiny", estimate=0.0)


def measured(folder: Path, monkeypatch: pytest.MonkeyPatch, workers: int = 0, skip: bool = True) -> Record:
    monkeypatch.setenv("BENCHSUITE_WORKERS", str(workers))
    monkeypatch.setenv("BENCHSUITE_SKIP_BAD_PICTURES", "1" if skip else "")
    return measure(planned(folder)).record


@pytest.mark.parametrize("workers", [0, 2])
def test_a_bad_picture_ends_the_run_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    with pytest.raises(UsageError, match=rf"train_pictures/{BAD}: not an image that can be decoded"):
        measured(folder, monkeypatch, workers, skip=False)


def test_a_skipped_picture_is_counted_and_the_run_pairs_only_with_its_like(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped, by_workers = (measured(folder, monkeypatch, workers) for workers in (0, 2))
    assert skipped.cost["skipped_pictures"] == 1
    assert skipped.curves == by_workers.curves
    assert skipped.digests == by_workers.digests
    assert pairable(skipped, by_workers) == ""
    write_pairs(folder)
    whole = measured(folder, monkeypatch)
    assert "skipped_pictures" not in {**whole.cost, **whole.digests}
    assert whole.setup_id == skipped.setup_id
    assert whole.run_id == skipped.run_id, "what a machine does is no part of an identity"
    assert pairable(skipped, whole) == pairable(whole, skipped) == "they skipped different pictures"


def test_the_next_good_pair_stands_in_with_its_caption_and_number(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from benchsuite.data import create_dataset
    from benchsuite.data.batches import BatchPlan
    from benchsuite.data.prepared import Prepared
    from benchsuite.models.vectors import text_reader
    from benchsuite.training.feed import Feed

    (folder / "train_pictures" / "006.jpg").write_bytes(b"")
    monkeypatch.setenv("BENCHSUITE_SKIP_BAD_PICTURES", "1")
    split = create_dataset("cc3m", folder=str(folder), size=32).split("train")
    setup = planned(folder).setup
    training = setup.training.model_copy(update={"batch": 12, "steps": 1})
    setup = setup.model_copy(update={"training": training})
    plan = BatchPlan(split, 12, setup.augmentation, seed=0)
    words = text_reader(setup, split)
    assert words is not None
    feed = Feed(setup, plan, words, frozenset({"image_view"}), Prepared(), torch.device("cpu"), 0)
    inputs = feed(0, 0)
    order = plan.index(0).tolist()
    stands = {5: 7, 6: 7}
    assert inputs.extra["index"].tolist() == [stands.get(row, row) for row in order]
    captions = [split.captions[stands.get(row, row)][0] for row in order]
    assert inputs.tokens["text"].ids.tolist() == words(captions).ids.tolist()  # type: ignore[union-attr]
    assert sorted(feed.skipped) == [5, 6]
    assert str(folder / "train_pictures" / BAD) in feed.skipped[5]


class Unreadable:
    """Pictures of a disk that is gone."""

    def __len__(self) -> int:
        return 1000

    def __getitem__(self, index: object) -> None:
        raise BadPicture(f"picture {index}: not an image that can be decoded (Input/output error).")


def test_a_whole_folder_that_cannot_be_read_is_not_skipped() -> None:
    import numpy as np

    with pytest.raises(UsageError, match=f"picture 3: .* So are the {MOST_IN_A_ROW} pictures after it"):
        Pictures(Unreadable(), replace=True).read(np.array([3]))  # type: ignore[arg-type]
