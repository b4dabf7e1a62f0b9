"""`features`: pairs of vectors of frozen encoders, from a folder of any size."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge

from benchsuite.data.base import Manifest, PairDataset, Split, Vectors
from benchsuite.data.readers import embedded
from benchsuite.data.readers.embedded import ClipRetrievalFolder, EmbeddedFolder
from benchsuite.data.readers.files import require_folder
from benchsuite.data.vectors import Noise, Positions, Rows, VectorImages, mixed, scaled
from benchsuite.errors import UnknownError, UsageError
from benchsuite.fields import Count, NonNegative, Share
from benchsuite.registry import register_dataset

VERSION = 1
"""Of what the digest covers, and of the rules for splits and noise."""
BLOCK = 1 << 20
"""Rows that are hashed at a time."""
CUT = ("test", "validation")
"""Splits that are cut from train where the folder has none."""
CLASS, PROMPTS, NONE = "class", "prompts", "none"
LAYOUT = (
    f"{embedded.LAYOUT} or {embedded.CLIP_RETRIEVAL}. Make one from a dataset of images and captions: benchsuite embed "
    "pairs --data pairs=FOLDER --image timm:NAME --text NAME --out FOLDER (docs/features.md)"
)


@register_dataset("features", title="Features of frozen encoders", license="the data's own", download=False)
class Features(PairDataset):
    """Images and captions as vectors of frozen encoders: what `benchsuite embed` wrote, or clip-retrieval's layout.

    Vectors stay on disk; a batch reads its rows. Where the folder has no split test or validation, it is cut from
    train: a row's place is a function of its number, the seed and the shares. The first set of classes is also called
    "class", the first set of templates "prompts".
    """

    shows: ClassVar = "vectors"
    redrawn: ClassVar = "seed"

    folder: str = ""
    """Where the files are. Not part of the identity; the digest is."""
    normalize: bool = True
    """Scale each vector to length sqrt(width), so that its entries have mean square 1."""
    noise: NonNegative = 0.0
    """Standard deviation of the noise that makes views of a training vector; 0: all views of an image are equal."""
    text_view: Literal["paraphrase", "noise"] = "paraphrase"
    """A text's second view: the folder's paraphrases, or its captions with noise."""
    renderings: Count = 4
    """Views of each training vector; the first is without noise. One if `noise` is 0."""
    label: str = ""
    """Which of the folder's sets of classes is "class", the first if empty; "none" ignores all."""
    test_share: Share = 0.1
    """Share of train that becomes the split test where the folder has none."""
    validation_share: Share = 0.1
    """Likewise for the split validation."""
    at_most: Count = 5000
    """About as many pairs at most are cut for each of the two."""
    seed: Annotated[int, Ge(0)] = 0
    """Of cuts and noise."""

    @cached_property
    def class_names(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        own = self._stored.class_names
        if self.label == NONE:
            return {}
        if self.label and self.label not in own:
            raise UnknownError("set of classes", self.label, own, f"{self.card.name}, label: ")
        return {**own, **{alias: own[name] for alias, name in self._aliases.items()}}

    @cached_property
    def templates(self) -> Mapping[str, Sequence[str]]:  # type: ignore[override]
        own = self._stored.templates
        return {**own, **({PROMPTS: own[next(iter(own))]} if own and PROMPTS not in own else {})}

    def prompts_for(self, classes: str, templates: str) -> Vectors:
        """[C, T, D]: the embedded prompts."""
        own = self._stored.templates
        self.classes_of(classes)
        self.templates_of(templates)
        wording = templates if templates in own else next(iter(own))
        stored = self._stored.prompts(self._aliases.get(classes, classes), wording)
        vectors = np.asarray(stored, np.float32)
        return scaled(vectors) if self.normalize else vectors

    def manifest(self) -> Manifest:
        return self._manifest

    @cached_property
    def _manifest(self) -> Manifest:
        sizes = self._stored.sizes()
        kept = {name: len(self._rows(name)) for name in (*sizes, *self._shares)}
        if empty := [name for name, size in kept.items() if not size]:
            raise UsageError(
                f"{self.card.name}: {self.folder}: of {sizes['train']} pairs none falls into {empty[0]} under seed "
                f"{self.seed}. Change seed, test_share and validation_share (0: no such split)."
            )
        return Manifest(self.card.name, VERSION, kept, self._stored.digest)

    def read(self, split: str) -> Split:
        positions, stored = self._rows(split), self._stored.source("train" if split in self._shares else split)
        where = f"{self.card.name}: {self.folder}, split {split}"
        views = Noise(self.noise, self.renderings, self.seed) if self.noise and split == "train" else None
        paraphrases, text_noise = stored.paraphrases, None
        if self.text_view == "noise":  # under another seed than the images', as encoders may have one width
            paraphrases = stored.captions
            text_noise = Noise(self.noise, self.renderings, self.seed + 2**63) if views else None
        labels = {name: np.asarray(ids[positions], np.int64) for name, ids in stored.labels.items()}
        if chosen := self._aliases.get(CLASS):
            labels = {CLASS: labels[chosen], **labels}
        return Split(
            split,
            VectorImages(Rows(stored.images, self.normalize, f"{where}, images"), positions, views).as_array(),
            stored.captions.of(positions, self.normalize, None, f"{where}, captions"),
            paraphrases.of(positions, self.normalize, text_noise, f"{where}, paraphrases") if paraphrases else (),
            labels,
        )

    @cached_property
    def _stored(self) -> EmbeddedFolder | ClipRetrievalFolder:
        folder = require_folder(self.card.name, self.folder, LAYOUT)
        if (folder / embedded.MANIFEST).is_file():
            return EmbeddedFolder(folder)
        if (folder / "img_emb").is_dir():
            return ClipRetrievalFolder(folder)
        unfinished = " `benchsuite embed` has not finished there: run it again." * (folder / "request.json").is_file()
        raise UsageError(f"{self.card.name}: {folder} must hold {LAYOUT}.{unfinished}")

    @cached_property
    def _aliases(self) -> dict[str, str]:
        """Which set "class" is, unless one has that name and no other was chosen."""
        own = self._stored.class_names
        chosen = self.label or (CLASS if CLASS in own else next(iter(own), CLASS))
        return {} if chosen in (CLASS, NONE) else {CLASS: chosen}

    @cached_property
    def _shares(self) -> dict[str, float]:
        """Of train, for the splits that the folder lacks."""
        sizes = self._stored.sizes()
        most = self.at_most / max(1, sizes.get("train", 0))
        given: dict[str, Any] = {name: getattr(self, f"{name}_share") for name in CUT if name not in sizes}
        return {name: min(share, most) for name, share in given.items() if share and "train" in sizes}

    def _rows(self, split: str) -> Positions:
        if split not in ("train", *self._shares):
            return np.arange(self._stored.sizes()[split])
        return self._cut[split]

    @cached_property
    def _cut(self) -> dict[str, Positions]:
        """Rows by split: shares of train, and the rest. A row's place depends on its number, the seed and the shares.

        The hash of the row's number (`mixed`), as a fraction of 2^64, is below the first share for the first split,
        below the sum of two for the second, and so on.
        """
        count, bounds = self._stored.sizes()["train"], np.cumsum([*self._shares.values()])
        parts: dict[str, list[Positions]] = {name: [] for name in (*self._shares, "train")}
        for start in range(0, count, BLOCK):
            rows = np.arange(start, min(start + BLOCK, count))
            place = np.searchsorted(bounds, mixed(rows, self.seed) / 2.0**64, side="right")
            for number, name in enumerate(parts):
                parts[name].append(rows[place == number])
        return {name: np.concatenate(own) if own else np.empty(0, np.int64) for name, own in parts.items()}
