"""`latents`: pairs of vectors from a world of concepts, where a run takes seconds."""

from typing import ClassVar

import numpy as np

from benchsuite.data.base import Vectors
from benchsuite.data.cached import Columns
from benchsuite.data.synthetic import latent_world as world
from benchsuite.data.synthetic.base import Synthetic
from benchsuite.data.synthetic.scene_world import stream
from benchsuite.fields import Count, Share
from benchsuite.registry import register_dataset

CLASSES = {"concept": world.CONCEPTS, "group": world.GROUPS}
PROMPTS = {"prompts-7": 7}


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
