"""What takes long to import in processes of the suite; see warm.py."""

import pytest  # noqa: F401
import sklearn.cluster  # noqa: F401
import transformers  # noqa: F401

import benchsuite.cli.run
import benchsuite.execution.preflight  # noqa: F401
from benchsuite.torchvision_ops import make_importable
from benchsuite.training.deepspeed_deviations import engine_class

make_importable()
engine_class()
import timm  # noqa: E402, F401
