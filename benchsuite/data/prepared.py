"""What is computed once for a training set and cached: clusters of its captions, and frozen experts' embeddings."""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain, repeat, tee
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Split
from benchsuite.data.cached import made_once
from benchsuite.data.embeddings import Embedded, Embedding, Matrix, create_embedding
from benchsuite.data.readers.files import files_under, stamp
from benchsuite.data.readers.images import stills
from benchsuite.errors import UsageError, require_known
from benchsuite.paths import cache
from benchsuite.setup import Clusters, Expert, Experts, Setup

T = TypeVar("T", bound=np.generic)
LARGE = 500_000
"""Images up to which K-means sees all at once, in four times the memory of their embeddings; more come in batches."""
BATCH, BATCHES = 1 << 14, 200
"""Images of one, drawn at random, and how many of them: 3.3 million draws."""
VERSION = 2
"""Of how these are computed; part of the cache keys."""


@dataclass(frozen=True)
class Prepared:
    """A row for each training image; None for what the setup does not ask for."""

    cluster: NDArray[np.int64] | None = None
    cluster_sizes: tuple[int, ...] | None = None
    image_expert: NDArray[np.float32] | None = None
    text_expert: NDArray[np.float32] | None = None
    """One embedding an image: the mean over its captions."""

    def digests(self) -> dict[str, str]:
        """Of each part that is not None, for the record."""
        parts = {"clusters": self.cluster, "image_expert": self.image_expert, "text_expert": self.text_expert}
        given = {name: np.ascontiguousarray(rows) for name, rows in parts.items() if rows is not None}
        return {name: hashlib.sha256(rows.data).hexdigest()[:16] for name, rows in given.items()}


def prepare(setup: Setup, split: Split, needs: Set[str]) -> Prepared:
    """What the setup offers and a method needs, from the cache if it was computed before."""
    wanted = setup.clusters if "cluster" in needs else None
    cluster, sizes = clusters(wanted, setup, split) if wanted else (None, None)
    experts = setup.experts or Experts()
    sides = {"image": experts.image, "text": experts.text}
    rows = {side: _embedded(e, side, setup, split) for side, e in sides.items() if e and f"{side}_expert" in needs}
    return Prepared(cluster, sizes, rows.get("image"), rows.get("text"))


def require_embedding(expert: Expert, side: str, setup: Setup, split: Split) -> None:
    """Refuse an embedding that could not be made: no cache has its rows, and its model is not there either."""
    embedding = create_embedding(expert.embedding, **expert.options)
    if not _place(_key(embedding, side), setup, split).exists():
        embedding.load()


def clusters(settings: Clusters, setup: Setup, split: Split) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Each image's cluster, and how many images each cluster has."""
    ids = labelled_clusters(settings, split)
    if ids is None:
        by = create_embedding(settings.embedding, **settings.options)
        key = {"clusters": settings.model_dump(mode="json"), "embedding": _identity(by)}
        ids = cached_rows(key, setup, split, lambda: _k_means(settings, setup, split), np.int64)[:, 0]
    return ids, tuple(int(n) for n in np.bincount(ids))


def labelled_clusters(settings: Clusters, split: Split) -> NDArray[np.int64] | None:
    """Clusters that are classes of the split; none where K-means makes them. Refuses what cannot be clustered."""
    if settings.labels is None:
        if settings.k > len(split):
            raise UsageError(f"{settings.k} clusters of {len(split)} images: k may be at most the number of images.")
        return None
    require_known("set of classes", settings.labels, split.labels, f"split {split.name}: ")
    ids = split.labels[settings.labels]
    if ids.ndim != 1:
        raise UsageError(f'split {split.name}: "{settings.labels}" are sets of classes, not one class for each image.')
    return ids


def _k_means(settings: Clusters, setup: Setup, split: Split) -> Iterator[NDArray[np.int64]]:
    from sklearn.cluster import KMeans, MiniBatchKMeans

    points = _embedded(Expert(embedding=settings.embedding, options=settings.options), "text", setup, split)
    if len(points) <= LARGE:
        yield KMeans(settings.k, n_init=1, random_state=settings.seed).fit(_directions(points)).labels_.astype(np.int64)
        return
    batch, generator = max(BATCH, 10 * settings.k), np.random.default_rng(settings.seed)
    model = MiniBatchKMeans(settings.k, n_init=1, batch_size=batch, random_state=settings.seed)
    for _ in range(BATCHES):
        model.partial_fit(_directions(points[np.sort(generator.integers(len(points), size=batch))]))
    for start in range(0, len(points), batch):
        yield model.predict(_directions(points[start : start + batch])).astype(np.int64)


def _directions(points: Matrix) -> Matrix:
    return np.asarray(points / np.linalg.norm(points, axis=1, keepdims=True).clip(min=1e-12))


def _embedded(expert: Expert, side: str, setup: Setup, split: Split) -> Matrix:
    embedding = create_embedding(expert.embedding, **expert.options)

    def rows() -> Iterator[Matrix]:
        if side == "image":
            images = split.images if split.is_vectors else stills(split.images)
            return _means(embedding.images(images), repeat(len(images) // len(split), len(split)))
        lists, counted = tee(split.captions_for(f"embedding {expert.embedding} of texts"))
        return _means(embedding.texts(chain.from_iterable(lists)), map(len, counted))

    return cached_rows(_key(embedding, side), setup, split, rows, np.float32)


def _key(embedding: Embedding, side: str) -> Mapping[str, object]:
    return {"embedding": _identity(embedding), "side": side}


def _identity(embedding: Embedding) -> Sequence[object]:
    """What decides its rows: its version, its options, and the files of a folder that an option names."""
    options = embedding.options()
    folders = [Path(value) for value in options.values() if isinstance(value, str) and value and Path(value).is_dir()]
    return [embedding.card.name, embedding.card.version, options, [stamp(files_under(folder)) for folder in folders]]


def _means(made: Embedded, counts: Iterator[int]) -> Iterator[Matrix]:
    """For each image the mean of its rows, so many as its count, as soon as all of them are made."""
    rows, due = np.empty((0, 0), np.float32), next(counts, 0)
    for block in [made] if isinstance(made, np.ndarray) else made:
        rows = np.concatenate([rows, block]) if len(rows) else block
        own, end = list[int](), 0
        while due and end + due <= len(rows):
            own.append(due)
            end, due = end + due, next(counts, 0)
        if own:
            each = np.add.reduceat(rows[:end], np.cumsum([0, *own[:-1]]))
            yield (each / np.array(own)[:, None]).astype(np.float32)
            rows = rows[end:]
    if due or len(rows):
        raise UsageError("an embedding gave more or fewer rows than there are texts or images; it must give one each.")


def cached_rows(
    key: Mapping[str, object],
    setup: Setup,
    split: Split,
    make: Callable[[], Iterator[NDArray[T]]],
    dtype: type[T],
    count: int | None = None,
) -> NDArray[T]:
    """Rows, [N, D], written block by block and then mapped: no process holds them, and all share their pages.

    They are as many as the split has, or `count`.
    """

    def write(draft: Path) -> None:
        with draft.open("wb") as stream:
            stream.writelines(block.data for block in make())

    return np.memmap(made_once(_place(key, setup, split), write), dtype, "r").reshape(count or len(split), -1)


def _place(key: Mapping[str, object], setup: Setup, split: Split) -> Path:
    data = {"data": setup.data.model_dump(mode="json"), "split": split.name, "version": VERSION}
    return cache() / "prepared" / short_digest({**data, **key})
