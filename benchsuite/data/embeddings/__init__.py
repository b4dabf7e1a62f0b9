"""Frozen embeddings of captions and images, for clusters and experts; each registered by its decorator."""

from benchsuite.data.embeddings.base import Embedding, create_embedding

__all__ = ["Embedding", "create_embedding"]
