"""ImageNet-1k, and the hundred of its classes that are ImageNet-100: a folder a class, in a folder a split."""

from collections.abc import Mapping
from typing import ClassVar

from benchsuite.data.readers.class_folders import ClassFolders
from benchsuite.registry import register_dataset

IMAGENET100 = """
n02869837 n01749939 n02488291 n02107142 n13037406 n02091831 n04517823 n04589890 n03062245 n01773797
n01735189 n07831146 n07753275 n03085013 n04485082 n02105505 n01983481 n02788148 n03530642 n04435653
n02086910 n02859443 n13040303 n03594734 n02085620 n02099849 n01558993 n04493381 n02109047 n04111531
n02877765 n04429376 n02009229 n01978455 n02106550 n01820546 n01692333 n07714571 n02974003 n02114855
n03785016 n03764736 n03775546 n02087046 n07836838 n04099969 n04592741 n03891251 n02701002 n03379051
n02259212 n07715103 n03947888 n04026417 n02326432 n03637318 n01980166 n02113799 n02086240 n03903868
n02483362 n04127249 n02089973 n03017168 n02093428 n02804414 n02396427 n04418357 n02172182 n01729322
n02113978 n03787032 n02089867 n02119022 n03777754 n04238763 n02231487 n03032252 n02138441 n02104029
n03837869 n03494278 n04136333 n03794056 n03492542 n02018207 n04067472 n03930630 n03584829 n02123045
n04229816 n02100583 n03642806 n04336792 n03259280 n02116738 n02108089 n03424325 n01855672 n02090622
"""
"""WordNet ids of the choice of Tian et al. (2020)."""


def imagenet_words() -> dict[str, str]:
    """WordNet's words by id, as timm has them, for ImageNet's thousand classes."""
    from benchsuite.torchvision_ops import make_importable

    make_importable()
    from timm.data import ImageNetInfo

    info = ImageNetInfo()
    return dict(zip(info.label_names(), info.label_descriptions(), strict=True))


@register_dataset("imagenet1k", title="ImageNet-1k", license="ImageNet's terms", download=True)
class ImageNet1k(ClassFolders):
    """1.28 million images of 1,000 classes, and 50,000 to validate, in the usual folders. Classes "class".

    Splits train and validation (the folder val, sorted into classes). `train_list` makes the training split
    long-tailed.
    """

    def _words(self) -> Mapping[str, str]:
        return imagenet_words()


@register_dataset("imagenet100", title="ImageNet-100", license="ImageNet's terms", download=True, source="imagenet1k")
class ImageNet100(ImageNet1k):
    """The 100 classes of ImageNet that Tian et al. chose, from ImageNet's own folders. Classes "class".

    With train_list = "imageNet_100_LT_train.txt", a file as SDCLR publishes it, it is ImageNet-100-LT.
    """

    _chosen_classes: ClassVar = IMAGENET100.split()
