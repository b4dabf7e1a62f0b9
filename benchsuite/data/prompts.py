"""Named sets of prompt templates. Code bases differ in them, and so do results: the name is part of a protocol."""

import tomllib
from collections.abc import Mapping, Sequence

from benchsuite.files import packaged

SMALL: Mapping[str, Sequence[str]] = tomllib.loads(packaged("data/prompts.toml"))
"""The small sets; `imagenet-80` and each dataset's own come from clip-benchmark."""
