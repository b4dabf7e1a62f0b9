"""`emoji`: pictures and names of emoji in three drawing styles, real data for a laptop."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.readers.emoji import Emoji, Pictures, pictures_in
from benchsuite.data.readers.emoji_clones import CATEGORIES
from benchsuite.data.readers.emoji_splits import VERSION, held_out, long_tailed
from benchsuite.fields import Count, NonNegative
from benchsuite.registry import register_dataset

TEMPLATES = ("{}", "an emoji of {}", "a small drawing of {}", "a picture that shows {}")
"""Of captions and of prompts."""
KEYWORDS = 3
"""In a caption or paraphrase."""
PARAPHRASES = 4


@register_dataset(
    "emoji",
    title="Emoji",
    license="Apache-2.0 (Noto Emoji, Blobmoji), CC BY 4.0 (artwork of EmojiTwo), MIT (emojilib, gemoji)",
    credit=(
        "Noto Emoji by Google, https://github.com/googlefonts/noto-emoji, Apache-2.0",
        "Blobmoji by C1710, from Noto Emoji, https://github.com/C1710/blobmoji, Apache-2.0",
        "EmojiTwo by its community, originally EmojiOne 2.2 by Ranks.com, https://github.com/EmojiTwo/emojitwo, "
        "CC BY 4.0 (https://creativecommons.org/licenses/by/4.0/), here resized",
        "names and keywords: emojilib by Mu-An Chiou, https://github.com/muan/emojilib, MIT; gemoji by GitHub, "
        "https://github.com/github/gemoji, MIT; EmojiTwo",
    ),
    download=True,
)
class EmojiPictures(PairDataset):
    """Emoji in three drawing styles with their names: clones of five public repositories, or one parquet file.

    Test and validation: the picture of a concept (an emoji without skin tone) in one style; the other styles' pictures
    of it are in train. Which ones is fixed by hashes. Captions are the name in several templates, one of them with
    keywords; test captions are the name alone. Paraphrases are keywords. Classes: the 9 categories of Unicode and one
    for the rest, and the concepts.
    """

    templates: ClassVar = {"names": ("{}",), "emoji-4": TEMPLATES}

    folder: str = ""
    """The folder with the clones, or with the parquet file. Not part of the identity; the digest is."""
    pixels: Count = 40
    """Side to which pictures are resized, on white."""
    test: Count = 800
    """Pictures to report on."""
    validation: Count = 400
    """Pictures to choose settings on, of other concepts."""
    tones: bool = False
    """Whether train also has the pictures with skin tones: up to five near-duplicates of each person or hand. Those of
    a picture that is held out stay out."""
    tail: NonNegative = 0.0
    """Exponent of Zipf's law for the number of training pictures in each category, largest first; 0 keeps all. At
    least one picture of each concept of test and validation stays."""

    def manifest(self) -> Manifest:
        sizes = {split: len(positions) for split, positions in self._positions.items()}
        decides = {name: value for name, value in self.options().items() if name != "folder"}
        digest = short_digest([VERSION, self._pictures.digest, decides, TEMPLATES, KEYWORDS, PARAPHRASES])
        terms = {name: self.card.about[name] for name in ("license", "credit")}
        return Manifest(self.card.name, VERSION, sizes, digest, {"content": self._pictures.digest, **terms})

    def read(self, split: str) -> Split:
        positions = self._positions[split]
        rows = [self._pictures.rows[i] for i in positions]
        labels = {
            "category": [CATEGORIES.index(row.category) for row in rows],
            "concept": [self._concepts[row.base] for row in rows],
        }
        return Split(
            split,
            self._pictures.images[positions],
            [captions_of(row) if split == "train" else [row.name] for row in rows],
            [paraphrases_of(row) for row in rows],
            {name: np.asarray(ids, np.int64) for name, ids in labels.items()},
        )

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """Categories in words, and the name of each concept."""
        plain = {row.base: row.name for row in self._pictures.rows if row.tone == 0}
        categories = [name.lower().replace("&", "and") for name in CATEGORIES]
        return {"category": categories, "concept": [plain[base] for base in self._concepts]}

    @cached_property
    def _pictures(self) -> Pictures:
        return pictures_in(self.card.name, self.folder, self.pixels)

    @cached_property
    def _concepts(self) -> Mapping[str, int]:
        bases = sorted({row.base for row in self._pictures.rows if row.tone == 0})
        return {base: number for number, base in enumerate(bases)}

    @cached_property
    def _positions(self) -> Mapping[str, NDArray[np.int64]]:
        rows = self._pictures.rows
        test, validation = held_out(rows, (self.test, self.validation))
        out = {(rows[i].base, rows[i].style) for i in (*test, *validation)}
        rest = [
            i
            for i, row in enumerate(rows)
            if (row.base, row.style) not in out and row.base in self._concepts and (self.tones or row.tone == 0)
        ]
        train = long_tailed(rows, rest, {base for base, _ in out}, self.tail)
        parts = {"train": train, "validation": validation, "test": test}
        return {split: np.asarray(positions, np.int64) for split, positions in parts.items()}


def captions_of(row: Emoji) -> list[str]:
    """The name in each template, and once more with keywords."""
    named = [template.format(row.name) for template in TEMPLATES]
    return [*named, ", ".join([row.name, *_ordered(row.base, row.keywords)[:KEYWORDS]])] if row.keywords else named


def paraphrases_of(row: Emoji) -> list[str]:
    """Some keywords at a time, from all of them in turn; without keywords, the name in other words."""
    if not row.keywords:
        return [f"something called {row.name}"]
    words = _ordered(row.base, row.keywords)
    starts = range(0, min(len(words), PARAPHRASES * KEYWORDS), KEYWORDS)
    return [", ".join(words[start : start + KEYWORDS]) for start in starts]


@cache
def _ordered(base: str, keywords: tuple[str, ...]) -> list[str]:
    """Keywords in the order of their hashes, so that no spelling comes first."""
    return sorted(keywords, key=lambda word: hashlib.sha256(f"{VERSION}\0{base}\0{word}".encode()).hexdigest())
