"""MSCOCO in Karpathy's splits: five captions an image."""

from typing import ClassVar

from benchsuite.data.readers.karpathy import Karpathy
from benchsuite.registry import register_dataset


@register_dataset("coco", title="MSCOCO captions", license="captions CC BY 4.0, images various", download=True)
class Coco(Karpathy):
    """MSCOCO in Karpathy's splits: 82,783 or 113,287 images to train on, 5,000 each to validate and to test.

    Read from dataset_coco.json beside train2014 and val2014, or a folder images with both. A few images have six or
    seven captions, of which the first five count, so that the test split has 25,000.
    """

    _file: ClassVar = "dataset_coco.json"
    _image_folders: ClassVar = ("", "images")
    _layout: ClassVar = "dataset_coco.json (Karpathy's), and the folders train2014 and val2014, here or under images"

    restval: bool = True
    """Whether the 30,504 images of the old validation set that are in neither split are trained on too."""

    def _split_named(self, name: str) -> str:
        return "train" if name == "restval" and self.restval else super()._split_named(name)
