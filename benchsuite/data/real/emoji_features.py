"""`emoji-features` and `icons-features`: the included real data, pictures and their names through frozen encoders."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Manifest, PairDataset, Split, Vectors
from benchsuite.data.vectors import Noise, Positions, Rows, VectorLists, numbers_in, scaled
from benchsuite.errors import UsageError
from benchsuite.fields import Count, NonNegative
from benchsuite.files import sha256_of
from benchsuite.registry import register_dataset
from benchsuite.streams import numpy_stream

FOLDER = Path(__file__).parent / "emoji_features"
"""What tools/embed_emoji.py wrote; its function `write` says what each file holds."""
ICONS = Path(__file__).parent / "icons_features"
"""What tools/embed_icons.py wrote."""
NOUNS = 8
"""Tags of an emoji that count for relevancy: sums over more of them are not exact."""


class PicturesInStyles(PairDataset):
    """Base of pictures of named concepts in several styles.

    An image is a concept in a style; its other views are the concept in other styles, with noise. Each seed holds out
    other concepts: no style of them is in train. Test and validation are galleries, one picture of each concept after
    another; "single" has each test concept once.
    """

    shows: ClassVar = "vectors"
    redrawn: ClassVar = "seed"
    folder: ClassVar = FOLDER
    tests: ClassVar[Sequence[str]] = ("test", "single")
    """Splits with the held-out concepts."""
    texts_each: ClassVar = 1
    """Texts of a concept, which follow each other."""

    test: Count = 400
    """Concepts to report on."""
    validation: Count = 300
    """Concepts to choose settings on."""
    renderings: Count = 4
    """Views of each training image; the first is the image itself."""
    noise: NonNegative = 0.3
    """Standard deviation of the noise in further views, of entries with mean square 1."""
    seed: Annotated[int, Ge(0)] = 0
    """Of which concepts are held out, and of the views."""

    def manifest(self) -> Manifest:
        files = sorted(self.folder.glob("*.[nj]*"))
        digest = short_digest([1, [sha256_of(file) for file in files], self.options()])
        return Manifest(self.card.name, 1, {name: len(rows) for name, rows in self._rows.items()}, digest)

    def read(self, split: str) -> Split:
        rows, trained = self._rows[split], split == "train"
        concept = self._concept[rows]
        images, texts = (Rows([numbers_in(self.folder / f"{kind}.npy")], True, kind) for kind in ("images", "texts"))
        views = self.renderings if trained else 1
        ids = np.stack([rows, *(self._in_other_styles(rows, view) for view in range(1, views))], 1).ravel()
        noise = Noise(self.noise, views, self.seed)
        vectors = noise.added(images.take(ids), np.repeat(rows, views), np.tile(np.arange(views), len(rows)))
        text, counts = self.texts_each * concept + (split == "tags"), self.texts_each if trained else 1
        captions = VectorLists(texts, text, np.full(len(rows), counts), Noise(self.noise, views, self.seed + 2**63))
        return Split(split, vectors.reshape(len(rows), views, -1), captions, captions, self.labels(concept))

    def in_pictures(self, split: str) -> Sequence[bytes]:
        """The concept in one of its styles, not always the image's."""
        held_out = self._concept[numbers_in(self.folder / "galleries.npy")[:, 0]].tolist()
        drawn = dict(zip(held_out, in_a_row((self.folder / "pictures.riff").read_bytes()), strict=True))
        concepts = self._concept[self._rows[split]].tolist()
        return [drawn[one] for one in concepts] if drawn.keys() >= {*concepts} else ()

    def labels(self, concept: Positions) -> dict[str, NDArray[np.int64]]:
        """Classes of images, from the concepts that they show."""
        return {}

    def _in_other_styles(self, rows: Positions, view: int) -> Positions:
        """For each image one of its concept in another style, which are its neighbours; itself if there is none."""
        first, end = (np.searchsorted(self._concept, self._concept[rows], side) for side in ("left", "right"))
        drawn = numpy_stream(self.seed, "styles", view).integers(np.maximum(end - first - 1, 1))
        return np.asarray(np.where(end - first == 1, rows, first + (rows - first + 1 + drawn) % (end - first)))

    @cached_property
    def _words(self) -> Mapping[str, Sequence[str]]:
        return dict(json.loads((self.folder / "words.json").read_text("utf-8")))

    @cached_property
    def _concept(self) -> NDArray[np.int64]:
        return np.asarray(numbers_in(self.folder / "shown.npy"), np.int64)

    @cached_property
    def _rows(self) -> Mapping[str, Positions]:
        galleries = np.asarray(numbers_in(self.folder / "galleries.npy"), np.int64)  # [concept, pictures]
        order = self.to_hold_out(numpy_stream(self.seed, "held out").permutation(galleries))
        if self.test + self.validation > len(order):
            raise UsageError(
                f"{self.card.name}: {self.test} + {self.validation} concepts are to be held out, but only {len(order)} "
                "can be. Set the options test and validation."
            )
        held, validation = order[: self.test], order[self.test : self.test + self.validation]
        out = self._concept[np.concatenate([held[:, 0], validation[:, 0]])]
        single = np.take_along_axis(held, np.arange(len(held))[:, None] % held.shape[1], 1)
        parts = {"validation": validation.T, **dict.fromkeys(self.tests, held.T), "single": single}
        train = np.flatnonzero(~np.isin(self._concept, out))
        return {"train": train, **{name: part.ravel() for name, part in parts.items()}}

    def to_hold_out(self, galleries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of the concepts' galleries, in drawn order, that may be held out."""
        return galleries


def in_a_row(content: bytes) -> Iterator[bytes]:
    """WebP files that follow each other: each begins with RIFF and its length, which is even."""
    while content:
        end = 8 + int.from_bytes(content[4:8], "little")
        yield content[:end]
        content = content[end:]


@register_dataset(
    "emoji-features",
    title="Emoji, features",
    license="Apache-2.0 (Noto, Firefox OS, both encoders), MIT (Fluent, words), CC BY 4.0 (Twemoji, EmojiOne)",
    credit=(
        "pictures by Google (Noto), Microsoft (Fluent), Twitter and other contributors (Twemoji), Ranks.com and the "
        "EmojiTwo community (EmojiOne), Mozilla (Firefox OS), reduced",
        "docs/emoji-features.md has links, and what was changed",
    ),
    download=False,
    in_words=True,
)
class EmojiFeatures(PicturesInStyles):
    """Pictures of 1,920 emoji in seven drawing styles and what people call them, as vectors of frozen encoders.

    An image is an emoji in a style; its other views are the emoji in other styles, with noise. Captions are its label
    and its tags, and so are paraphrases. Each seed holds out other emoji: no style of them is in train. Test and
    validation are galleries, one style after another: "test" with labels as captions, "tags" the same with tags;
    "single" has each test emoji once. Classes: the 10 groups of Unicode and its 100 subgroups. `verb` is the subgroup,
    `nouns` are the tags, of more than eight the most common; an emoji without tags has a noun of its own. So the
    relevancy of two emoji is the mean of whether they share the subgroup (0 or 1) and of the IoU of their tags.
    """

    tests: ClassVar = ("test", "tags", "single")
    texts_each: ClassVar = 2

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        """Unicode's groups, as emojibase words them."""
        return {name: self._words[name] for name in ("group", "subgroup")}

    @cached_property
    def templates(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        return {"prompts": self._words["templates"]}

    def prompts_for(self, classes: str, templates: str) -> Vectors:
        """[C, T, D]."""
        count = len(super().prompts_for(classes, templates))
        stored = numbers_in(FOLDER / "prompts.npy")
        return scaled(np.asarray(stored[:count] if classes == "group" else stored[-count:], np.float32))

    def in_words(self, split: str) -> Sequence[tuple[str, str]]:
        """The emoji itself, in no style of a picture; its label, in the split "tags" its tags."""
        lines = [line.split("\t") for line in (FOLDER / "captions.txt").read_text("utf-8").splitlines()]
        labels = self._words["labels"]
        concepts = self._concept[self._rows[split]].tolist()
        return [(lines[one][0], lines[one][1] if split == "tags" else labels[one]) for one in concepts]

    def labels(self, concept: Positions) -> dict[str, NDArray[np.int64]]:
        described = numbers_in(FOLDER / "concepts.npy").astype(np.int64)
        tags, (group, subgroup) = described[:, 2:], described[concept, :2].T
        emoji_with = np.append(np.bincount(tags[tags >= 0]), 0)  # each tag; the last is for -1, no tag
        nouns = np.take_along_axis(tags, np.argsort(-emoji_with[tags], 1, kind="stable")[:, :NOUNS], 1)
        bare = np.flatnonzero(nouns[:, 0] < 0)
        nouns[bare, 0] = len(emoji_with) + np.arange(len(bare))
        return {"group": group, "subgroup": subgroup, "verb": subgroup, "nouns": nouns[concept]}

    def to_hold_out(self, galleries: NDArray[np.int64]) -> NDArray[np.int64]:
        """All but one of each subgroup, which stays in train."""
        subgroup = numbers_in(FOLDER / "concepts.npy")[self._concept[galleries[:, 0]], 1]
        return np.delete(galleries, np.unique(subgroup, return_index=True)[1], 0)


@register_dataset(
    "icons-features",
    title="Icons, features",
    license="Apache-2.0 (Material, Carbon, both encoders), MIT (Tabler, Phosphor), CC BY 3.0 (Game Icons)",
    credit=(
        "icons by Pictogrammers, Google, IBM, Paweł Kuna, Phosphor Icons, and Lorc, Delapouite and contributors (Game "
        "Icons), reduced",
        "docs/emoji-features.md has links, and what was changed",
    ),
    download=False,
    in_words=True,
)
class IconsFeatures(PicturesInStyles):
    """Icons of six sets and their names, as vectors of frozen encoders.

    An image is an icon; its other views are other sets' icons of the same words, with noise. The caption is the name
    without variants such as "outline", and so is the paraphrase. Each seed holds out other names, of those that two
    sets or more draw. Test and validation are two galleries, of different sets; "single" has each test name once. There
    are no classes.
    """

    folder: ClassVar = ICONS

    def in_words(self, split: str) -> Sequence[tuple[str, str]]:
        """The name twice: an icon has no other words."""
        labels = self._words["labels"]
        return [(labels[one], labels[one]) for one in self._concept[self._rows[split]].tolist()]
