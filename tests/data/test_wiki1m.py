"""Sentences alone."""

from pathlib import Path

import pytest

from benchsuite.data import create_dataset
from benchsuite.data.batches import BatchPlan
from benchsuite.errors import UsageError
from benchsuite.setup import Augmentation


@pytest.fixture
def folder(tmp_path: Path) -> str:
    lines = [f" Sentence {i} of a page .\r" for i in range(10)]
    (tmp_path / "wiki1m_for_simcse.txt").write_text("\n".join([*lines[:5], "", *lines[5:]]) + "\n")
    return str(tmp_path)


def test_each_line_is_a_sentence_and_there_is_nothing_to_see(folder: str) -> None:
    split = create_dataset("wiki1m", folder=folder).split("train")
    assert len(split) == 10
    assert split.captions[5] == ["Sentence 5 of a page ."]
    assert split.images.size == 0


def test_batches_of_sentences_can_be_drawn_with_dropout_views(folder: str) -> None:
    split = create_dataset("wiki1m", folder=folder).split("train")
    plan = BatchPlan(split, 4, Augmentation(text_view="dropout"), 0)
    assert plan.draw_view(0).captions == plan.draw(0).captions
    assert len(set(plan.draw(0).captions)) == 4


def test_a_limit_takes_the_first(folder: str) -> None:
    whole, part = (create_dataset("wiki1m", folder=folder, limit=limit) for limit in (None, 3))
    assert part.manifest().splits == {"train": 3}
    assert part.manifest().digest != whole.manifest().digest
    with pytest.raises(UsageError, match=r"wiki1m_for_simcse\.txt: 10 sentences; 11 are needed"):
        create_dataset("wiki1m", folder=folder, limit=11).manifest()


def test_a_missing_or_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"wiki1m_for_simcse\.txt: no such file"):
        create_dataset("wiki1m", folder=str(tmp_path)).manifest()
    (tmp_path / "wiki1m_for_simcse.txt").write_text("\n")
    with pytest.raises(UsageError, match="0 sentences; 1 are needed"):
        create_dataset("wiki1m", folder=str(tmp_path)).manifest()
