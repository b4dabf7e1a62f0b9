"""Images of one coloured tile on grey, with captions that say its colour and its corner."""

import hashlib

import numpy as np

from benchsuite import PairDataset, register_dataset
from benchsuite.data.base import Manifest, Split
from benchsuite.fields import Count

COLOURS = {"red": (220, 40, 40), "green": (40, 200, 40), "blue": (40, 40, 220), "yellow": (220, 220, 40)}
CORNERS = {"upper left": (0, 0), "upper right": (0, 16), "lower left": (16, 0), "lower right": (16, 16)}
VERSION = 1


@register_dataset("example-tiles", title="Coloured tiles")
class Tiles(PairDataset):
    """Sixteen kinds of images of 32x32 pixels with noise, drawn from a seed."""

    train: Count = 64
    test: Count = 16

    def manifest(self) -> Manifest:
        """Its digest covers every pixel and caption."""
        sha = hashlib.sha256()
        for name in ("train", "test"):
            split = self.read(name)
            sha.update(split.images.tobytes() + repr(split.captions).encode())
        return Manifest("example-tiles", VERSION, {"train": self.train, "test": self.test}, sha.hexdigest())

    def read(self, split: str) -> Split:
        """The same images at each call."""
        numbers = np.random.default_rng(["train", "test"].index(split))
        images = numbers.integers(100, 140, (getattr(self, split), 32, 32, 3), dtype=np.uint8)
        kinds = [(colour, corner) for colour in COLOURS for corner in CORNERS]
        captions = []
        for number, image in enumerate(images):
            colour, corner = kinds[number % len(kinds)]
            top, left = CORNERS[corner]
            image[top : top + 16, left : left + 16] = COLOURS[colour]
            captions.append([f"a {colour} tile in the {corner} corner"])
        return Split(split, images, captions)
