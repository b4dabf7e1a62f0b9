"""`pairs`: a user's own images with captions."""

from collections.abc import Mapping
from typing import Any, ClassVar

from benchsuite.data.readers.columns import CAPTION, Asked
from benchsuite.data.readers.own import Names, Own
from benchsuite.registry import register_dataset


@register_dataset("pairs", title="Own image-text pairs", license="the data's own", download=True)
class Pairs(Own):
    """Your own images with captions, in any format that the library `datasets` reads: a folder, or a name on the hub.

    Parquet, a folder of images with metadata.csv or .jsonl, CSV or JSON lines with a column of files, webdataset's tar
    files, or what save_to_disk wrote. Splits train, validation and test: the source's, or cut from train by shares.
    Rows with the same picture are one pair with several captions.
    """

    apart: ClassVar = ("paraphrase",)

    caption: Names = ()
    """Columns of captions, each a text or a list of texts. Guessed if empty."""
    paraphrase: Names = ()
    """Columns of paraphrases, for methods with text views; every row needs one. None if empty."""
    merge: bool = True
    """Whether rows with the same picture become one pair with all their captions."""

    @property
    def _merges(self) -> bool:
        return self.merge

    def _asked(self, splits: Mapping[str, Any]) -> Asked:
        return {**super()._asked(splits), "caption": (self.caption, CAPTION), "paraphrase": (self.paraphrase, ())}
