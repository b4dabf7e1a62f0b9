"""`emoji` and `icons`: pictures and names in several drawing styles, real data for a laptop."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.data.long_tail import long_tailed
from benchsuite.data.readers.pictures import Concept, Pictures, pictures_in
from benchsuite.errors import UsageError
from benchsuite.fields import Count
from benchsuite.grouping import by_key
from benchsuite.registry import register_dataset

VERSION = 2
"""Of splits and texts."""
TEMPLATES = ("{}", "an emoji of {}", "a small drawing of {}", "a picture that shows {}")
"""Of captions and of prompts."""


class InStyles(PairDataset):
    """Base of pictures of named concepts in several drawing styles.

    A picture of test or validation shows a concept in one style; the other styles' pictures of it are in train.
    """

    templates: ClassVar = {"names": ("{}",), "emoji-4": TEMPLATES}
    redrawn: ClassVar = "seed"
    sets: ClassVar[Sequence[str]] = ("concept",)
    """Of classes."""

    folder: str = ""
    """The folder with the packages. Not part of the identity; the digest is."""
    pixels: Count = 40
    """Side of the pictures."""
    each: Count = 99
    """Training pictures of each concept at most."""
    test: Count = 800
    """Pictures to report on, each of another concept."""
    validation: Count = 400
    """Pictures to choose settings on, of other concepts."""
    imbalance: Annotated[float, Ge(1)] = 1.0
    """Long-tailed training pictures: the last subgroup has this many times fewer than the first; 1 keeps all."""
    seed: Annotated[int, Ge(0)] = 0
    """Of which concepts are held out, and in which style."""

    def manifest(self) -> Manifest:
        sizes = {split: len(positions) for split, positions in self._positions.items()}
        decides = {name: value for name, value in self.options().items() if name != "folder"}
        digest = short_digest([VERSION, self._pictures.digest, decides, TEMPLATES])
        about = {"content": self._pictures.digest, "credit": self._pictures.credit}
        return Manifest(self.card.name, VERSION, sizes, digest, about)

    def read(self, split: str) -> Split:
        positions = self._positions[split]
        concepts = [self._concepts[i] for i in positions]
        words = [[", ".join(one.words[k : k + 3]) for k in range(0, min(len(one.words), 12), 3)] for one in concepts]
        return Split(
            split,
            self._pictures.images[positions],
            [
                [*(text.format(one.name) for text in TEMPLATES), *(f"{one.name}, {text}" for text in more[:1])]
                if split == "train"
                else [one.name]
                for one, more in zip(concepts, words, strict=True)
            ],
            [more or [f"something called {one.name}"] for one, more in zip(concepts, words, strict=True)],
            {name: self._labels(name)[positions] for name in self.sets},
        )

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        keys = {name: self._classes(name) for name in self.sets if name != "concept"}
        names = {name: [key.replace("&", "and") for key in own] for name, own in keys.items()}
        return {**names, "concept": [one.name for one in self._pictures.concepts.values()]}

    @cached_property
    def _pictures(self) -> Pictures:
        return pictures_in(self.card.name, self.folder, self.pixels)

    @cached_property
    def _concepts(self) -> list[Concept]:
        return [self._pictures.concepts[concept] for _, concept, _ in self._pictures.rows]

    def _classes(self, name: str) -> list[str]:
        return list(dict.fromkeys(getattr(one, name) for one in self._pictures.concepts.values()))

    def _labels(self, name: str) -> NDArray[np.int64]:
        numbers = {key: number for number, key in enumerate(self._classes(name))}
        return np.asarray([numbers[getattr(one, name)] for one in self._concepts], np.int64)

    @cached_property
    def _positions(self) -> Mapping[str, NDArray[np.int64]]:
        held = self._held_out()
        free = sorted({*range(len(self._concepts))} - {*held}, key=self._hash)
        pictures = by_key((self._concepts[i].concept, i) for i in free)
        train = np.sort(np.concatenate([own[: self.each] for own in pictures.values()]))
        if self.imbalance > 1:
            train = train[long_tailed(self._labels("subgroup")[train], self.imbalance, self.seed)]
        return {"train": train, "validation": held[self.test :], "test": held[: self.test]}

    def _held_out(self) -> NDArray[np.int64]:
        """Test, then validation: of each concept one picture; its name and all its pictures are no other's."""
        drawn = Counter(sha for _, _, sha in self._pictures.rows)
        named = Counter(one.name for one in self._pictures.concepts.values())
        rows = enumerate(self._pictures.rows)
        pictures = by_key((c, i) for i, (_, c, sha) in rows if drawn[sha] == named[self._concepts[i].name] == 1)
        free = sorted((min(own, key=self._hash) for own in pictures.values() if len(own) > 1), key=self._hash)
        if len(free) < self.test + self.validation:
            raise UsageError(
                f"{self.card.name}: {self.test} + {self.validation} pictures are to be held out, but only {len(free)} "
                "concepts are drawn in two styles. Set the options test and validation, or add packages."
            )
        return np.asarray(free[: self.test + self.validation], np.int64)

    def _hash(self, i: int) -> str:
        """Orders pictures anew under each seed."""
        return hashlib.sha256(f"{self.seed}\0{self._pictures.rows[i][:2]}".encode()).hexdigest()


@register_dataset(
    "emoji",
    title="Emoji",
    license="Apache-2.0 (Noto, Firefox OS), MIT (Fluent), CC BY 4.0 (Twemoji, EmojiOne), CC BY-SA 4.0 (OpenMoji)",
    credit=(
        "Noto Emoji by Google, https://github.com/googlefonts/noto-emoji, Apache-2.0",
        "Fluent Emoji by Microsoft, https://github.com/microsoft/fluentui-emoji, MIT",
        "Twemoji by Twitter, https://github.com/jdecked/twemoji, CC BY 4.0",
        "EmojiOne 2.3 by Ranks.com, https://github.com/EmojiTwo/emojitwo, CC BY 4.0",
        "OpenMoji by HfG Schwäbisch Gmünd, https://github.com/hfg-gmuend/openmoji, CC BY-SA 4.0",
        "Firefox OS Emoji by Mozilla, https://github.com/mozilla/fxemoji, Apache-2.0",
        "names, tags and groups: emojibase by Miles Johnson, https://github.com/milesj/emojibase, MIT",
    ),
    download=True,
    shown_by="emoji-features",
)
class EmojiPictures(InStyles):
    """Emoji without skin tones in up to eight drawing styles, from npm packages of icons and of names.

    Captions are the name in several templates, one of them with tags; test captions are the name alone. Paraphrases are
    tags. Classes: the 10 groups of Unicode, its 100 subgroups, and the concepts. Each seed holds out other concepts.
    """

    sets: ClassVar = ("group", "subgroup", "concept")


@register_dataset("icons", title="Icons", license="the sets' own: each manifest names them", download=True)
class IconPictures(InStyles):
    """Icons of any sets of npm packages; names without variants such as "outline" are the concepts.

    Captions are the name in several templates, paraphrases are other sets' names. Each seed holds out other concepts.
    """
