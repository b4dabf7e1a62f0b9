"""Embed a dataset once with frozen encoders: files of vectors that the dataset `features` reads.

Vectors are written a shard at a time, whole or not at all, and what is there is not made again. So a run that was
killed goes on where it was. `request.json` comes first and refuses to mix two requests; `manifest.json` comes last.
"""

import hashlib
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from benchsuite.data import PairDataset
from benchsuite.data.base import Split
from benchsuite.data.readers.embedded import FORMAT, MANIFEST, Embedded, File, Request, SplitFiles, read_manifest
from benchsuite.data.readers.files import content_digests, remember
from benchsuite.errors import RunError, UnknownError, UsageError
from benchsuite.files import BusyError, locked, require_writable, write_whole
from benchsuite.models.asked import asked
from benchsuite.models.frozen import FrozenImages, FrozenTexts
from benchsuite.planning.data_folders import open_dataset, read_as, resolve_data
from benchsuite.registry import datasets
from benchsuite.setup import Data, differences

Encode = Callable[[Any], NDArray[np.float32]]
Watch = Callable[[str, int, int], None]
"""Called with the split, the images that are done and their number."""
REQUEST = "request.json"


@dataclass(frozen=True)
class Wanted:
    """What is to be embedded, and how."""

    dataset: str
    folders: dict[str, str]
    image: str
    text: str
    out: Path
    splits: Sequence[str] = ()
    """All if empty."""
    untrained: bool = False
    dtype: Literal["float16", "float32"] = "float16"
    limit: int | None = None
    batch: int = 64
    shard: int = 8192


def embed(wanted: Wanted, watch: Watch = lambda split, done, total: None) -> Embedded:
    """Embed what is not embedded yet; the manifest of the whole folder."""
    image = asked(wanted.image, "timm", wanted.untrained, "--image")
    text = asked(wanted.text, "transformers", wanted.untrained, "--text")
    _require_embeddable(wanted.dataset)
    images = FrozenImages(image)
    has_pixels = any(field.name == "pixels" for field in datasets.card(wanted.dataset).fields)
    pixels = {"pixels": images.size} if has_pixels else {}
    as_taken = {**read_as(wanted.dataset, images.size, images.fit), **pixels}
    own = {f"{wanted.dataset}.{name}": str(value) for name, value in as_taken.items()}  # unless another is asked for
    data = resolve_data(Data(name=wanted.dataset), own | wanted.folders)
    dataset = open_dataset(data)
    known = dataset.manifest().splits
    if unknown := next((name for name in wanted.splits if name not in known), None):
        raise UnknownError("split", unknown, known, f"{dataset.card.name}: ")
    chosen = list(wanted.splits or known)
    texts = FrozenTexts(text, data, dataset.split("train" if "train" in known else chosen[0]))
    request = Request(
        dataset=data.name,
        version=data.version or 0,
        options={**data.options, **data.apart},
        digest=data.digest or "",
        paraphrases=data.paraphrases,
        image=images.about,
        text=texts.about,
        dtype=wanted.dtype,
        limit=wanted.limit,
        shard=wanted.shard,
    )
    require_writable(wanted.out, "--out")
    try:
        with locked(wanted.out / ".lock", 0):
            _require_same(wanted.out, request)
            return _Writer(wanted, request, images, texts, watch).write(dataset, chosen)
    except BusyError:
        raise UsageError(f"--out {wanted.out}: another `benchsuite embed` is writing there.") from None


@dataclass(frozen=True)
class _Writer:
    wanted: Wanted
    request: Request
    images: Encode
    texts: Encode
    watch: Watch

    def write(self, dataset: PairDataset, chosen: Sequence[str]) -> Embedded:
        there = self.wanted.out / MANIFEST
        before = read_manifest(self.wanted.out).splits if there.is_file() else {}
        splits = {name: self._split(dataset.split(name)) for name in chosen}
        classes = {name: list(names) for name, names in dataset.class_names.items()}
        templates = {name: list(each) for name, each in dataset.templates.items()}
        prompts = {
            name: {wording: self._prompts(dataset, name, wording, i, k) for k, wording in enumerate(templates)}
            for i, name in enumerate(classes)
        }
        manifest = Embedded(
            format=FORMAT,
            request=self.request,
            splits={**before, **splits},
            class_names=classes,
            templates=templates,
            prompts=prompts,
        )
        write_whole(there, (manifest.model_dump_json(indent=1) + "\n").encode())
        return manifest

    def _split(self, split: Split) -> SplitFiles:
        total = min(len(split), self.wanted.limit or len(split))
        texts = {"caption": split.captions_for("benchsuite embed"), "paraphrase": split.paraphrases}
        kinds = {kind: lists for kind, lists in texts.items() if len(lists)}
        made: dict[str, list[File]] = {"image": [], "caption": [], "paraphrase": []}
        for number, start in enumerate(range(0, total, self.wanted.shard)):
            stop = min(start + self.wanted.shard, total)
            place = f"{split.name}/{{}}-{number:05}.npy"
            made["image"].append(self._file(place.format("image"), partial(self._pictures, split, start, stop)))
            for kind, lists in kinds.items():
                own = [text for i in range(start, stop) for text in lists[i]]
                made[kind].append(self._file(place.format(kind), partial(self._embedded, own)))
            self.watch(split.name, stop, total)
        each = {
            kind: self._file(f"{split.name}/{kind}s.npy", partial(counts, lists, total))
            for kind, lists in kinds.items()
        }
        labels = {
            name: self._file(f"{split.name}/labels-{i}.npy", partial(np.asarray, ids[:total], np.int64))
            for i, (name, ids) in enumerate(split.labels.items())
        }
        return SplitFiles(
            images=total, **made, captions_each=each["caption"], paraphrases_each=each.get("paraphrase"), labels=labels
        )

    def _pictures(self, split: Split, start: int, stop: int) -> NDArray[Any]:
        step = self.wanted.batch
        rows = [self.images(split.images[i : min(i + step, stop)]) for i in range(start, stop, step)]
        return self._checked(np.concatenate(rows), f"split {split.name}: the vector of image {{}}", start)

    def _embedded(self, texts: Sequence[str]) -> NDArray[Any]:
        """Texts of like length go in one batch, as each is padded to its longest."""
        order, step = sorted(range(len(texts)), key=lambda i: len(texts[i])), self.wanted.batch
        rows = [self.texts([texts[i] for i in order[k : k + step]]) for k in range(0, len(order), step)]
        return self._checked(np.concatenate(rows)[np.argsort(order)], "the vector of text {}", 0)

    def _prompts(self, dataset: PairDataset, classes: str, templates: str, i: int, k: int) -> File:
        def make() -> NDArray[Any]:
            lists = dataset.prompts_for(classes, templates)
            flat = self._embedded([str(prompt) for prompts in lists for prompt in prompts])
            return flat.reshape(len(lists), -1, flat.shape[-1])

        return self._file(f"prompts/{i}-{k}.npy", make)

    def _checked(self, rows: NDArray[np.float32], what: str, first: int) -> NDArray[Any]:
        with np.errstate(over="ignore"):
            stored = rows.astype(self.wanted.dtype)
        if bad := np.flatnonzero(~np.isfinite(stored).all(1))[:1].tolist():
            wide = " Try --dtype float32." if np.isfinite(rows).all() else ""
            raise RunError(f"{what.format(first + bad[0])} is not finite in {self.wanted.dtype}.{wide}")
        return stored

    def _file(self, name: str, make: Callable[[], NDArray[Any]]) -> File:
        """The file of that name, made unless it is there."""
        place = self.wanted.out / name
        if not place.is_file():
            stream = io.BytesIO()
            np.save(stream, make(), allow_pickle=False)
            content = stream.getvalue()
            write_whole(place, content)
            remember(name, place, hashlib.sha256(content).hexdigest())
        shape = np.load(place, mmap_mode="r", allow_pickle=False).shape
        return File(file=name, shape=shape, sha256=content_digests({name: place})[name])


def counts(lists: Any, total: int) -> NDArray[np.int64]:
    """How many texts each of the first images has."""
    return np.array([len(lists[i]) for i in range(total)], np.int64)


def _require_embeddable(name: str) -> None:
    cls: Any = datasets.get(name)
    if cls.shows != "images" or not cls.captioned:
        fit = sorted(n for n in datasets if (c := datasets.get(n)).shows == "images" and c.captioned)  # type: ignore[attr-defined]
        shown = "no captions" if cls.shows == "images" else f"{cls.shows}, not images"
        raise UsageError(f"dataset {name} has {shown}. Embed one of images with captions: {', '.join(fit)}.")


def _require_same(out: Path, request: Request) -> None:
    """Refuse a folder whose vectors are of another request; note the request in an empty one."""
    for draft in (path for pattern in (".*-*", "*/.*.npy-*") for path in out.glob(pattern) if path.is_file()):
        draft.unlink()  # what a killed process left half written
    place, given = out / REQUEST, request.model_dump(mode="json")
    if not place.is_file():
        if other := sorted(path.name for path in out.iterdir() if path.name != ".lock"):
            raise UsageError(f"--out {out}: the folder holds {other[0]}. Give an empty or a new one.")
        write_whole(place, (json.dumps(given, indent=1) + "\n").encode())
        return
    changed = differences(json.loads(place.read_text("utf-8")), given)
    if changed:
        told = "; ".join(f"{name}: {old} there, {new} now" for name, (old, new) in changed.items())
        raise UsageError(f"--out {out}: its vectors are of another request ({told}). Give another folder.")
