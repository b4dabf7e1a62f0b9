"""Rendering clips: eight 32x32 frames each, drawn like `scenes`, the same bytes on every machine."""

from __future__ import annotations

import numpy as np

from benchsuite.data.synthetic.clip_world import FRAMES, NO_OTHER, Clips, corner, path
from benchsuite.data.synthetic.scene_drawing import Bytes, colours, stamp, stencil
from benchsuite.data.synthetic.scene_world import SHAPES, SIDE

KINDS = len(SHAPES)


def paint(clips: Clips, noise: np.random.RandomState) -> Bytes:
    """The clips, [N, 8, 32, 32, 3]. `noise` is used in the order of the clips."""
    images = np.empty((len(clips), FRAMES, SIDE, SIDE, 3), dtype=np.uint8)
    for start in range(0, len(clips), 128):
        images[start : start + 128] = _paint(clips.slice(start, start + 128), noise)
    return images


def _paint(clips: Clips, noise: np.random.RandomState) -> Bytes:
    """The ground stays the same; the noise changes from frame to frame."""
    facts = clips.facts
    main, other, still = colours(clips.tint, facts[:, 1] // KINDS, facts[:, 2] // KINDS, facts[:, 3], facts[:, 4])
    grain = np.frombuffer(noise.bytes(len(clips) * FRAMES * SIDE * SIDE * 3), dtype=np.uint8) % 12
    canvas = still[:, None] + grain.reshape(-1, FRAMES, SIDE, SIDE, 3).astype(np.int64) - 6
    poses = clips.pose.tolist()
    for i, clip in enumerate(clips):
        boxes = path(clip.verb, poses[i])
        aside = corner(poses[i])
        for frame, box in zip(canvas[i], boxes, strict=True):
            if clip.other != NO_OTHER:
                stamp(frame, aside, stencil(clip.other % KINDS, aside.side), other[i])
            if box is not None:
                stamp(frame, box, stencil(clip.noun % KINDS, box.side), main[i])
    return np.asarray(np.clip(canvas, 0, 255), dtype=np.uint8)
