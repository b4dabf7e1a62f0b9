"""`clips`: the world of `scenes` moving, drawn like it, with narrations, verb classes and noun classes."""

from typing import ClassVar

import numpy as np

from benchsuite.data.cached import Columns
from benchsuite.data.synthetic import clip_world as world
from benchsuite.data.synthetic.base import Synthetic
from benchsuite.data.synthetic.scene_drawing import Bytes, colours, stamp, stencil
from benchsuite.data.synthetic.scene_world import SHAPES, SIDE, stream, worded
from benchsuite.fields import Count
from benchsuite.registry import register_dataset

NARRATIONS, KINDS = 5, len(SHAPES)


@register_dataset("clips", title="Clips", license="Apache-2.0", download=False)
class Clips(Synthetic):
    """Synthetic clips of 8 frames, 32x32, in which something is done to an object; generated in seconds, no download.

    Narrations in the manner of EPIC-KITCHENS ("raise red circle near blue star"), 12 verb and 40 noun classes, each
    with a long tail. Labels: `verb`, `noun` and `verb_noun` of the moved object, for clusters and classification, and
    `nouns`, the set of visible noun classes (-1: no second one), for the relevancy of multi-instance retrieval.
    """

    version: ClassVar = 1
    shows: ClassVar = "clips"
    splits: ClassVar = ("train", "validation", "test")
    labels: ClassVar = ("verb", "noun", "verb_noun", "nouns")
    class_names: ClassVar = world.CLASS_NAMES

    train: Count = 6_000
    """Training clips."""
    validation: Count = 500
    """Clips for choosing what all rows share."""
    test: Count = 1_000
    """Clips that are reported on."""

    def columns(self, split: str) -> Columns:
        """A short split is the beginning of a longer one. Class ids are indices into `CLASS_NAMES`.

        `nouns` are the noun classes that are visible: the moved object and, or -1, the one beside it.
        """
        number, count = self.splits.index(split), getattr(self, split)
        clips = world.imagine(self.seed, number, count)
        images = paint(clips, stream(self.seed, 13, number))
        size = count, NARRATIONS, world.DRAWS
        draws = (stream(self.seed, 12, number, purpose) for purpose in (0, 1))
        captions, paraphrases = (worded(clips, world.narration, size, draw) for draw in draws)
        verb, noun = clips.facts[:, 0], clips.facts[:, 1]
        return {
            "images": images,  # [N, 8, 32, 32, 3]
            "captions": captions,  # N x 5
            "paraphrases": paraphrases,  # N x 5
            "verb": verb,  # [N]
            "noun": noun,  # [N]
            "verb_noun": verb * world.NOUNS + noun,  # [N]
            "nouns": clips.facts[:, 1:3],  # [N, 2]
        }


def paint(clips: world.Clips, noise: np.random.RandomState) -> Bytes:
    """The clips, [N, 8, 32, 32, 3]. `noise` is used in the order of the clips."""
    return np.concatenate([_paint(part, noise) for part in clips.parts(128)])


def _paint(clips: world.Clips, noise: np.random.RandomState) -> Bytes:
    """The ground stays the same; the noise changes from frame to frame."""
    facts = clips.facts
    main, other, still = colours(clips.tint, facts[:, 1] // KINDS, facts[:, 2] // KINDS, facts[:, 3], facts[:, 4])
    grain = np.frombuffer(noise.bytes(len(clips) * world.FRAMES * SIDE * SIDE * 3), dtype=np.uint8) % 12
    canvas = still[:, None] + grain.reshape(-1, world.FRAMES, SIDE, SIDE, 3).astype(np.int64) - 6
    poses = clips.pose.tolist()
    for i, clip in enumerate(clips):
        boxes = world.path(clip.verb, poses[i])
        aside = world.corner(poses[i])
        for frame, box in zip(canvas[i], boxes, strict=True):
            if clip.other != world.NO_OTHER:
                stamp(frame, aside, stencil(clip.other % KINDS, aside.side), other[i])
            if box is not None:
                stamp(frame, box, stencil(clip.noun % KINDS, box.side), main[i])
    return np.asarray(np.clip(canvas, 0, 255), dtype=np.uint8)
