"""Multi-instance retrieval of clips and sentences: relevancy, soft mAP and nDCG, as EPIC-KITCHENS-100 has them."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchsuite.data.base import PairDataset, Split
from benchsuite.data.readers.tables import read_csv, whole_number, whole_numbers
from benchsuite.errors import UsageError, require_known
from benchsuite.evaluation.base import Embedder, Task
from benchsuite.evaluation.graded import Numbers, Whole, means, pack, rank
from benchsuite.records.recompute import Scores
from benchsuite.registry import register_task

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
BLOCK = 512
EXACT = 2**53
"""Whole numbers below this are exact in double precision."""
CLIP_FIELDS = ("narration_id", "verb_class", "all_noun_classes")


@dataclass(frozen=True)
class Actions:
    """The verb class and the set of noun classes of each clip or sentence."""

    verb: Ints  # [N]
    nouns: NDArray[np.bool_]  # [N, classes]

    @classmethod
    def of(cls, verb: Sequence[int], nouns: Sequence[Sequence[int]]) -> "Actions":
        """From verb classes and sets of noun classes; a set without a noun is refused."""
        hot = np.zeros((len(nouns), 1 + max((n for classes in nouns for n in classes), default=0)), dtype=bool)
        for i, classes in enumerate(nouns):
            if not classes or min(classes) < 0:
                raise UsageError(f"relevancy: item {i} has noun classes {list(classes)}; give at least one, from 0 on.")
            hot[i, list(classes)] = True
        return cls(np.asarray(verb, np.int64), hot)

    def take(self, index: Sequence[int]) -> "Actions":
        return Actions(self.verb[list(index)], self.nouns[list(index)])


@register_task(
    "multi-instance-retrieval",
    title="Multi-instance retrieval",
    version=1,
    metrics=("map_v2t", "map_t2v", "map", "ndcg_v2t", "ndcg_t2v", "ndcg"),
    headline="map",
)
class MultiInstanceRetrieval(Task):
    """Soft mAP and nDCG between the clips of a split and its different narrations, in both directions.

    Relevancy is 0.5 (same verb class) + 0.5 IoU (noun classes), of the labels `verb`, [N], and `nouns`, [N, K] padded
    with -1. A clip's narration is its first caption; narrations that several clips share count once, with the classes
    of the first of these clips. Ties count against the model. Stored beside the record: the ranks of items of relevancy
    1, and the relevancy levels in the ranks that nDCG reads.
    """

    embeds: ClassVar = frozenset({"image", "text"})

    split: str = "test"
    """Which clips and narrations are searched."""

    def reads(self, dataset: PairDataset) -> Iterator[Callable[[], object]]:
        yield lambda: self._actions(dataset.split(self.split))
        yield lambda: dataset.split(self.split).captions_for(self.card.name)

    def evaluate(self, embed: Embedder, dataset: PairDataset) -> Scores:
        split = dataset.split(self.split)
        actions = self._actions(split)
        narrations = [texts[0] for texts in split.captions_for(self.card.name)]
        first: dict[str | bytes, int] = {}  # a vector is told from another by its bytes
        for i, text in enumerate(narrations):
            first.setdefault(text if isinstance(text, str) else text.tobytes(), i)
        worth, whole = relevancy_parts(actions, actions.take(list(first.values())))
        similarity = (
            embed.images(split).double() @ embed.texts([narrations[i] for i in first.values()]).double().T
        ).numpy()
        levels = np.unique(worth)
        ranks: dict[str, Whole] = {"levels": levels[levels > 0].astype(np.int64)}
        for way, (scores, parts) in _both_ways(similarity, worth).items():
            ranks |= pack(way, rank(scores, parts, whole, way), ranks["levels"])
        return self.from_ranks(ranks)

    def _actions(self, split: Split) -> Actions:
        for name in ("verb", "nouns"):
            require_known("set of labels", name, split.labels, f"multi-instance-retrieval, split {split.name}: ")
        verb, nouns = split.labels["verb"], split.labels["nouns"]
        sets = nouns.reshape(len(nouns), -1).tolist()
        return Actions.of(verb.tolist(), [sorted({n for n in classes if n >= 0}) for classes in sets])


def score(similarity: ArrayLike, relevancy: ArrayLike) -> dict[str, float]:
    """Metrics of similarities [clips, sentences] against relevancies of the same shape, as fractions.

    nDCG: linear gain, discount 1 / log2(rank + 1), cut at the number of items with relevancy above 0. mAP is not
    binary: the precision at k is the sum of the relevancies up to k over k, read where the relevancy is exactly 1.
    Items of equal similarity are ranked by relevancy, least first. A query without an item of relevancy 1 has no
    precision and is skipped in mAP; a query without any relevant item is skipped in nDCG too.
    """
    ways = _both_ways(_matrix("similarity", similarity), _matrix("relevancy", relevancy))
    return means({way: rank(*both, 1, way) for way, both in ways.items()})


def _both_ways(similarity: Numbers, relevant: Numbers) -> dict[str, tuple[Numbers, Numbers]]:
    if similarity.shape != relevant.shape:
        raise UsageError(
            f"multi-instance retrieval: similarity is {similarity.shape} and relevancy {relevant.shape}; "
            "both must be [clips, sentences]."
        )
    return {"v2t": (similarity, relevant), "t2v": (similarity.T, relevant.T)}


def _matrix(name: str, values: ArrayLike) -> Numbers:
    matrix = np.asarray(values)
    if matrix.ndim != 2 or not matrix.size or matrix.dtype.kind not in "fiub":
        given = f"{list(matrix.shape)} of {matrix.dtype}"
        raise UsageError(f"multi-instance retrieval: {name} must be numbers [clips, sentences]; given {given}.")
    return matrix


def relevancy(clips_csv: Path | str, sentences_csv: Path | str) -> Floats:
    """[clips, sentences] of 0.5 (same verb class) + 0.5 IoU (noun classes), from EPIC-KITCHENS-100's two files.

    A sentence's classes are those of the clip with its `narration_id`. The narrations are not read: in the last
    rows of the official file, some stand beside another clip's id.
    """
    clips, sentences = Path(clips_csv), Path(sentences_csv)
    rows = _read(clips, CLIP_FIELDS)
    actions = Actions.of(
        [whole_number(f"{clips}, row {i}", "verb_class", row) for i, row in enumerate(rows, start=2)],
        [whole_numbers(f"{clips}, row {i}", "all_noun_classes", row) for i, row in enumerate(rows, start=2)],
    )
    positions = {row["narration_id"]: i for i, row in enumerate(rows)}
    wanted = [row["narration_id"] for row in _read(sentences, ("narration_id",))]
    if lost := [name for name in wanted if name not in positions]:
        raise UsageError(f'{sentences}: narration_id "{lost[0]}" is not in {clips}, which has the classes.')
    return relevancy_between(actions, actions.take([positions[name] for name in wanted]))


def relevancy_between(rows: Actions, columns: Actions) -> Floats:
    """[rows, columns] of 0.5 (same verb class) + 0.5 (nouns in common / nouns in either)."""
    relevancies = np.empty((len(rows.verb), len(columns.verb)))
    for part, same, common, either in _overlaps(rows, columns):
        relevancies[part] = 0.5 * same + 0.5 * common / either
    return relevancies


def relevancy_parts(rows: Actions, columns: Actions) -> tuple[NDArray[np.integer[Any]], int]:
    """The same in exact whole numbers: [rows, columns] in parts, and the number of parts that make 1."""
    largest = int(rows.nouns.sum(1).max() + columns.nouns.sum(1).max())
    half = math.lcm(*range(1, largest + 1))  # any number of nouns in either divides it
    if 2 * half * max(len(rows.verb), len(columns.verb)) >= EXACT:
        raise UsageError(f"relevancy: a pair may have {largest} noun classes in either, too many for exact sums.")
    parts = np.empty((len(rows.verb), len(columns.verb)), np.min_scalar_type(2 * half))
    for part, same, common, either in _overlaps(rows, columns):
        parts[part] = half * same + common * (half / either)
    return parts, 2 * half


def _overlaps(rows: Actions, columns: Actions) -> Iterator[tuple[slice, NDArray[np.bool_], Floats, Floats]]:
    """Blocks of rows: whether the verb is the same, the number of nouns in common, and in either."""
    width = min(rows.nouns.shape[1], columns.nouns.shape[1])
    others, sizes = columns.nouns[:, :width].astype(float), columns.nouns.sum(1)
    for start in range(0, len(rows.verb), BLOCK):
        part = slice(start, start + BLOCK)
        common = rows.nouns[part, :width].astype(float) @ others.T
        either = rows.nouns[part].sum(1)[:, None] + sizes[None] - common
        yield part, rows.verb[part, None] == columns.verb[None], common, either


def _read(file: Path, fields: Sequence[str]) -> list[dict[str, str]]:
    rows = read_csv(file, fields)
    seen: set[str] = set()
    for i, row in enumerate(rows):
        if short := [field for field in fields if not row[field]]:
            raise UsageError(f'{file}, row {i + 2}: there is no value for "{short[0]}".')
        if row["narration_id"] in seen:
            raise UsageError(f'{file}, row {i + 2}: narration_id "{row["narration_id"]}" stands there twice.')
        seen.add(row["narration_id"])
    return rows
