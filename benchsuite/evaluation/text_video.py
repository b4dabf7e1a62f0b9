"""Text-to-video retrieval as YouCook2 is reported: R@1/5/10 and the median rank."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchsuite.errors import UsageError
from benchsuite.evaluation.ranks import recall

CUTS = (1, 5, 10)
BLOCK = 2**22
"""Numbers compared at a time."""


def score(similarity: ArrayLike, clip_of_text: ArrayLike | None = None) -> dict[str, float]:
    """Metrics of similarities [texts, clips]; text i is right for clip `clip_of_text[i]`, by default clip i.

    Every caption is a query, those that several clips share too: 3,350 on YouCook2's validation clips, where only its
    own clip is right. `median_rank` is a rank, the others are fractions.
    """
    ranks = text_to_video_ranks(similarity, clip_of_text)
    recalls = {f"t2v_r{k}": recall(ranks, k) for k in CUTS}
    return {**recalls, "median_rank": float(np.median(ranks))}


def text_to_video_ranks(similarity: ArrayLike, clip_of_text: ArrayLike | None = None) -> NDArray[np.int32]:
    """For each text, the rank of its clip; 1 is best, and clips that score as much come before it."""
    scores = np.asarray(similarity)
    if scores.ndim != 2 or not scores.size or scores.dtype.kind not in "fiub":
        raise UsageError(
            f"text-to-video: similarity must be numbers [texts, clips]; given {list(scores.shape)} of {scores.dtype}."
        )
    texts, clips = scores.shape
    if clip_of_text is None and texts != clips:
        raise UsageError(f"text-to-video: {texts} texts and {clips} clips; say which clip each belongs to.")
    right = np.arange(texts) if clip_of_text is None else np.asarray(clip_of_text)
    if right.shape != (texts,) or right.dtype.kind not in "iu":
        raise UsageError(f"text-to-video: {texts} texts need as many clip numbers; given {list(right.shape)}.")
    if len(foreign := np.flatnonzero((right < 0) | (right >= clips))):
        raise UsageError(
            f"text-to-video: text {foreign[0]} belongs to clip {right[foreign[0]]}, but there are {clips} clips."
        )
    found = np.empty(texts, np.int32)
    rows = max(1, BLOCK // clips)
    for start in range(0, texts, rows):
        part = scores[start : start + rows]
        if not np.isfinite(part).all():
            i, j = (int(n) for n in np.argwhere(~np.isfinite(part))[0])
            raise UsageError(f"text-to-video: similarity of text {start + i} and clip {j} is {part[i, j]}.")
        own = np.take_along_axis(part, right[start : start + rows, None], axis=1)
        found[start : start + rows] = (part >= own).sum(1)
    return found
