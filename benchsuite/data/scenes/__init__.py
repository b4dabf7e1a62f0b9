"""The embedded data set `scenes`: small drawn pictures of two objects, and what a small grammar says of them."""

from benchsuite.data.scenes.dataset import (
    LABELS,
    MISMATCHED,
    SEED,
    SPLITS,
    SceneSplit,
    build,
    describe,
    generate,
    head_ranks,
    load,
    manifest,
    verify,
)
from benchsuite.data.scenes.grammar import CLASS_NAMES, TEMPLATES

__all__ = [
    "CLASS_NAMES",
    "LABELS",
    "MISMATCHED",
    "SEED",
    "SPLITS",
    "TEMPLATES",
    "SceneSplit",
    "build",
    "describe",
    "generate",
    "head_ranks",
    "load",
    "manifest",
    "verify",
]
