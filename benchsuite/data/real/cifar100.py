"""CIFAR-100: real 32x32 images of 100 classes that a laptop can train on."""

from typing import ClassVar

from benchsuite.data.readers.cifar import Cifar
from benchsuite.registry import register_dataset

_NAMES = """
apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle bowl boy bridge bus butterfly camel can
castle caterpillar cattle chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur dolphin
elephant flatfish forest fox girl hamster house kangaroo keyboard lamp lawn_mower leopard lion lizard lobster
man maple_tree motorcycle mountain mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck
pine_tree plain plate poppy porcupine possum rabbit raccoon ray road rocket rose sea seal shark shrew skunk
skyscraper snail snake spider squirrel streetcar sunflower sweet_pepper table tank telephone television tiger
tractor train trout tulip turtle wardrobe whale willow_tree wolf woman worm
"""
CLASSES = tuple(name.replace("_", " ") for name in _NAMES.split())


@register_dataset("cifar100", title="CIFAR-100", license="none stated", download=True)
class Cifar100(Cifar):
    """50,000 and 10,000 real 32x32 images of 100 classes, from parquet files in the hub's layout.

    Splits train and test; classes "class", the fine labels. `imbalance` makes CIFAR-100-LT of the training split.
    """

    _label: ClassVar = "fine_label"
    class_names: ClassVar = {"class": CLASSES}
