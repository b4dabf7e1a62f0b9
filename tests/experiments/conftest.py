from collections.abc import Callable
from pathlib import Path

import pytest

from benchsuite.paths import baselines

SMALLER = {
    "train = 2000, validation = 200, test = 200, gallery = 40": "train = 256, validation = 8, test = 64, gallery = 8",
    "steps = 30": "steps = 12",
}


@pytest.fixture(scope="session")
def tiny_recipe(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """A recipe's file: `scenes-smoke` with twelve steps on 256 pictures; further replacements of its text."""

    def write(**changes: str) -> str:
        text = (baselines() / "recipes" / "scenes-smoke.toml").read_text("utf-8")
        for old, new in {**SMALLER, **changes}.items():
            assert old in text, old
            text = text.replace(old, new)
        file: Path = tmp_path_factory.mktemp("recipes") / "tiny.toml"
        file.write_text(text, "utf-8")
        return str(file)

    return write
