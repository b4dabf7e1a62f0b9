"""CIFAR-10 as image-text pairs."""

from benchsuite.data.real.cifar10 import Cifar10
from benchsuite.registry import register_dataset


@register_dataset(
    "cifar10-captions", title="CIFAR-10 with captions", license="none stated", download=True, source="cifar10"
)
class Cifar10Captions(Cifar10):
    """CIFAR-10 as image-text pairs: the captions of an image are its class name in CLIP's 18 templates.

    All pairs of a class have the same captions, so they are false negatives of one another. Retrieval of single images
    means little here; classes are what there is to learn.
    """

    captions = "cifar-18"
