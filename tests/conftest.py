"""What all tests share: hypothesis' profile, a cache of their own, registries that forget, small batches."""

import os
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import numpy as np
import pytest
import torch
from hypothesis import settings

from benchsuite import registry
from benchsuite.evaluation import rank_metrics
from benchsuite.folders import use_folders
from benchsuite.methods.batch import PairBatch
from benchsuite.records.code_version import code_version
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.schema import MethodPart, Record, Result
from benchsuite.records.store import Store
from benchsuite.setup import Data, ImageTower, Optimizer, Protocol, Setup, TextTower, Training

settings.register_profile("benchsuite", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("benchsuite")


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder for the session, shared by its processes, so that the user's is never touched."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "cache"
    folder.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHSUITE_CACHE", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def forgetful_folders() -> Iterator[None]:
    """Folders of tables that a test names are forgotten after it."""
    yield
    use_folders(())


@pytest.fixture
def forgetful_registries() -> Iterator[None]:
    """What a test registers is forgotten after it; built-ins that it loaded first stay."""
    registries = (registry.methods, registry.tasks, registry.datasets, registry.embeddings)
    before = [set(kind._live) for kind in registries]
    yield
    for kind, known in zip(registries, before, strict=True):
        for name in set(kind._live) - known:
            if not kind._live_cards[name].module.startswith("benchsuite."):
                del kind._live[name], kind._live_cards[name]


@pytest.fixture
def plugin_file(tmp_path: Path, forgetful_registries: None) -> Iterator[Callable[..., Path]]:
    """Writes a plugin file from indented source; the modules it becomes are dropped after the test."""
    before = set(sys.modules)

    def write(source: str, name: str = "mine.py") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(source), "utf-8")
        return path

    yield write
    for name in set(sys.modules) - before:
        if name.startswith("benchsuite_plugin_"):
            del sys.modules[name]


def random_batch(
    size: int = 5, width: int = 4, seed: int = 0, dtype: torch.dtype = torch.float64, grad: bool = False
) -> PairBatch:
    """Raw, unnormalised embeddings of both modalities and their views."""
    generator = torch.Generator().manual_seed(seed)
    parts = {
        name: torch.randn(size, width, generator=generator, dtype=torch.float64).to(dtype).requires_grad_(grad)
        for name in ("image", "text", "image_view", "text_view")
    }
    return PairBatch(**parts, index=torch.arange(size))


@pytest.fixture
def make_batch() -> Callable[..., PairBatch]:
    """`make_batch(size, width, seed, dtype, grad)` gives a random batch with views."""
    return random_batch


METRICS = {"i2t_r1": 0.25, "i2t_r5": 0.5, "i2t_r10": 0.75, "t2i_r1": 0.0, "t2i_r5": 0.5, "t2i_r10": 1.0, "r_mean": 0.5}

MakeRecord = Callable[..., tuple[Record, bytes]]


@pytest.fixture
def make_record() -> MakeRecord:
    """A sealed record and the bytes of its ranks; keywords replace parts of its content."""

    def make(seed: int = 0, **changes: Any) -> tuple[Record, bytes]:
        setup = Setup(
            data=Data(name="scenes", options={"train": 64}, version=1, digest="d" * 64),
            image=ImageTower(timm="test_vit"),
            text=TextTower(transformer="distilbert", vocabulary=100),
            projection={"width": 8},
            optimizer=Optimizer(lr=1e-3),
            training=Training(batch=4, steps=2),
            protocols={"retrieval": Protocol(task="retrieval", version=1, options={"split": "test"})},
        )
        method = MethodPart(name="infonce", title="InfoNCE", hyperparameters={"tau": 0.03}, code="c0de", owner="us")
        content, sidecar = pack_ranks(f"infonce-s{seed}", [("retrieval.i2t", np.arange(1, 5, dtype=np.int32))])
        parts: dict[str, Any] = {
            "seed": seed,
            "method": method,
            "setup": setup,
            "results": {"retrieval": Result(task="retrieval", version=1, metrics=METRICS, counts={"i2t": 4, "t2i": 4})},
            "curves": {"step": [0, 1], "loss": [2.0, None]},
            "cost": {"seconds": 1.5},
            "digests": {"initial_weights": "w", "batches": "b", "data": "d" * 64},
            "environment": {"python": "3.13", "packages": {"torch": None}},
            "created": "2026-01-01T00:00:00+00:00",
            "ranks": sidecar,
        }
        return Record.seal(**{**parts, **changes}), content

    return make


RANKS = {"i2t": np.array([1, 2, 9, 40], np.int32), "t2i": np.array([1, 1, 5, 6, 11, 3, 2, 1], np.int32)}


@pytest.fixture
def make_sound(make_record: MakeRecord) -> MakeRecord:
    """As make_record, but with the numbers that follow from its ranks, and current code; `ranks` replaces them."""

    def make(seed: int = 0, ranks: Mapping[str, Any] = RANKS, **changes: Any) -> tuple[Record, bytes]:
        scores = rank_metrics.retrieval(ranks)
        numbers = {"metrics": dict(scores.metrics), "measures": dict(scores.measures), "counts": dict(scores.counts)}
        current = {"code": code_version(registry.methods.card("infonce"))}
        content, sidecar = pack_ranks(
            f"infonce-s{seed}", [(f"retrieval.{way}", values) for way, values in ranks.items()]
        )
        parts = {
            "method": make_record()[0].method.model_copy(update=current),
            "results": {"retrieval": Result(task="retrieval", version=1, split_size=len(ranks["i2t"]), **numbers)},
            "ranks": sidecar,
        }
        return make_record(seed, **{**parts, **changes})[0], content

    return make


@pytest.fixture
def sound_folder(tmp_path: Path, make_sound: Callable[..., tuple[Record, bytes]]) -> Callable[[int], Path]:
    """Makes a results folder with so many sound records, of seeds from 0 on."""

    def make(count: int) -> Path:
        folder = tmp_path / "results"
        folder.mkdir()
        for seed in range(count):
            Store(folder).write(*make_sound(seed))
        return folder

    return make
