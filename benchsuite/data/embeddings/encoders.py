"""The registered embeddings: pretrained encoders by hub name or from a folder, and what needs no download."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchsuite.data.embeddings import Embedding, Matrix
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.data.vectors import BLOCK
from benchsuite.errors import UsageError, first_line
from benchsuite.fields import Count
from benchsuite.registry import register_embedding
from benchsuite.torchvision_ops import make_importable

FITTED = 500_000
"""Texts that TF-IDF and its SVD are fitted on, at most."""


@register_embedding("transformer", title="Pretrained text encoder", embeds=("text",))
class TransformerEmbedding(Embedding):
    """Mean of the last hidden states over the tokens, as sentence-transformers' models are read.

    MM-TS clusters captions with such a model; TeMo's text expert is sentence-transformers/all-roberta-large-v1.
    """

    model: str
    """Hub name or folder."""
    batch: Count = 64
    """Texts at a time."""
    max_tokens: Count = 128
    """Longer texts are cut."""

    def load(self) -> tuple[Any, Any]:
        """Tokenizer and model."""
        make_importable()
        from transformers import AutoModel, AutoTokenizer

        try:
            tokenizer = AutoTokenizer.from_pretrained(self.model)
            return tokenizer, AutoModel.from_pretrained(self.model, dtype=torch.float32).eval()
        except (OSError, ValueError) as error:
            raise _not_there("text", self.model, error) from error

    @torch.inference_mode()
    def texts(self, texts: Iterable[str]) -> Iterator[Matrix]:
        tokenizer, model = self.load()
        each, device = iter(texts), fastest()
        while chunk := list(islice(each, self.batch)):
            tokens = tokenizer(chunk, padding=True, truncation=True, max_length=self.max_tokens, return_tensors="pt")
            states = model.to(device)(**tokens.to(device)).last_hidden_state
            mask = tokens["attention_mask"].unsqueeze(-1)
            yield ((states * mask).sum(1) / mask.sum(1)).float().cpu().numpy()


@register_embedding("timm", title="Pretrained image encoder", embeds=("image",))
class TimmEmbedding(Embedding):
    """A timm model's pooled features. TeMo's vision expert is DINOv2-Small, vit_small_patch14_dinov2 here."""

    model: str
    """timm name."""
    pretrained: bool = True
    """Whether its weights are loaded; random ones are for tests."""
    batch: Count = 64
    """Images at a time."""

    def load(self) -> Any:
        """The model."""
        make_importable()
        import timm

        try:
            return timm.create_model(self.model, pretrained=self.pretrained, num_classes=0).eval()
        except (RuntimeError, OSError) as error:
            raise _not_there("image", self.model, error) from error

    @torch.inference_mode()
    def images(self, images: NDArray[np.uint8]) -> Iterator[Matrix]:
        model = self.load()
        import timm

        settings = timm.data.resolve_model_data_config(model)
        device = fastest()
        for start in range(0, len(images), self.batch):
            pixels = to_unit(images[start : start + self.batch])
            sized = torch.nn.functional.interpolate(pixels, size=settings["input_size"][1:], mode="bicubic")
            rows = model.to(device)(standardize(sized, settings["mean"], settings["std"]).to(device))
            yield rows.float().cpu().numpy()


def _not_there(side: str, model: str, error: Exception) -> UsageError:
    return UsageError(
        f'{side} expert "{model}": it cannot be loaded ({first_line(error)}). '
        f"Call the command with --dry-run where the hub can be reached and HF_HOME is the same: that fetches it."
    )


def fastest() -> torch.device:
    """A GPU where there is one: millions of captions take days without."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


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

    It is fitted on the texts it is given, so it depends on them; of more than 500,000 on the first ones.
    """

    dimensions: Count = 64
    """At most; fewer where the texts have fewer different words."""

    def texts(self, texts: Iterable[str]) -> Iterator[Matrix]:
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        each, words = iter(texts), TfidfVectorizer(sublinear_tf=True, token_pattern=r"\w+")
        counts = words.fit_transform(islice(each, FITTED))
        svd = TruncatedSVD(min(self.dimensions, counts.shape[1] - 1), random_state=0)
        yield np.asarray(svd.fit_transform(counts), np.float32)
        while block := list(islice(each, BLOCK)):
            yield np.asarray(svd.transform(words.transform(block)), np.float32)


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
