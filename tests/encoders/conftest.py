"""Other people's models for all tests of this room."""

from pathlib import Path

import pytest
from support.peers import open_clip_clip, timm_resnet, transformers_clip


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("peers")
    return {
        "transformers": transformers_clip(place / "tclip"),
        "open_clip": open_clip_clip(place / "oclip"),
        "timm": timm_resnet(place / "resnet"),
    }
