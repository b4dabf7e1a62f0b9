"""The embedded dataset `clips`: the world of `scenes` moving, with narrations, verb classes and noun classes."""

from benchsuite.data.clips.dataset import (
    LABELS,
    SEED,
    SPLITS,
    ClipSplit,
    build,
    describe,
    generate,
    load,
    manifest,
    verify,
)
from benchsuite.data.clips.grammar import CLASS_NAMES, TEMPLATES

__all__ = [
    "CLASS_NAMES",
    "LABELS",
    "SEED",
    "SPLITS",
    "TEMPLATES",
    "ClipSplit",
    "build",
    "describe",
    "generate",
    "load",
    "manifest",
    "verify",
]
