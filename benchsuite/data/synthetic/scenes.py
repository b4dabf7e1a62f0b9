"""`scenes`: small synthetic images of two objects, with captions from a small grammar."""

from typing import ClassVar

import numpy as np

from benchsuite.data.cached import Columns
from benchsuite.data.synthetic import scene_drawing as drawing
from benchsuite.data.synthetic import scene_grammar as grammar
from benchsuite.data.synthetic import scene_world as world
from benchsuite.data.synthetic.base import Synthetic
from benchsuite.fields import Count, Share
from benchsuite.registry import register_dataset

WORDINGS = 5


@register_dataset("scenes", title="Scenes", license="Apache-2.0", download=False)
class Scenes(Synthetic):
    """Synthetic 32x32 images of two objects with captions from a small grammar; generated in seconds, no download.

    Object pairs follow Zipf's law, many captions fit many images, and a share of the training pairs is mismatched, so
    that long tails, false negatives and noise are real. Classes: 10 shapes, 10 colours, and the 100 pairs of both.
    """

    version: ClassVar = 1
    splits: ClassVar = ("train", "validation", "test", "gallery")
    labels: ClassVar = ("shape", "colour", "both")
    class_names: ClassVar = grammar.CLASS_NAMES
    templates: ClassVar = grammar.TEMPLATES

    train: Count = 12_000
    """Training images."""
    validation: Count = 1_000
    """Images for choosing what all rows share."""
    test: Count = 1_000
    """Images that are reported on."""
    gallery: Count = 200
    """Other images to report on, in a smaller set."""
    mismatched: Share = 0.05
    """Share of training images that carry another's captions."""

    def columns(self, split: str) -> Columns:
        """A short split is the beginning of a longer one, except for the choice of mismatched training pairs.

        A pair that is not `matched` carries the wordings of another training image; its labels, classes of the main
        object, stay those of the image. `pair_rank` is the frequency rank of the pair of objects, 0 the most frequent.
        """
        number, count = self.splits.index(split), getattr(self, split)
        scenes = world.imagine(self.seed, number, count)
        images = drawing.paint(scenes, world.stream(self.seed, 3, number))
        size = count, WORDINGS, grammar.DRAWS
        draws = (world.stream(self.seed, 2, number, purpose) for purpose in (0, 1))
        captions, paraphrases = (world.worded(scenes, grammar.wording, size, draw) for draw in draws)
        matched = np.ones(count, dtype=bool)
        if split == "train":
            wrong_pairs = round(count * self.mismatched)
            wrong_pairs += wrong_pairs == 1  # a single one would have no partner to swap with
            wrong = world.stream(self.seed, 4).permutation(count)[:wrong_pairs]
            matched[wrong] = False
            source = np.arange(count)
            source[wrong] = np.roll(wrong, 1)
            captions = [captions[i] for i in source]
            paraphrases = [paraphrases[i] for i in source]
        colour, shape = scenes.facts[:, 0], scenes.facts[:, 1]
        return {
            "images": images,  # [N, 32, 32, 3]
            "captions": captions,  # N x 5
            "paraphrases": paraphrases,  # N x 5
            "shape": shape,  # [N], as all that follow
            "colour": colour,
            "both": colour * len(world.SHAPES) + shape,
            "pair_rank": scenes.pair_rank,
            "matched": matched,
        }
