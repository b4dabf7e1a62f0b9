"""What `benchsuite embed` writes: a manifest, and vectors of images, captions, paraphrases and prompts in .npy files.

Each file stands in the manifest with its SHA-256. It is compared with the file's when the folder is first opened, and
again when size or time of the file change; later opens read nothing but the manifest.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from benchsuite.canonical import short_digest
from benchsuite.data.readers.files import content_digests, read_json
from benchsuite.data.vectors import Lists, Source, mapped, numbers_in
from benchsuite.errors import UsageError, require_known
from benchsuite.fields import first_problem
from benchsuite.parts import Part

MANIFEST = "manifest.json"
FORMAT = 1
LAYOUT = "what `benchsuite embed` writes"


class File(Part):
    """One .npy file, by its place in the folder."""

    file: str
    shape: tuple[int, ...]
    sha256: str


class Encoder(Part):
    """A frozen encoder, and which weights it had."""

    name: str
    """As it was asked for."""
    library: str
    """timm or transformers, with its version."""
    weights: str
    """Digest of all parameters and buffers."""
    trained: bool
    """False for random weights."""


class Request(Part):
    """What decides the vectors: equal requests may go on from each other's files."""

    dataset: str
    version: int
    options: dict[str, Any]
    digest: str
    """The dataset's own."""
    paraphrases: str | None = None
    """Their digest, if the dataset has one of them apart."""
    image: Encoder
    text: Encoder
    dtype: Literal["float16", "float32"]
    limit: int | None
    """Only so many images of each split were embedded."""
    shard: int
    """Images whose vectors share a file."""


class SplitFiles(Part):
    """The files of one split."""

    images: int
    image: list[File]
    caption: list[File]
    paraphrase: list[File] = []
    captions_each: File
    """How many captions each image has."""
    paraphrases_each: File | None = None
    labels: dict[str, File] = {}


class Embedded(Part):
    """The manifest."""

    format: int
    request: Request
    splits: dict[str, SplitFiles] = Field(min_length=1)
    class_names: dict[str, list[str]] = {}
    templates: dict[str, list[str]] = {}
    prompts: dict[str, dict[str, File]] = {}
    """By set of classes, then by set of templates, [classes, templates, width]."""


class EmbeddedFolder:
    """A folder in this format."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.manifest = folder, read_manifest(folder)
        stored = self.manifest
        self.class_names: Mapping[str, Sequence[str]] = stored.class_names
        self.templates: Mapping[str, Sequence[str]] = stored.templates if stored.prompts else {}

    @cached_property
    def digest(self) -> str:
        """Of all vectors, labels and names. A file that is not what the manifest says is refused by name."""
        files = {file.file: file.sha256 for file in files_of(self.manifest)}
        places = {name: self._folder / name for name in files}
        if missing := [name for name, place in places.items() if not place.is_file()]:
            raise UsageError(f"{self._folder}: {missing[0]} is missing. Embed again: what is there is kept.")
        found = content_digests(places)
        if wrong := [name for name, sha256 in files.items() if found[name] != sha256]:
            raise UsageError(
                f"{self._folder / wrong[0]}: the content is not what {MANIFEST} says. Delete the file and embed again."
            )
        stored = self.manifest.model_dump(mode="json", exclude={"request"})
        return short_digest(stored)

    def sizes(self) -> dict[str, int]:
        return {name: part.images for name, part in self.manifest.splits.items()}

    def source(self, split: str) -> Source:
        part = self.manifest.splits[split]
        paraphrases = part.paraphrases_each
        return Source(
            self._vectors(part.image),
            Lists(self._vectors(part.caption), self._array(part.captions_each)),
            Lists(self._vectors(part.paraphrase), self._array(paraphrases)) if paraphrases else None,
            {name: self._array(file) for name, file in part.labels.items()},
        )

    def prompts(self, classes: str, templates: str) -> NDArray[Any]:
        """[classes, templates, width]."""
        return self._array(self.manifest.prompts[classes][templates])

    def _vectors(self, files: Sequence[File]) -> list[NDArray[Any]]:
        return [mapped(self._folder / file.file) for file in files]

    def _array(self, file: File) -> NDArray[Any]:
        return numbers_in(self._folder / file.file)


def files_of(manifest: Embedded) -> list[File]:
    """All files that a manifest names."""
    files = [file for sets in manifest.prompts.values() for file in sets.values()]
    for part in manifest.splits.values():
        files += [*part.image, *part.caption, *part.paraphrase, *part.labels.values(), part.captions_each]
        files += [part.paraphrases_each] if part.paraphrases_each else []
    return files


def read_manifest(folder: Path) -> Embedded:
    """The manifest of a folder; one that is not valid is refused with the reason."""
    place = folder / MANIFEST
    content = read_json(place)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise UsageError(f"{place}: not a manifest of format {FORMAT} of `benchsuite embed`.")
    try:
        manifest = Embedded.model_validate_json(json.dumps(content))
    except ValidationError as error:
        raise UsageError(f"{place}: {first_problem(error)}.") from error
    if outside := [
        file.file for file in files_of(manifest) if not (folder / file.file).resolve().is_relative_to(folder.resolve())
    ]:
        raise UsageError(f"{place}: {outside[0]} is outside of the folder.")
    for classes in manifest.prompts:
        require_known("set of classes", classes, manifest.class_names, f"{place}: ")
    return manifest


CLIP_RETRIEVAL = "img_emb/img_emb_0.npy and text_emb/text_emb_0.npy as clip-retrieval writes them"
KINDS = {"image": "img_emb", "caption": "text_emb"}


class ClipRetrievalFolder:
    """A folder as clip-retrieval's `clip inference` writes it: one split, without classes and paraphrases.

    `img_emb` and `text_emb` have a file of each a partition. Row i of `img_emb_0.npy` and row i of `text_emb_0.npy`
    are a pair. Metadata are not read.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.class_names: dict[str, list[str]] = {}
        self.templates: dict[str, list[str]] = {}
        self._files = {kind: partitions(folder, name) for kind, name in KINDS.items()}
        image, text = self._files["image"], self._files["caption"]
        if not image:
            raise UsageError(f"{folder}: no partition is there; it must hold {CLIP_RETRIEVAL}.")
        if lonely := sorted(set(image) ^ set(text)):
            have = "img_emb" if lonely[0] in image else "text_emb"
            raise UsageError(f"{folder}: partition {lonely[0]} is in {have} alone; each needs images and texts.")

    @cached_property
    def digest(self) -> str:
        """Of the bytes of all vectors, in order."""
        files = {f"{kind}/{number}": path for kind, own in self._files.items() for number, path in own.items()}
        return short_digest(["clip-retrieval", content_digests(files)])

    def sizes(self) -> dict[str, int]:
        """Pairs; all are to train on."""
        return {"train": sum(len(shard) for shard in self._shards["image"])}

    def source(self, split: str) -> Source:
        images, texts = self._shards["image"], self._shards["caption"]
        return Source(images, Lists(texts, np.broadcast_to(np.int64(1), (self.sizes()[split],))))

    def prompts(self, classes: str, templates: str) -> NDArray[Any]:
        raise UsageError(f"{self._folder}: clip-retrieval's layout has no classes.")

    @cached_property
    def _shards(self) -> dict[str, list[NDArray[Any]]]:
        shards = {kind: [mapped(path) for path in own.values()] for kind, own in self._files.items()}
        for number, image, text in zip(self._files["image"], *shards.values(), strict=True):
            if len(image) != len(text):
                rows = {"img_emb": len(image), "text_emb": len(text)}
                raise UsageError(f"{self._folder}, partition {number}: rows differ: {rows}. Row i must be one pair.")
        return shards


def partitions(folder: Path, name: str) -> dict[int, Path]:
    """The files of a kind by partition, in order of the number, with or without leading zeros."""
    found: dict[int, Path] = {}
    for path in sorted((folder / name).glob(f"{name}_*.npy")):
        if match := re.fullmatch(rf"{name}_(\d+)\.npy", path.name):
            if (number := int(match[1])) in found:
                raise UsageError(f"{path}: partition {number} is there twice, as {found[number].name} too.")
            found[number] = path
    return dict(sorted(found.items()))
