"""A model to evaluate: an exported folder of our own, or another library's by name or folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data.base import Shows, Texts
from benchsuite.data.embeddings.encoders import fastest
from benchsuite.data.readers.embedded import Encoder as About
from benchsuite.data.readers.images import Fit
from benchsuite.errors import UsageError
from benchsuite.models.asked import LIBRARIES, Asked, asked
from benchsuite.models.clip_models import clip_model
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.frozen import FrozenImages, FrozenTexts
from benchsuite.models.layout import Exported
from benchsuite.models.pretrained import merge_lora
from benchsuite.models.saved import load_encoder
from benchsuite.models.sides import Sides, TrainedSides
from benchsuite.models.towers import weights_digest
from benchsuite.torchvision_ops import make_importable

PREFIXES = ", ".join(f"{library}:NAME" for library in LIBRARIES)


@dataclass(frozen=True)
class Judged:
    """A model that embeds, and what it is."""

    sides: Sides
    about: About
    embeds: frozenset[str]
    """ "image" and "text", or one of them."""
    takes: Shows
    """What its image side takes."""
    size: int | None
    """Side of its pictures in pixels; none for vectors and for texts alone."""
    fit: Fit
    exported: Exported | None = None
    """Of a run of ours."""


class FrozenSides(Sides):
    """The sides of another library's model."""

    def __init__(self, images: FrozenImages | None, texts: FrozenTexts | None) -> None:
        self._images, self._texts = images, texts

    def pictures(self, pictures: NDArray[Any], features: bool = False) -> Tensor:
        if self._images is None:
            raise UsageError("this model has no image side.")
        return normalize(torch.from_numpy(self._images(pictures, features)), dim=-1)

    def texts(self, texts: Texts, features: bool = False) -> Tensor:
        if self._texts is None:
            raise UsageError("this model has no text side.")
        return normalize(torch.from_numpy(self._texts([str(text) for text in texts], features)), dim=-1)


def judged(name: str) -> Judged:
    """The model: a folder of `benchsuite weights`, or LIBRARY:NAME."""
    library, colon, _ = name.partition(":")
    if colon and library in LIBRARIES:
        return _frozen(asked(name, library, untrained=False, option="model"))
    if not Path(name).is_dir():
        raise UsageError(
            f'model "{name}": no such folder. Give one that `benchsuite weights` wrote, or name a library: {PREFIXES}.'
        )
    encoder = load_encoder(name, device=fastest())
    setup, shape = encoder.about.setup, encoder.about.inputs.pictures
    vectors = setup.image is not None and setup.image.mlp is not None
    run = encoder.about.run
    return Judged(
        sides=encoder.sides,
        about=About(
            name=f"{run['method']['title']}, seed {run['seed']} (run {run['run_id']})",
            library=f"benchsuite {encoder.about.environment['benchsuite']}",
            weights=weights_digest(encoder.sides.encoder),
            trained=True,
        ),
        embeds=frozenset(side for side, tower in (("image", setup.image), ("text", setup.text)) if tower),
        takes="vectors" if vectors else "clips" if len(shape) == 4 else "images" if shape else "nothing",
        size=None if vectors or not shape else shape[-2],
        fit=setup.data.options.get("fit", "crop"),
        exported=encoder.about,
    )


def interpolated(model: Judged, alphas: Sequence[float], place: str | None) -> Iterator[Judged]:
    """The towers of a run with (1 - alpha) of the weights before the training and alpha of its own (WiSE-FT).

    Its pretrained model is at `place`, if given, else where the run had it. All share one module: use one at a time.
    """
    about, sides = model.exported, model.sides
    towers = {side: getattr(about.setup, side) for side in sorted(model.embeds)} if about else {}
    if not about or not isinstance(sides, TrainedSides) or not all(tower.model for tower in towers.values()):
        raise UsageError(
            f"--interpolate: {model.about.name} is not a fine-tuned run of ours. Give the folder that `benchsuite "
            "weights` wrote of a run whose towers are sides of a pretrained model."
        )
    update = {side: tower.model_copy(update={"place": place}) for side, tower in towers.items()}
    setup, inputs = about.setup.model_copy(update=update), about.inputs
    try:
        first = merge_lora(seeded_encoder(setup, inputs.words, about.run["seed"])).to(fastest()).state_dict()
    except UsageError as error:
        raise UsageError(f"{error} Say where the model before the training is: --model LIBRARY:FOLDER.") from error
    last = {name: tensor.clone() for name, tensor in sides.encoder.state_dict().items()}
    for alpha in alphas:
        mixed = {name: torch.lerp(first[name], own, alpha) for name, own in last.items() if own.is_floating_point()}
        sides.encoder.load_state_dict({**last, **mixed})
        yield replace(model, about=model.about.model_copy(update={"weights": weights_digest(sides.encoder)}))


def _frozen(wanted: Asked) -> Judged:
    if not wanted.trained:
        raise UsageError(f'model "{wanted.shown}": random weights are not evaluated.')
    make_importable()
    alone = wanted.library == "transformers" and clip_model(wanted) is None
    images = None if alone else FrozenImages(wanted)
    texts = None if wanted.library == "timm" else FrozenTexts(wanted)
    abouts = [side.about for side in (images, texts) if side]
    return Judged(
        sides=FrozenSides(images, texts),
        about=abouts[0],  # of models with two sides both digest the whole model
        embeds=frozenset(name for name, side in (("image", images), ("text", texts)) if side),
        takes="images" if images else "nothing",
        size=images.size if images else None,
        fit=images.fit if images else "crop",
    )
