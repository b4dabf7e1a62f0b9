"""Trained towers as a file, and from an exported folder: `benchsuite.load_encoder`."""

import base64
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from benchsuite.data.base import Texts
from benchsuite.data.readers.images import decoded, square
from benchsuite.errors import RunError, UsageError, first_line
from benchsuite.files import drafted, put, sha256_of
from benchsuite.models.clip_models import CONFIGS, Projected
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.layout import AGAIN, METADATA, TOKENIZER, WEIGHTS, Exported, Kept, read_exported
from benchsuite.models.pretrained import merge_lora, words_of
from benchsuite.models.sides import TrainedSides
from benchsuite.models.tokenizer import Words, plain_config, words_in
from benchsuite.models.towers import TextEncoder
from benchsuite.models.vectors import VectorWords

BATCH = 256
Pictures = NDArray[Any] | Sequence[Any]


def save_towers(file: Path, trained: DualEncoder, words: Words | None, pictures: tuple[int, ...], run: str) -> str:
    """Write the towers at once, synced to disk; the SHA-256 of the file.

    Each tensor is copied, because safetensors refuses those that share memory.
    """
    from safetensors.torch import save_file

    encoder = merge_lora(trained)
    text = getattr(encoder, "text_tower", None)
    files = words.files() if words else {}
    if isinstance(text, Projected):  # its tokenizer's folder says what it is the tokenizer of
        files[CONFIGS[text.library]] = json.dumps(text.config).encode()
    kept = Kept(
        pictures=pictures,
        words=words.size if words else 0,
        image_config=_config(getattr(encoder, "image_tower", None)),
        text_config=_config(text),
        tokenizer={name: base64.b64encode(content).decode() for name, content in sorted(files.items())},
        run=run,
    )
    tensors = {name: tensor.detach().cpu().clone().contiguous() for name, tensor in encoder.state_dict().items()}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with drafted(file) as draft:
            save_file(tensors, draft, {"format": "pt", METADATA: kept.model_dump_json()})
            put(draft, file)
        return sha256_of(file)
    except Exception as error:  # safetensors has errors of its own for a full disk
        raise RunError(
            f"{file.parent}: the trained weights cannot be written ({first_line(error)}). Make room, or run without "
            "--keep-weights."
        ) from error


def _config(tower: Any) -> dict[str, Any] | None:
    """Of a tower that may have started from pretrained weights."""
    if isinstance(tower, Projected):
        return dict(tower.config)
    return plain_config(tower.body.config) if isinstance(tower, TextEncoder) else None


class Encoder:
    """The trained towers of an exported folder."""

    def __init__(self, about: Exported, sides: TrainedSides) -> None:
        self.about = about
        """The run, its setup, and what the towers take."""
        self.sides = sides

    def images(self, pictures: Pictures, batch: int = BATCH) -> NDArray[np.float32]:
        """[n, width], L2-normalised, of Pillow images, paths, or uint8 [n, H, W, 3] (clips [n, T, H, W, 3]).

        They are resized as the run's data was. Towers on vectors take float [n, D].
        """
        tower, shape = self.about.setup.image, self.about.inputs.pictures
        if tower is None:
            raise UsageError("images: this encoder has no image tower.")
        if tower.mlp:
            vectors = _vectors("images", pictures, shape[-1])[:, None]
            return self._embedded(vectors, batch, lambda part, _: self.sides.pictures(part))
        return self._embedded(pictures, batch, lambda part, first: self.sides.pictures(self._pixels(part, first)))

    def texts(self, texts: Texts | str, batch: int = BATCH) -> NDArray[np.float32]:
        """[n, width], L2-normalised, of a list of texts. Towers on vectors take float [n, D]."""
        tower = self.about.setup.text
        if tower is None:
            raise UsageError("texts: this encoder has no text tower.")
        if isinstance(texts, str):
            raise UsageError("texts: give a list of texts, not one text.")
        rows: Any = _vectors("texts", texts, self.about.inputs.words) if tower.mlp else list(texts)
        if not tower.mlp and (wrong := [i for i, text in enumerate(rows) if not isinstance(text, str)]):
            raise UsageError(f"texts: item {wrong[0]} is a {type(rows[wrong[0]]).__name__}, not a text.")
        return self._embedded(rows, batch, lambda part, _: self.sides.texts(part))

    def _embedded(self, rows: Any, batch: int, embed: Callable[[Any, int], Tensor]) -> NDArray[np.float32]:
        made = [embed(rows[i : i + batch], i) for i in range(0, len(rows), batch)]
        return torch.cat(made).numpy() if made else np.zeros((0, self.about.setup.projection.width), np.float32)

    def _pixels(self, pictures: Pictures, first: int) -> NDArray[np.uint8]:
        """uint8 [n, ...] in the shape that the tower was trained on."""
        shape = self.about.inputs.pictures
        if isinstance(pictures, np.ndarray):
            if pictures.dtype != np.uint8 or pictures.ndim != len(shape) + 1 or pictures.shape[-1] != 3:
                kind = "clips uint8 [n, T, H, W, 3]" if len(shape) == 4 else "images uint8 [n, H, W, 3]"
                raise UsageError(f"images: it takes {kind}; given {pictures.dtype} {list(pictures.shape)}.")
            if pictures.shape[-3:] == shape[-3:]:
                return pictures
        return np.stack([self._picture(picture, first + i) for i, picture in enumerate(pictures)])

    def _picture(self, picture: Any, number: int) -> NDArray[np.uint8]:
        from PIL import Image

        size, fit = self.about.inputs.pictures[-2], self.about.setup.data.options.get("fit", "crop")
        match picture:
            case Image.Image():
                return square(picture, size, fit)
            case str() | Path():
                return decoded(lambda: Image.open(picture), str(picture), size, fit)
            case np.ndarray() if picture.dtype == np.uint8 and picture.ndim in (3, 4) and picture.shape[-1] == 3:
                if picture.ndim == 4:
                    return np.stack([self._picture(frame, number) for frame in picture])
                return square(Image.fromarray(picture), size, fit)
        kind = f"{picture.dtype} {list(picture.shape)}" if isinstance(picture, np.ndarray) else type(picture).__name__
        raise UsageError(f"images: item {number} is {kind}; give a Pillow image, a path, or uint8 [H, W, 3].")


def load_encoder(folder: str | Path, device: str | torch.device = "cpu") -> Encoder:
    """The encoder that `benchsuite weights RUN --out FOLDER` wrote; only the folder is read."""
    place = Path(folder)
    about = read_exported(place)
    encoder, words = rebuilt(place, about)
    image = about.setup.image
    shape = about.inputs.pictures if image and not image.mlp else ()
    return Encoder(about, TrainedSides(encoder.to(device), words, image, shape))


def rebuilt(folder: Path, about: Exported) -> tuple[DualEncoder, Words | None]:
    """Towers and tokenizer from the folder's files alone."""
    from safetensors.torch import load_file

    inputs, image = about.inputs, about.setup.image
    text, anew = about.setup.text, {"train": "all"}  # without a hub, and with LoRA's updates merged
    setup = about.setup.model_copy(
        update={
            "image": image and image.model_copy(update={"pretrained": False, **anew}),
            "text": text and text.model_copy(update=anew),
        }
    )
    words: Words | None = None
    try:
        if text:
            place = folder / TOKENIZER
            theirs = words_of(text, str(place)) if text.model else None
            words = VectorWords(inputs.words) if text.mlp else theirs or words_in(place, text)
    except Exception as error:  # tokenizers have no error of their own
        raise UsageError(
            f"{folder / TOKENIZER}: the tokenizer cannot be read ({first_line(error)}). {AGAIN}"
        ) from error
    try:
        tensors: dict[str, Tensor] = load_file(folder / WEIGHTS)
        with torch.random.fork_rng(devices=[]):
            configs: dict[Any, Any] = {"image": inputs.image_config, "text": inputs.text_config}
            encoder = DualEncoder(setup, inputs.words, next(reversed(inputs.pictures), 0), configs)
        encoder.load_state_dict(tensors, assign=True)
    except (UsageError, ImportError):
        raise
    except Exception as error:
        versions = about.environment.get("packages", {})
        made = ", ".join(f"{name} {versions[name]}" for name in ("timm", "transformers") if versions.get(name))
        raise UsageError(
            f"{folder / WEIGHTS}: the weights do not fit the towers of {folder}/config.json ({first_line(error)}). "
            f"The run had {made or 'other versions'}; another version may build other towers."
        ) from error
    return encoder.eval(), words


def _vectors(what: str, given: Any, width: int) -> NDArray[np.float32]:
    try:
        rows = np.asarray(given, np.float32)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what}: this tower takes vectors, float [n, {width}]; given {first_line(error)}") from error
    if rows.ndim != 2 or rows.shape[1] != width:
        raise UsageError(f"{what}: this tower takes vectors, float [n, {width}]; given {list(rows.shape)}.")
    return rows
