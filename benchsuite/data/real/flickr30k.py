"""Flickr30k in Karpathy's splits: five captions an image."""

from typing import ClassVar

from benchsuite.data.readers.karpathy import Karpathy
from benchsuite.registry import register_dataset


@register_dataset("flickr30k", title="Flickr30k", license="Flickr's terms", download=True)
class Flickr30k(Karpathy):
    """Flickr30k in Karpathy's splits: 29,000 images to train on, 1,014 to validate and 1,000 to test.

    Read from dataset_flickr30k.json beside the folder of images (flickr30k-images, flickr30k_images or images); or
    from train.json, validation.json and test.json, of which each maps image names to lists of captions.
    """

    _file: ClassVar = "dataset_flickr30k.json"
    _image_folders: ClassVar = ("flickr30k-images", "flickr30k_images", "images", "")
    _layout: ClassVar = "dataset_flickr30k.json (Karpathy's), and the images in flickr30k-images or images"
