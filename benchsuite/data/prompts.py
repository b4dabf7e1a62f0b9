"""Named sets of prompt templates. Code bases differ in them, and so do results: the name is part of a protocol."""

from collections.abc import Mapping, Sequence

NAMES = ("{}",)
"""The class name alone, as TeMo's text describes it."""

NUMBER = ('a photo of the number: "{}".',)
"""CLIP's for digits."""

_QUALITIES = ("", "blurry ", "black and white ", "low contrast ", "high contrast ", "bad ", "good ")
CIFAR_18 = tuple(
    prompt
    for article in ("a", "the")
    for prompt in (
        *(f"a {quality}photo of {article} {{}}." for quality in _QUALITIES),
        f"a photo of {article} small {{}}.",
        f"a photo of {article} big {{}}.",
    )
)
"""CLIP's for CIFAR-10 and CIFAR-100."""

IMAGENET_7 = (
    "itap of a {}.",
    "a bad photo of the {}.",
    "a origami {}.",
    "a photo of the large {}.",
    "a {} in a video game.",
    "art of the {}.",
    "a photo of the small {}.",
)
"""The seven that CLIP's authors found to carry most of the 80."""

SMALL: Mapping[str, Sequence[str]] = {"names": NAMES, "number": NUMBER, "cifar-18": CIFAR_18, "imagenet-7": IMAGENET_7}
"""The small sets; `imagenet-80` and each dataset's own come from clip-benchmark."""
