"""The embedding of what is embedded already."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.embeddings.base import Embedding
from benchsuite.registry import register_embedding


@register_embedding("given", title="The vectors that are given", embeds=("image", "text"))
class Given(Embedding):
    """For datasets of vectors: they are the embeddings of frozen models, so they are returned as they are."""

    def texts(self, texts: Sequence[Any]) -> NDArray[np.float32]:
        return np.stack(texts)

    def images(self, images: NDArray[Any]) -> NDArray[np.float32]:
        return np.asarray(images[:, 0], np.float32)
