"""Conceptual Captions 12M: more images from the web, with their alternative texts."""

from benchsuite.data.readers.web_pairs import WebPairs
from benchsuite.registry import register_dataset


@register_dataset("cc12m", title="Conceptual Captions 12M", license="Google's terms", download=True)
class Cc12m(WebPairs):
    """Up to twelve million images from the web with their alternative texts; the same files as for cc3m."""
