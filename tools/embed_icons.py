"""Make the files of the dataset `icons-features` again: python tools/embed_icons.py PACKAGES OUT

PACKAGES holds the sets of icons that docs/emoji-features.md names; encoders are those of tools/embed_emoji.py.
"""

import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from embed_emoji import PIXELS, encoders, for_readers, image_features, in_bytes, reduced, text_features

from benchsuite.data.readers.pictures import Pictures, pictures_in

PICTURES = 12_000
"""All of concepts that several sets draw, then of others, in an order that has no meaning."""
KEPT_IMAGE, KEPT_TEXT = 128, 192
"""Principal components."""


def write(pictures: Pictures, tower: Any, text_model: str, out: Path, pictures_at_most: int = PICTURES) -> None:
    """All files but the attribution. Images are in order of concept and set."""
    sets_of: dict[str, list[int]] = defaultdict(list)
    for i, (_, key, _) in enumerate(pictures.rows):
        sets_of[key].append(i)
    keys = sorted(sets_of, key=lambda key: (len(sets_of[key]) == 1, hashlib.sha256(key.encode()).digest()))
    counts = np.cumsum([len(sets_of[key]) for key in keys])
    keys = sorted(keys[: int(np.searchsorted(counts, pictures_at_most, "right"))])
    shown = [i for key in keys for i in sets_of[key]]
    concepts = [pictures.concepts[key] for key in keys]
    number = {key: k for k, key in enumerate(keys)}
    words = {word: k for k, word in enumerate(sorted({word for one in concepts for word in one.name.split()}))}
    longest = max(len(one.name.split()) for one in concepts)
    described = np.full((len(concepts), longest), -1, np.int16)
    for row, one in zip(described, concepts, strict=True):
        own = list(dict.fromkeys(words[word] for word in one.name.split()))
        row[: len(own)] = own
    drawings = pictures.images[shown]
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "images.npy", in_bytes(reduced(image_features(tower, drawings), KEPT_IMAGE)))
    np.save(out / "texts.npy", in_bytes(reduced(text_features(text_model, [c.name for c in concepts]), KEPT_TEXT)))
    np.save(out / "shown.npy", np.asarray([number[pictures.rows[i][1]] for i in shown], np.int16))
    held_out = pairs([pictures.rows[i] for i in shown])
    np.save(out / "galleries.npy", held_out)  # of each concept two images
    (out / "pictures.riff").write_bytes(b"".join(for_readers(drawings, held_out)))
    np.save(out / "concepts.npy", described)  # of each concept the words of its name
    lines = ",\n".join(json.dumps(one.name) for one in concepts)
    (out / "words.json").write_text(f'{{"labels": [\n{lines}\n]}}\n', "utf-8")


def pairs(rows: list[list[str]]) -> np.ndarray[Any, np.dtype[np.int16]]:
    """[concept, 2]: images by different sets, of concepts that share no picture with another."""
    concepts_of: dict[str, set[str]] = defaultdict(set)
    images: dict[str, list[int]] = defaultdict(list)
    for i, (_, key, sha) in enumerate(rows):
        concepts_of[sha].add(key)
        images[key].append(i)
    shared = {key for drawn in concepts_of.values() if len(drawn) > 1 for key in drawn}
    several = [own for key, own in images.items() if len(own) > 1 and key not in shared]
    # the two sets differ from concept to concept, so that no gallery is of one style
    return np.asarray([[own[k % len(own)], own[(k + 1) % len(own)]] for k, own in enumerate(several)], np.int16)


def main(packages: str, out: str) -> None:
    """From the packages to the files."""
    write(pictures_in("icons", packages, PIXELS), *encoders(), Path(out))


if __name__ == "__main__":
    main(*sys.argv[1:])
