"""The world of `latents`: scenes of concepts, and the vectors of their images and captions.

A scene has four concepts, drawn by Zipf's law; the first one counts most. An image is a fixed two-layer mixing of the
scene with nuisance numbers, which are drawn again in part for each rendering. A caption mentions each concept with some
probability, in a wording of its own; its paraphrase words the same mentions again. A seed draws the concepts, the
mixings, and how noisy, how silent, how long-tailed and how often wrong its world is. All numbers come from
`np.random.RandomState`, whose stream numpy has frozen (NEP 19), and are rounded to a grid, so that digests do not
depend on a machine's last bits.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchsuite.data.synthetic.scene_world import stream

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]

WIDTH = 128
"""Numbers in the vector of an image or a caption."""
GROUPS, CONCEPTS, PER_SCENE = 10, 200, 4
ZIPF = 0.8
LATENT, NUISANCE, WORDING = 64, 32, 16
WORDING_SCALE = 0.5
MENTIONED = 0.7
"""Probability that a caption mentions a concept; a caption that would mention none mentions the first."""
NOISE = 0.2
SPREAD = (0.75, 1.25)
"""A world has between so many times the stated noise, probability of a mention, exponent of Zipf's law, and share of
mismatched pairs."""
GRID = 1024
"""Numbers are multiples of 1 / GRID."""


class Look(NamedTuple):
    """How scenes become images."""

    salience: tuple[float, ...]
    """How much each of a scene's concepts counts in its image."""
    nuisance: float
    """Scale of what says nothing about the scene."""
    redrawn: float
    """Share of the nuisance that another rendering of the same image draws again."""


PAIRED = Look((1.0, 0.7, 0.7, 0.7), 0.5, 0.5)
"""Of images that have captions."""


@dataclass(frozen=True)
class World:
    """What does not change between scenes, as a function of the seed."""

    seen: Floats
    """[C, LATENT]: a concept in images, near the others of its group."""
    said: Floats
    """[C, LATENT]: the same in captions."""
    image_layers: tuple[Floats, Floats]
    text_layers: tuple[Floats, Floats]
    noise: float
    mentioned: float
    tail: float
    """Factor of Zipf's exponents."""
    wrong: float
    """Factor of the share of mismatched pairs."""

    @classmethod
    def of(cls, seed: int, concepts: int = CONCEPTS) -> "World":
        draw = stream(seed, 0)
        seen, said = (_concepts(draw, concepts) for _ in range(2))
        image, text = (
            tuple(draw.standard_normal((n, WIDTH)) / np.sqrt(n) for n in (LATENT + extra, WIDTH))
            for extra in (NUISANCE, WORDING)
        )
        least, most = SPREAD
        noise, mentioned, tail, wrong = least + (most - least) * stream(seed, 6).random_sample(4)
        return cls(seen, said, image, text, NOISE * noise, MENTIONED * mentioned, float(tail), float(wrong))

    def images(self, scenes: Ints, renderings: int, draw: np.random.RandomState, look: Look = PAIRED) -> Vectors:
        """[N, renderings, WIDTH] of scenes [N, PER_SCENE]."""
        n = len(scenes)
        latent = (self.seen[scenes] * np.array(look.salience)[:, None]).sum(1)
        own = draw.standard_normal((n, 1, NUISANCE))
        again = draw.standard_normal((n, renderings, NUISANCE))
        redrawn = draw.random_sample((n, renderings, NUISANCE)) < look.redrawn
        redrawn[:, 0] = False
        nuisance = look.nuisance * np.where(redrawn, again, own)
        repeated = np.broadcast_to(latent[:, None], (n, renderings, LATENT))
        return self._rendered(np.concatenate([repeated, nuisance], axis=2), self.image_layers, draw)

    def mentions(self, shape: tuple[int, int, int], draw: np.random.RandomState) -> NDArray[np.bool_]:
        """Which of a scene's concepts captions mention, [N, W, K]."""
        mentioned = draw.random_sample(shape) < self.mentioned
        mentioned[..., 0] |= ~mentioned.any(2)
        return mentioned

    def mentioning(self, scenes: Ints, mentioned: NDArray[np.bool_], draw: np.random.RandomState) -> Vectors:
        """[N, W, WIDTH] of captions that mention these concepts, [N, W, K] of scenes [N, K]."""
        return self.sentences(np.einsum("nwk,nkd->nwd", mentioned.astype(float), self.said[scenes]), draw)

    def sentences(self, latent: Floats, draw: np.random.RandomState) -> Vectors:
        """[N, W, WIDTH] of what is said, [N, W, LATENT]; each in a wording of its own."""
        wording = WORDING_SCALE * draw.standard_normal((*latent.shape[:2], WORDING))
        return self._rendered(np.concatenate([latent, wording], axis=2), self.text_layers, draw)

    def stock(self, latent: Floats, wording: Ints) -> Vectors:
        """[N, WIDTH] of what is said, [N, LATENT], in one of the stock wordings: equal where both are equal."""
        bank = WORDING_SCALE * np.random.RandomState(0).standard_normal((1 + int(wording.max()), WORDING))
        return _on_grid(_mixed(np.concatenate([latent, bank[wording]], axis=1), self.text_layers))

    def told(self, scenes: Ints, share: float, draw: np.random.RandomState) -> Ints:
        """What is said of each scene, where about a share of them is told as one of the others in that share."""
        wrong = round(len(scenes) * min(1.0, share * self.wrong))
        if wrong < 2:
            return scenes
        chosen = draw.permutation(len(scenes))[:wrong]
        told = scenes.copy()
        told[chosen] = scenes[np.roll(chosen, 1)]
        return told

    def _rendered(self, latent: Floats, layers: tuple[Floats, Floats], draw: np.random.RandomState) -> Vectors:
        mixed = _mixed(latent, layers)
        return _on_grid(mixed + self.noise * draw.standard_normal(mixed.shape))


def imagine(seed: int, split: int, count: int, concepts: int = CONCEPTS, zipf: float = ZIPF) -> Ints:
    """[count, PER_SCENE] different concepts of each scene, the one that counts most first.

    Concept c is the c-th most frequent. The first n of a longer draw are the draw of n.
    """
    weight = 1 / np.arange(1, concepts + 1) ** zipf
    keys = np.log(-np.log(stream(seed, 1, split).random_sample((count, concepts)))) - np.log(weight)
    return np.argsort(keys, axis=1)[:, :PER_SCENE].astype(np.int64)


def group(concept: Ints) -> Ints:
    """The group of a concept. Each group has frequent and rare concepts."""
    return concept % GROUPS


def _concepts(draw: np.random.RandomState, count: int) -> Floats:
    groups, own = (draw.standard_normal((n, LATENT)) for n in (GROUPS, count))
    shared: Floats = groups[group(np.arange(count))]
    concepts: Floats = np.sqrt(0.3) * shared + np.sqrt(0.7) * own
    return concepts


def _mixed(latent: Floats, layers: tuple[Floats, Floats]) -> Floats:
    first, second = layers
    return np.asarray(np.tanh(np.tanh(latent @ first) @ second))


def _on_grid(rows: Floats) -> Vectors:
    return (np.round(rows * GRID) / GRID).astype(np.float32)
