"""CIFAR-100 as image-text pairs."""

from benchsuite.data.real.cifar100 import Cifar100
from benchsuite.registry import register_dataset


@register_dataset(
    "cifar100-captions", title="CIFAR-100 with captions", license="none stated", download=True, source="cifar100"
)
class Cifar100Captions(Cifar100):
    """CIFAR-100 as image-text pairs: the captions of an image are its class name in CLIP's 18 templates."""

    captions = "cifar-18"
