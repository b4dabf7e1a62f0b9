"""Long-tailed versions of balanced, labelled data, with the exponential profile of CIFAR-LT."""

import numpy as np
from numpy.typing import NDArray


def class_sizes(largest: int, classes: int, imbalance: float) -> list[int]:
    """n_c = floor(largest * imbalance^(-c / (C - 1))): class 0 keeps all, the last one a share of 1 / imbalance."""
    return [int(largest * (1 / imbalance) ** (c / max(1.0, classes - 1.0))) for c in range(classes)]


def long_tailed(labels: NDArray[np.int64], imbalance: float, seed: int = 0) -> NDArray[np.int64]:
    """Positions to keep, in stored order. Classes are shuffled one after another by one frozen stream.

    The stream and its use are those of LDAM's CIFAR-LT (Cao et al., 2019), so that on data in the original order the
    same images are kept. Each class keeps at least one image.
    """
    classes = int(labels.max()) + 1
    generator = np.random.RandomState(seed)
    positions = []
    for label, size in enumerate(class_sizes(len(labels) // classes, classes, imbalance)):
        members = np.flatnonzero(labels == label)
        generator.shuffle(members)
        positions.append(members[: max(1, size)])
    return np.sort(np.concatenate(positions))
