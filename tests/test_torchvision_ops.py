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


def test_a_machine_without_torchvision_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "torchvision", None)
    make_importable()
