"""Let torchvision import where its compiled operators do not match the installed torch.

timm imports torchvision for its transforms. A torchvision built for CUDA beside a CPU build of torch cannot load its
extension, and its Python part then fails because it decorates two operators that nobody declared. None of them is used
here: declaring them is enough.
"""

import importlib.util
import sys
from typing import Any

import torch


def make_importable() -> None:
    """Import torchvision, declaring the missing operators if that is what keeps it from importing."""
    if importlib.util.find_spec("torchvision") is None:
        return
    try:
        import torchvision
    except RuntimeError as error:
        if "torchvision::nms" not in str(error):
            raise
        for name in [n for n in sys.modules if n.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        _LIBRARY.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARY.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        import torchvision  # noqa: F401


_LIBRARY: Any = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
"""Kept alive: the declarations vanish with it."""
