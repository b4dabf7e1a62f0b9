"""Conceptual Captions 3M and 12M: images from the web with their alternative texts."""

from benchsuite.data.readers.web_pairs import WebPairs
from benchsuite.registry import register_dataset


@register_dataset("cc3m", title="Conceptual Captions 3M", license="Google's terms", download=True)
class Cc3m(WebPairs):
    """About three million images from the web, each with a cleaned caption; how many depends on the download.

    Splits train and validation, each from a table (open_clip's filepath and title, SogCLR's image and caption, ...) or
    from img2dataset's tar files. `limit` takes the first pairs, AmCLR's 100,000 for example. Text views come from
    paraphrases.jsonl (id, paraphrases) or paraphrases.csv (id, paraphrase), where the id is the table's, or else the
    name of the image file, or the key in the tar file.
    """


@register_dataset("cc12m", title="Conceptual Captions 12M", license="Google's terms", download=True)
class Cc12m(WebPairs):
    """Up to twelve million images from the web with their alternative texts; the same files as for cc3m."""
