"""Embeddings that need no download: vectors as they are, word counts and pixels by a singular value decomposition."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.embeddings import Embedding, Matrix
from benchsuite.data.vectors import BLOCK
from benchsuite.fields import Count
from benchsuite.registry import register_embedding


@register_embedding("given", title="The vectors that are given", embeds=("image", "text"))
class Given(Embedding):
    """For datasets of vectors: they are the embeddings of frozen models, so they are returned as they are."""

    def texts(self, texts: Iterable[Any]) -> Iterator[Matrix]:
        each = iter(texts)
        while block := list(islice(each, BLOCK)):
            yield np.stack(block)

    def images(self, images: NDArray[Any]) -> Iterator[Matrix]:
        for start in range(0, len(images), BLOCK):
            yield np.asarray(images[start : start + BLOCK, 0], np.float32)


@register_embedding("tfidf-svd", title="TF-IDF, SVD", embeds=("text",))
class TfidfSvd(Embedding):
    """Words weighted by rarity, reduced to a few dimensions: the embedded default for captions.

    It is fitted on the texts it is given, so it depends on them.
    """

    dimensions: Count = 64
    """At most; fewer where the texts have fewer different words."""

    def texts(self, texts: Iterable[str]) -> Matrix:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        counts = TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+").fit_transform(texts)
        reduced = TruncatedSVD(min(self.dimensions, counts.shape[1] - 1), random_state=0).fit_transform(counts)
        return np.asarray(reduced, np.float32)


@register_embedding("pixel-svd", title="Pixels, SVD", embeds=("image",))
class PixelSvd(Embedding):
    """Centred pixels, reduced to a few dimensions: an expert that knows colours and positions, not objects.

    It needs all images in memory: a few ten thousand of 32x32 pixels.
    """

    dimensions: Count = 64
    """At most; fewer where there are fewer images."""

    def images(self, images: NDArray[np.uint8]) -> Matrix:
        from sklearn.decomposition import PCA

        flat = np.asarray(images).reshape(len(images), -1).astype(np.float32) / 255
        reduced = PCA(min(self.dimensions, *flat.shape), svd_solver="randomized", random_state=0).fit_transform(flat)
        return np.asarray(reduced, np.float32)
