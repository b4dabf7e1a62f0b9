"""Named random streams: each purpose has its own, so extra draws of one method do not change another's.

For every method, a seed gives the same initial weights, batch order, captions and augmentations (pairing).
"""

import hashlib

import numpy as np


def derived_seed(seed: int, *purpose: str | int) -> int:
    """A 63-bit seed for one purpose of one run, e.g. `derived_seed(0, "captions", step)`."""
    text = "/".join(str(part) for part in (seed, *purpose))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def numpy_stream(seed: int, *purpose: str | int) -> np.random.Generator:
    """A numpy generator for one purpose of one run."""
    return np.random.Generator(np.random.PCG64(derived_seed(seed, *purpose)))
