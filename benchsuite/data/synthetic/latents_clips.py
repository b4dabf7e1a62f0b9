"""`latents-clips`: pairs of vectors for video tables, with verbs, nouns and narrations that clips share."""

from typing import ClassVar

import numpy as np

from benchsuite.data.cached import Columns
from benchsuite.data.synthetic import latent_world as world
from benchsuite.data.synthetic.base import Synthetic
from benchsuite.data.synthetic.scene_world import stream
from benchsuite.fields import Count, Share
from benchsuite.registry import register_dataset

VERBS, NOUNS, DETAILS = 20, 80, 100
"""The world's concepts, in this order."""
VERB_ZIPF, NOUN_ZIPF = 1.0, 1.0
SECOND = 0.3
"""Probability of a second noun."""
WORDINGS = 2
"""Ways to narrate an action."""
LOOK = world.Look(salience=(1.0, 1.0, 0.7, 0.5, 0.5), nuisance=1.0, redrawn=0.5)
"""Of verb, noun, second noun and two details."""
CLASSES = {"verb": VERBS, "noun": NOUNS, "verb_noun": VERBS * NOUNS}


@register_dataset("latents-clips", title="Latents, clips", license="Apache-2.0", download=False)
class LatentsClips(Synthetic):
    """Vectors of 128 numbers for clips and sentences, in which something is done to one or two objects; no download.

    Verbs and nouns follow Zipf's law. A clip's narration says verb and nouns in one of two wordings, and clips of
    one action share narrations, as in EPIC-KITCHENS. Its descriptions also mention details, and leave out some of
    the rest, as captions of other video datasets do. Captions are the narration, then descriptions; `test` has
    narrations alone, `described` has other clips with descriptions alone. Labels as in `clips`: `verb`, `noun` (the
    first one), `verb_noun`, and `nouns`, the set (-1: no second one), for multi-instance retrieval.
    """

    version: ClassVar = 2
    shows: ClassVar = "vectors"
    redrawn: ClassVar = "seed"
    splits: ClassVar = ("train", "validation", "test", "described")
    labels: ClassVar = ("verb", "noun", "verb_noun", "nouns")
    class_names: ClassVar = {kind: [f"{kind} {i}" for i in range(n)] for kind, n in CLASSES.items()}

    train: Count = 10_000
    """Training clips."""
    validation: Count = 1_000
    """Clips for tuning."""
    test: Count = 2_000
    """Clips with narrations to report on."""
    described: Count = 2_000
    """Clips with descriptions to report on."""
    descriptions: Count = 2
    """Of each clip that has some."""
    renderings: Count = 4
    """Vectors of each training clip."""
    mismatched: Share = 0.05
    """Share of training clips that carry another's narration and descriptions."""

    def columns(self, split: str) -> Columns:
        number, count = self.splits.index(split), getattr(self, split)
        made = world.World.of(self.seed, VERBS + NOUNS + DETAILS)
        clips = imagine(self.seed, number, count, made.tail)
        told = made.told(clips, self.mismatched, stream(self.seed, 24)) if split == "train" else clips
        renderings = self.renderings if split == "train" else 1
        verb, noun, second = clips[:, 0], clips[:, 1] - VERBS, clips[:, 2] - VERBS
        captions, paraphrases = (self._captions(made, told, split, kind) for kind in (0, 1))
        return {
            "images": made.images(clips, renderings, stream(self.seed, 22, number), LOOK),  # [N, V, WIDTH]
            "captions": captions,  # [N, K, WIDTH]
            "paraphrases": paraphrases,  # [N, K, WIDTH]
            "verb": verb,
            "noun": noun,
            "verb_noun": verb * NOUNS + noun,
            "nouns": np.stack([noun, np.where(clips[:, 2] == clips[:, 1], -1, second)], axis=1),
        }

    def _captions(self, made: world.World, told: world.Ints, split: str, kind: int) -> world.Vectors:
        """Those of a kind, captions or paraphrases; both mention the same."""
        number, said = self.splits.index(split), actions(made, told)
        mentioned = made.mentions((len(told), self.descriptions, told.shape[1]), stream(self.seed, 25, number))
        mentioned[..., 2] &= (told[:, 2] != told[:, 1])[:, None]
        draw = stream(self.seed, 23, number, kind)
        narrations = made.stock(said, draw.randint(0, WORDINGS, len(told)))[:, None]
        described = made.mentioning(told, mentioned, draw)
        parts = {"test": [narrations], "described": [described]}.get(split, [narrations, described])
        return np.concatenate(parts, axis=1)


def imagine(seed: int, split: int, count: int, tail: float = 1.0) -> world.Ints:
    """[count, 5] concepts of each clip: verb, noun, second noun (the first again: none) and two details.

    `tail` is a factor of Zipf's exponents.
    """
    draw = stream(seed, 21, split).random_sample((count, 6))
    verb = _ranked(draw[:, 0], VERBS, VERB_ZIPF * tail)
    noun, other = (VERBS + _ranked(draw[:, i], NOUNS, NOUN_ZIPF * tail) for i in (1, 2))
    second = np.where(draw[:, 3] < SECOND, other, noun)
    first_detail = (draw[:, 4] * DETAILS).astype(np.int64)
    second_detail = (first_detail + 1 + (draw[:, 5] * (DETAILS - 1)).astype(np.int64)) % DETAILS
    return np.stack([verb, noun, second, VERBS + NOUNS + first_detail, VERBS + NOUNS + second_detail], axis=1)


def actions(made: world.World, clips: world.Ints) -> world.Floats:
    """[N, LATENT]: what narrations say, verb and nouns; the order of two nouns does not matter."""
    two = (clips[:, 2] != clips[:, 1])[:, None]
    said: world.Floats = made.said[clips[:, 0]] + (made.said[clips[:, 1]] + two * made.said[clips[:, 2]])
    return said


def _ranked(uniform: world.Floats, classes: int, zipf: float) -> world.Ints:
    weight = np.cumsum(1 / np.arange(1, classes + 1) ** zipf)
    return np.asarray(np.searchsorted(weight, uniform * weight[-1], side="right"), np.int64)
