"""`images`: a user's own images without captions."""

from typing import ClassVar

from benchsuite.data.readers.own import Own
from benchsuite.registry import register_dataset


@register_dataset("images", title="Own images", license="the data's own", download=True)
class Images(Own):
    """Your own images without captions, for an image tower alone, with classes if there are some.

    Read like `pairs`. In a folder with a folder for each class these are the classes.
    """

    captioned: ClassVar = False
