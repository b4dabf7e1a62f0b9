"""Python files that no package has: tools, benchmarks, tox's plugin."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def module_of(file: Path) -> ModuleType:
    """The file as a module. Files beside it can be imported, and its dataclasses find themselves."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec and spec.loader  # noqa: PT018
    module = sys.modules[file.stem] = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    return module
