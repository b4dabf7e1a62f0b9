"""ImageNet-100: 100 classes of ImageNet-1k, from the same folders."""

from typing import ClassVar

from benchsuite.data.readers.class_folders import ImageNet
from benchsuite.data.readers.imagenet_names import IMAGENET100
from benchsuite.registry import register_dataset


@register_dataset("imagenet100", title="ImageNet-100", license="ImageNet's terms", download=True, source="imagenet1k")
class ImageNet100(ImageNet):
    """The 100 classes of ImageNet that Tian et al. chose, from ImageNet's own folders. Classes "class".

    With train_list = "imageNet_100_LT_train.txt", a file as SDCLR publishes it, it is ImageNet-100-LT.
    """

    _chosen_classes: ClassVar = IMAGENET100
