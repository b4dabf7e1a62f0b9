from collections.abc import Sequence
from statistics import median
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.cards import Card
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.errors import UsageError
from benchsuite.evaluation import text_video as module
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.text_video import score, text_to_video_ranks


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 9))
def test_scores_agree_with_counting_by_hand(seed: int, texts: int, clips: int) -> None:
    rng = np.random.default_rng(seed)
    similarity, right = rng.integers(0, 5, (texts, clips)), rng.integers(0, clips, texts)
    ranks = []
    for i, j in enumerate(right.tolist()):
        others = [k for k in range(clips) if k != j and similarity[i, k] >= similarity[i, j]]
        ranks.append(1 + len(others))
    found = score(similarity, right)
    assert text_to_video_ranks(similarity, right).tolist() == ranks
    assert found == {
        **{f"t2v_r{k}": pytest.approx(sum(rank <= k for rank in ranks) / texts) for k in (1, 5, 10)},
        "median_rank": median(ranks),
    }


def test_by_default_text_and_clip_of_one_number_belong_together() -> None:
    assert score(np.eye(12)) == {"t2v_r1": 1.0, "t2v_r5": 1.0, "t2v_r10": 1.0, "median_rank": 1.0}


def test_a_collapsed_model_is_at_the_bottom() -> None:
    assert score(np.ones((20, 20))) == {"t2v_r1": 0.0, "t2v_r5": 0.0, "t2v_r10": 0.0, "median_rank": 20.0}


def test_clips_with_one_caption_are_each_asked_for_and_only_their_own_is_right() -> None:
    similarity = [[0.9, 0.1, 0.8], [0.0, 1.0, 0.0], [0.9, 0.1, 0.8]]
    assert text_to_video_ranks(similarity).tolist() == [1, 1, 2]


def test_blocks_do_not_change_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    similarity = np.random.default_rng(0).random((31, 31))
    whole = text_to_video_ranks(similarity)
    monkeypatch.setattr(module, "BLOCK", 100)
    assert (text_to_video_ranks(similarity) == whole).all()


EYE = np.eye(3)


@pytest.mark.parametrize(
    ("similarity", "right", "says"),
    [
        (EYE[0], None, r"\[texts, clips\]; given \[3\]"),
        ([["a"]], None, "must be numbers"),
        (EYE[:0], None, r"given \[0, 3\]"),
        (EYE[:2], None, "2 texts and 3 clips; say which clip"),
        (EYE, [0, 1], r"3 texts need as many clip numbers; given \[2\]"),
        (EYE, [0, 1, 0.5], "need as many clip numbers"),
        (EYE, [0, 1, 3], "text 2 belongs to clip 3, but there are 3 clips"),
        (EYE, [0, -1, 1], "text 1 belongs to clip -1"),
        (EYE * [1, 1, np.nan], None, "similarity of text 0 and clip 2 is nan"),
    ],
)
def test_what_cannot_be_scored_is_refused(similarity: Any, right: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        score(similarity, right)


class Steps(PairDataset):
    """Clips with a sentence each, some of them the same: as YouCook2's validation has it."""

    card: ClassVar = Card("dataset", "steps", __name__, "Steps", "tests", __file__, "")
    shows: ClassVar = "clips"
    said: ClassVar = ["cut", "stir", "cut", "fry", "serve", "stir", "boil"]

    def manifest(self) -> Manifest:
        return Manifest("steps", 1, {"validation": len(self.said)}, "0")

    def read(self, split: str) -> Split:
        return Split(split, np.zeros((len(self.said), 2, 1, 1, 3), np.uint8), [[text] for text in self.said])


@given(st.integers(0, 10**6))
def test_the_task_for_videos_gives_what_is_reported_of_youcook2(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, words = rng.integers(-2, 3, (7, 3)), {text: rng.integers(-2, 3, 3) for text in Steps.said}

    class Embed:
        def images(self, split: Split) -> torch.Tensor:
            return torch.tensor(rows).float()

        def texts(self, texts: Sequence[str]) -> torch.Tensor:
            return torch.tensor(np.array([words[text] for text in texts])).float()

    found = create_task("video-retrieval", split="validation").evaluate(Embed(), Steps())  # type: ignore[arg-type]
    reported = score(np.array([words[text] for text in Steps.said]) @ rows.T)
    assert {name: found.metrics[name] for name in ("t2v_r1", "t2v_r5", "t2v_r10")} | {
        "median_rank": found.measures["t2v_median_rank"]
    } == reported
