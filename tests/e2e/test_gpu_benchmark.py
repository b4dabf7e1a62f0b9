"""`benchmarks/gpu.py` by its command: without a GPU it runs small, so that it works on the day that there is one."""

import json
import math
from functools import partial
from pathlib import Path

import pytest
from support.forked import Forked, script

pytestmark = [pytest.mark.slow, pytest.mark.gpu]
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "gpu.py"


def test_every_arm_is_measured(tmp_path: Path) -> None:
    parts = ["--only", "checks", "--only", "ViT-B/16", "--only", "losses", "--only", "loading"]
    words = ["--small", "--out", "gpu.json", *parts]
    # the process that it starts imports the files beside it, as a user's shell lets it; the gate's would not
    benchmark = Forked(words, tmp_path, partial(script, BENCHMARK), PYTHONSAFEPATH="")
    code, out, err = benchmark.communicate()
    assert code == 0, out + err
    lines = json.loads((tmp_path / "gpu.json").read_text("utf-8"))["lines"]
    check, *measured = lines
    assert "(bound 1e-04)" in check["note"]
    steps = [line["arm"] for line in measured if line["part"].startswith("ViT-B/16")]
    assert (steps[0], steps[-1]) == ("as is", "as is, again")
    assert {"ZeRO 1", "towers alone", "compiled towers", "2 shares, twice the batch", "open_clip's loop"} < {*steps}
    assert {line["part"] for line in measured} >= {"losses, B 64", "losses, B 128", "loading"}
    for line in measured:
        assert 0 < line["samples_per_second"] < math.inf, line
        assert line["peak_bytes"] > 0, line
        assert line["arm"] in out
