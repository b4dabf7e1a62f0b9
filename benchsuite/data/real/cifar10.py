"""CIFAR-10: real 32x32 images of 10 classes that a laptop can train on."""

from typing import ClassVar

from benchsuite.data.readers.cifar import Cifar
from benchsuite.registry import register_dataset

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")


@register_dataset("cifar10", title="CIFAR-10", license="none stated", download=True)
class Cifar10(Cifar):
    """50,000 and 10,000 real 32x32 images of 10 classes, from parquet files in the hub's layout.

    Splits train and test; classes "class". `imbalance` makes CIFAR-10-LT of the training split.
    """

    _label: ClassVar = "label"
    class_names: ClassVar = {"class": CLASSES}
