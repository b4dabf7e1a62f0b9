"""What is computed once for a training set and cached: clusters of its captions, and frozen experts' embeddings."""

import hashlib
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchsuite.canonical import short_digest
from benchsuite.data.base import Split
from benchsuite.data.cached import made_once
from benchsuite.data.embeddings import create_embedding
from benchsuite.data.readers.images import stills
from benchsuite.errors import UnknownError, UsageError
from benchsuite.paths import cache
from benchsuite.setup import Clusters, Expert, Experts, Setup

Arrays = Mapping[str, NDArray[np.generic]]
VERSION = 1
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
        return {
            name: hashlib.sha256(rows.tobytes()).hexdigest()[:16] for name, rows in parts.items() if rows is not None
        }


EVERYTHING = frozenset({"cluster", "image_expert", "text_expert"})


def prepare(setup: Setup, split: Split, needs: Set[str] = EVERYTHING) -> Prepared:
    """What the setup offers and a method needs, from the cache if it was computed before."""
    wanted = setup.clusters if "cluster" in needs else None
    cluster, sizes = clusters(wanted, setup, split) if wanted else (None, None)
    experts = setup.experts or Experts()
    sides = {"image": experts.image, "text": experts.text}
    rows = {side: _embedded(e, side, setup, split) for side, e in sides.items() if e and f"{side}_expert" in needs}
    return Prepared(cluster, sizes, rows.get("image"), rows.get("text"))


def clusters(settings: Clusters, setup: Setup, split: Split) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Each image's cluster, and how many images each cluster has."""
    ids = labelled_clusters(settings, split)
    if ids is None:
        key = {"clusters": settings.model_dump(mode="json")}
        ids = _cached(key, setup, split, lambda: {"rows": _k_means(settings, setup, split)})["rows"].astype(np.int64)
    return ids, tuple(int(n) for n in np.bincount(ids))


def labelled_clusters(settings: Clusters, split: Split) -> NDArray[np.int64] | None:
    """Clusters that are classes of the split; none where K-means makes them. Refuses what cannot be clustered."""
    if settings.labels is None:
        if settings.k > len(split):
            raise UsageError(f"{settings.k} clusters of {len(split)} images: k may be at most the number of images.")
        create_embedding(settings.embedding, **settings.options)
        return None
    if settings.labels not in split.labels:
        raise UnknownError("set of classes", settings.labels, split.labels, f"split {split.name}: ")
    ids = split.labels[settings.labels]
    if ids.ndim != 1:
        raise UsageError(f'split {split.name}: "{settings.labels}" are sets of classes, not one class for each image.')
    return ids


def _k_means(settings: Clusters, setup: Setup, split: Split) -> NDArray[np.int64]:
    from sklearn.cluster import KMeans

    points = _embedded(Expert(embedding=settings.embedding, options=settings.options), "text", setup, split)
    points = points / np.linalg.norm(points, axis=1, keepdims=True).clip(min=1e-12)
    result = KMeans(settings.k, n_init=1, random_state=settings.seed).fit(points)
    return np.asarray(result.labels_, np.int64)


def _embedded(expert: Expert, side: str, setup: Setup, split: Split) -> NDArray[np.float32]:
    embedding = create_embedding(expert.embedding, **expert.options)

    def rows() -> Arrays:
        if side == "image":
            each = embedding.images(split.images if split.is_vectors else stills(split.images))
            return {"rows": each.reshape(len(split), -1, each.shape[-1]).mean(1)}
        lists = split.captions_for(f"embedding {expert.embedding} of texts")
        each = embedding.texts([text for texts in lists for text in texts])
        starts = np.cumsum([0, *(len(texts) for texts in lists)])[:-1]
        counts = np.array([len(texts) for texts in lists])[:, None]
        return {"rows": (np.add.reduceat(each, starts) / counts).astype(np.float32)}

    key = {"embedding": expert.embedding, "options": embedding.options(), "side": side}
    return _cached(key, setup, split, rows)["rows"].astype(np.float32)


def _cached(key: Mapping[str, object], setup: Setup, split: Split, make: Callable[[], Arrays]) -> Arrays:
    data = {"data": setup.data.model_dump(mode="json"), "split": split.name, "version": VERSION}
    file = cache() / "prepared" / f"{short_digest({**data, **key})}.npz"
    made_once(file, lambda draft: np.savez(draft, **make()))  # type: ignore[arg-type]
    with np.load(file, allow_pickle=False) as stored:
        return dict(stored)
