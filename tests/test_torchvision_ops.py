import importlib.util
import subprocess
import sys

import pytest

from benchsuite.torchvision_ops import make_importable

pytestmark = pytest.mark.slow


def test_torchvision_can_be_imported_however_often() -> None:
    source = (
        "from benchsuite.torchvision_ops import make_importable\n"
        "make_importable()\n"
        "make_importable()\n"
        "import torch, torchvision.transforms\n"
        "print(hasattr(torch.ops.torchvision, 'nms'))"
    )
    told = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True)
    assert told.stdout.strip() == "True"


def test_a_model_can_be_made_from_its_configuration_alone() -> None:
    """By a process that has read no other model: `evaluate FOLDER` of a fine-tuned run."""
    small = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = {"model_type": "clip", "text_config": small, "vision_config": {**small, "image_size": 8, "patch_size": 8}}
    source = (
        f"from benchsuite.models.clip_models import blank_model; print(type(blank_model('transformers', {config})))"
    )
    told = subprocess.run([sys.executable, "-c", source], check=False, capture_output=True, text=True)
    assert "CLIPModel" in told.stdout, told.stderr[-800:]


def test_a_machine_without_torchvision_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    make_importable()
