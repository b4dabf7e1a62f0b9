"""Named random streams: each purpose draws from its own, so that one method's extra draws never move another's.

A seed fixes, for every method alike, the initial weights, batch order, captions and augmentations (pairing).
"""

import hashlib

import numpy as np


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed for one purpose of one run, e.g. `derived_seed(0, "captions", step)`."""
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def numpy_stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """A numpy generator for one purpose."""
    return np.random.Generator(np.random.PCG64(derived_seed(seed, *purpose)))
