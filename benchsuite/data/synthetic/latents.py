"""`latents`, `latents-images`, `latents-clips`: vectors from worlds of concepts, where a run takes seconds."""

from typing import Annotated, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from benchsuite.data.base import Vectors
from benchsuite.data.cached import Columns
from benchsuite.data.long_tail import long_tailed
from benchsuite.data.synthetic import latent_world as world
from benchsuite.data.synthetic.base import Synthetic
from benchsuite.data.synthetic.scene_world import stream
from benchsuite.fields import Count, Finite, Share
from benchsuite.registry import register_dataset

CLASSES = {"concept": world.CONCEPTS, "group": world.GROUPS}
PROMPTS = {"prompts-7": 7}
IMAGE_CONCEPTS = 100
IMAGE_LOOK = world.Look(salience=(1.0, 0.5, 0.5, 0.5), nuisance=3.0, redrawn=1.0)
IMAGE_CLASSES = {"concept": IMAGE_CONCEPTS, "group": world.GROUPS}
VERBS, NOUNS, DETAILS = 20, 80, 100
"""The world's concepts, in this order."""
VERB_ZIPF, NOUN_ZIPF = 1.0, 1.0
SECOND = 0.3
"""Probability of a second noun."""
WORDINGS = 2
"""Ways to narrate an action."""
CLIP_LOOK = world.Look(salience=(1.0, 1.0, 0.7, 0.5, 0.5), nuisance=1.0, redrawn=0.5)
"""Of verb, noun, second noun and two details."""
CLIP_CLASSES = {"verb": VERBS, "noun": NOUNS, "verb_noun": VERBS * NOUNS}


@register_dataset("latents", title="Latents", license="Apache-2.0", download=False)
class Latents(Synthetic):
    """Vectors of 128 numbers for images and captions of scenes with four concepts; generated in seconds, no download.

    Concepts follow Zipf's law, captions mention only some of a scene's concepts, many captions fit many images, and a
    share of the training pairs is mismatched. A caption's paraphrase mentions the same concepts in another wording.
    Each seed is a world of its own. Classes: the scene's first concept, of 200, and its group, of 10. `verb`
    is that group, `nouns` are the scene's first two concepts; `tail` is 1 where the first concept is one of the rare
    half.
    """

    version: ClassVar = 2
    shows: ClassVar = "vectors"
    only_counted: ClassVar = True
    redrawn: ClassVar = "seed"
    splits: ClassVar = ("train", "validation", "test", "galleries")
    labels: ClassVar = ("concept", "group", "verb", "nouns", "tail")
    class_names: ClassVar = {kind: [f"{kind} {i}" for i in range(n)] for kind, n in CLASSES.items()}
    templates: ClassVar = {name: [f"wording {i} of {{}}" for i in range(n)] for name, n in PROMPTS.items()}

    train: Count = 20_000
    """Training pairs."""
    validation: Count = 2_000
    """Pairs for tuning."""
    test: Count = 2_000
    """Pairs that are reported on."""
    galleries: Count = 10_000
    """Other pairs to report on, for retrieval in galleries."""
    captions: Count = 2
    """Captions of each image, and paraphrases."""
    renderings: Count = 4
    """Vectors of each training image, which differ in the part of the nuisance that is drawn again."""
    mismatched: Share = 0.05
    """Share of training images that carry another's captions; a world's own is within a quarter of it."""

    def columns(self, split: str) -> Columns:
        number, count = self.splits.index(split), getattr(self, split)
        made = world.World.of(self.seed)
        scenes = world.imagine(self.seed, number, count, zipf=world.ZIPF * made.tail)
        images = made.images(scenes, self.renderings if split == "train" else 1, stream(self.seed, 2, number))
        told = made.told(scenes, self.mismatched, stream(self.seed, 4)) if split == "train" else scenes
        draw, again = (stream(self.seed, 3, number, kind) for kind in (0, 1))
        mentioned = made.mentions((count, self.captions, world.PER_SCENE), draw)
        captions, paraphrases = (made.mentioning(told, mentioned, each) for each in (draw, again))
        first = scenes[:, 0]
        return {
            "images": images,  # [N, V, WIDTH]
            "captions": captions,  # [N, K, WIDTH]
            "paraphrases": paraphrases,  # [N, K, WIDTH]
            "concept": first,
            "group": world.group(first),
            "verb": world.group(first),
            "nouns": scenes[:, :2],
            "tail": (first >= world.CONCEPTS // 2).astype(np.int64),
            "matched": (told == scenes).all(1),
        }

    def prompts_for(self, classes: str, templates: str) -> Vectors:
        """[C, T, WIDTH]: sentences that say only the concept, or the middle of the group, in T wordings."""
        super().prompts_for(classes, templates)
        made = world.World.of(self.seed)
        kinds = {
            "concept": made.said,
            "group": np.stack([made.said[g :: world.GROUPS].mean(0) for g in range(world.GROUPS)]),
        }
        latent = np.repeat(kinds[classes][:, None], PROMPTS[templates], axis=1)
        return made.sentences(latent, stream(self.seed, 5))


@register_dataset("latents-images", title="Latents, images alone", license="Apache-2.0", download=False)
class LatentsImages(Synthetic):
    """Vectors of 128 numbers for images without captions, each of a concept among three others; no download.

    An image is rendered several times; most of what is in its numbers is nuisance that another rendering draws anew,
    which two views teach to ignore. Classes: the concept that counts most, of 100, and its group, of 10, all equally
    frequent. `imbalance` gives the training split a long tail over one of the two, as CIFAR-10-LT and CIFAR-100-LT
    have it.
    """

    version: ClassVar = 2
    shows: ClassVar = "vectors"
    only_counted: ClassVar = True
    redrawn: ClassVar = "seed"
    captioned: ClassVar = False
    splits: ClassVar = ("train", "validation", "test")
    labels: ClassVar = ("concept", "group", "tail")
    class_names: ClassVar = {kind: [f"{kind} {i}" for i in range(n)] for kind, n in IMAGE_CLASSES.items()}

    train: Count = 10_000
    """Training images, before a long tail is cut."""
    validation: Count = 2_000
    """Images for tuning."""
    test: Count = 2_000
    """Images that are reported on."""
    renderings: Count = 4
    """Vectors of each training image."""
    imbalance: Annotated[float, Ge(1), Finite] = 1.0
    """Size of the largest training class over that of the smallest."""
    long_tail: Literal["concept", "group"] = "concept"
    """Which classes have the long tail, if there is an imbalance."""

    def columns(self, split: str) -> Columns:
        scenes = self.scenes(split)
        renderings = self.renderings if split == "train" else 1
        made, draw = world.World.of(self.seed, IMAGE_CONCEPTS), stream(self.seed, 12, self.splits.index(split))
        first = scenes[:, 0]
        return {
            "images": made.images(scenes, renderings, draw, IMAGE_LOOK),  # [N, V, WIDTH]
            "concept": first,
            "group": world.group(first),
            "tail": (self._ids(scenes) >= IMAGE_CLASSES[self.long_tail] // 2).astype(np.int64),
        }

    def scenes(self, split: str) -> world.Ints:
        """[N, PER_SCENE] concepts of each image; of a training split with a long tail, those that are kept."""
        scenes = world.imagine(self.seed, 10 + self.splits.index(split), getattr(self, split), IMAGE_CONCEPTS, zipf=0.0)
        cut = split == "train" and self.imbalance > 1
        return scenes[long_tailed(self._ids(scenes), self.imbalance, self.seed % 2**32)] if cut else scenes

    def _ids(self, scenes: world.Ints) -> world.Ints:
        return scenes[:, 0] if self.long_tail == "concept" else world.group(scenes[:, 0])


@register_dataset("latents-clips", title="Latents, clips", license="Apache-2.0", download=False)
class LatentsClips(Synthetic):
    """Vectors of 128 numbers for clips and sentences, in which something is done to one or two objects; no download.

    Verbs and nouns follow Zipf's law. A clip's narration says verb and nouns in one of two wordings, and clips of
    one action share narrations, as in EPIC-KITCHENS. Its descriptions also mention details, and leave out some of
    the rest, as captions of other video datasets do. Captions are the narration, then descriptions; `test` has
    narrations alone, and `described` and `described_validation` have other clips with descriptions alone. Labels as
    in `clips`: `verb`, `noun` (the first one), `verb_noun`, and `nouns`, the set (-1: no second one), for
    multi-instance retrieval.
    """

    version: ClassVar = 2
    shows: ClassVar = "vectors"
    only_counted: ClassVar = True
    redrawn: ClassVar = "seed"
    splits: ClassVar = ("train", "validation", "test", "described", "described_validation")
    labels: ClassVar = ("verb", "noun", "verb_noun", "nouns")
    class_names: ClassVar = {kind: [f"{kind} {i}" for i in range(n)] for kind, n in CLIP_CLASSES.items()}

    train: Count = 10_000
    """Training clips."""
    validation: Count = 1_000
    """Clips for tuning."""
    test: Count = 2_000
    """Clips with narrations to report on."""
    described: Count = 2_000
    """Clips with descriptions to report on."""
    described_validation: Count = 1_000
    """Clips with descriptions for tuning."""
    descriptions: Count = 2
    """Of each clip that has some."""
    renderings: Count = 4
    """Vectors of each training clip."""
    mismatched: Share = 0.05
    """Share of training clips that carry another's narration and descriptions."""

    def columns(self, split: str) -> Columns:
        number, count = self.splits.index(split), getattr(self, split)
        made = world.World.of(self.seed, VERBS + NOUNS + DETAILS)
        clips = clips_of(self.seed, number, count, made.tail)
        told = made.told(clips, self.mismatched, stream(self.seed, 24)) if split == "train" else clips
        renderings = self.renderings if split == "train" else 1
        verb, noun, second = clips[:, 0], clips[:, 1] - VERBS, clips[:, 2] - VERBS
        captions, paraphrases = (self._captions(made, told, split, kind) for kind in (0, 1))
        return {
            "images": made.images(clips, renderings, stream(self.seed, 22, number), CLIP_LOOK),  # [N, V, WIDTH]
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
        if split.startswith("described"):
            return described
        return narrations if split == "test" else np.concatenate([narrations, described], axis=1)


def clips_of(seed: int, split: int, count: int, tail: float = 1.0) -> world.Ints:
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
