"""ImageNet-1k: a folder a class, in a folder a split."""

from benchsuite.data.readers.class_folders import ImageNet
from benchsuite.registry import register_dataset


@register_dataset("imagenet1k", title="ImageNet-1k", license="ImageNet's terms", download=True)
class ImageNet1k(ImageNet):
    """1.28 million images of 1,000 classes, and 50,000 to validate, in the usual folders. Classes "class".

    Splits train and validation (the folder val, sorted into classes). `train_list` or `imbalance` makes the training
    split long-tailed.
    """
