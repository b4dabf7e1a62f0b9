"""Functions of the training's progress."""

import math


def cosine(start: float, middle: float, cycles: float) -> float:
    """A cosine wave that begins at `start` and is at `middle` half a cycle later."""
    return middle + 0.5 * (start - middle) * (1 + math.cos(2 * math.pi * cycles))


def linear(start: float, end: float, progress: float) -> float:
    """A straight line from `start` to `end`."""
    return (1 - progress) * start + progress * end
