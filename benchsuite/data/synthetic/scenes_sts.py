"""`scenes-sts`: pairs of captions of `scenes`, and the share of facts that they have in common."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated

import numpy as np
from annotated_types import Ge

from benchsuite.data.base import Manifest
from benchsuite.data.cached import Columns
from benchsuite.data.sentences import SentencePairs, SimilarityDataset
from benchsuite.data.synthetic import scene_grammar as grammar
from benchsuite.data.synthetic import scene_world as world
from benchsuite.data.synthetic.base import digest, digest_of
from benchsuite.data.synthetic.scene_facts import alike
from benchsuite.data.synthetic.scenes import WORDINGS, Scenes
from benchsuite.errors import UnknownError
from benchsuite.registry import register_dataset

VERSION = 1
IMAGES = Annotated[int, Ge(10)]


@register_dataset("scenes-sts", title="Caption similarity of scenes", license="Apache-2.0", download=False)
class ScenesSts(SimilarityDataset):
    """Pairs of captions of `scenes` with the share of facts they have in common; for the task sts, no download.

    Sets `validation` and `test` hold captions of these splits' images. Three subsets: `same`, two captions of one
    image; `near`, of two images that show one of the same objects; `any`, of two images at random. Gold is the
    number of facts both captions state over the number either states (0 to 1): colour, shape and size of each object,
    their relation, ground and pattern. Synonyms are one fact; so are "a left of b" and "b right of a".
    """

    seed: Annotated[int, Ge(0)] = 2024
    """Of the data, as of `scenes`."""
    validation: IMAGES = 1_000
    """Images of the validation set; each has a pair in every subset, unless no other shows its objects."""
    test: IMAGES = 1_000
    """Images of the test set."""

    def manifest(self) -> Manifest:
        return Manifest("scenes-sts", VERSION, {}, self._digest, self.options())

    def pairs(self, name: str) -> dict[str, SentencePairs]:
        if name not in self._sets:
            raise UnknownError("similarity set", name, self._sets, "scenes-sts: ")
        return self._sets[name]

    @cached_property
    def _sets(self) -> dict[str, dict[str, SentencePairs]]:
        return {name: similarity_subsets(self.seed, name, getattr(self, name)) for name in ("validation", "test")}

    @cached_property
    def _digest(self) -> str:
        return digest_of({name: digest(_columns(subsets)) for name, subsets in self._sets.items()})


def similarity_subsets(seed: int, split: str, count: int) -> dict[str, SentencePairs]:
    """The pairs of a split's first `count` images (i, j): the first caption of i with the second of j."""
    number = Scenes.splits.index(split)
    scenes = world.imagine(seed, number, count)
    texts = grammar.wordings(scenes, count, WORDINGS, seed, number, 0)
    draw = world.stream(seed, 5, number)
    shown = np.stack([scenes.facts[:, 0] * 10 + scenes.facts[:, 1], scenes.facts[:, 2] * 10 + scenes.facts[:, 3]], 1)
    near = []
    for i, place in enumerate(draw.randint(0, 2**31, size=count, dtype=np.int64).tolist()):
        common = np.flatnonzero((shown[:, :, None] == shown[i]).any((1, 2)))
        if len(others := common[common != i]):
            near.append((i, int(others[place % len(others)])))
    away = (np.arange(count) + 1 + draw.randint(0, count - 1, size=count, dtype=np.int64)) % count
    return {
        "same": _pairs(texts, [(i, i) for i in range(count)]),
        "near": _pairs(texts, near),
        "any": _pairs(texts, list(enumerate(away.tolist()))),
    }


def _pairs(texts: Sequence[Sequence[str]], images: Sequence[tuple[int, int]]) -> SentencePairs:
    a, b = [texts[i][0] for i, _ in images], [texts[j][1] for _, j in images]
    return SentencePairs(a, b, np.array([alike(x, y) for x, y in zip(a, b, strict=True)]))


def _columns(subsets: dict[str, SentencePairs]) -> Columns:
    texts: Columns = {name: [list(pairs.a), list(pairs.b)] for name, pairs in subsets.items()}
    return {**texts, **{f"{name}.gold": pairs.gold for name, pairs in subsets.items()}}
