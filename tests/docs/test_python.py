"""The Python of the README and the documentation: methods, tasks and datasets register, all else compiles.

tests/test_readme.py trains what they register, tests/analysis/test_data_frame_page.py answers with the data frames.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from shown import PAGES, blocks

from benchsuite import Clock, PairBatch
from benchsuite.registry import load_plugin, methods

SHOWN = [(page, number) for page in PAGES for number in range(len(blocks(page, "python")))]


@pytest.fixture
def forgotten(forgetful_registries: None) -> Iterator[None]:
    """Plugins are forgotten after the test."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("benchsuite_plugin_"):
            del sys.modules[name]


@pytest.mark.parametrize(("page", "number"), SHOWN)
def test_every_block_is_python(page: str, number: int) -> None:
    """Some are parts of a class: a decorator, or a line of its body."""
    block = blocks(page, "python")[number]
    below = "\nclass Shown: ...\n" if block.startswith("@") else ""
    compile(block + below, f"{page}, block {number}", "exec")


@pytest.mark.parametrize(("page", "number"), [s for s in SHOWN if "@register_" in blocks(s[0], "python")[s[1]]])
def test_every_class_shown_registers(page: str, number: int, tmp_path: Path, forgotten: None) -> None:
    block = blocks(page, "python")[number]
    if "class " not in block:  # a decorator alone, which a method of the page would carry
        body = "    def loss(self, batch, clock):\n        return batch.image.sum()\n"
        block = f"from benchsuite import Method, register_method\n{block}class Shown(Method):\n{body}"
    file = tmp_path / f"shown{number}.py"
    file.write_text(block)
    load_plugin(file)


def test_the_method_with_warm_pairs_is_infonce_where_nothing_rises(tmp_path: Path, forgotten: None) -> None:
    (source,) = [block for block in blocks("add-a-method.md", "python") if '"mine-warm"' in block]
    (tmp_path / "warm.py").write_text(source)
    load_plugin(tmp_path / "warm.py")
    generator = torch.Generator().manual_seed(0)
    image, text = (torch.randn(6, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    batch = PairBatch(image=image, text=text)
    warm = methods.get("mine-warm")(low=0.1, rise=0.0)(batch, Clock(0, 1)).total
    assert torch.allclose(warm, methods.get("infonce")(tau=0.1)(batch, Clock(0, 1)).total)
