"""What all tests share: hypothesis' profile, a cache of their own, registries that forget, small batches."""

import os
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes are started: each would compile all anew

import pytest
import torch
from hypothesis import settings
from support import made_records
from support.forked import in_processes
from support.in_process import InProcess
from support.made_records import MakeRecord

from benchsuite import registry
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.folders import use_folders
from benchsuite.methods.batch import PairBatch
from benchsuite.records.store import Store

settings.register_profile("benchsuite", derandomize=True, deadline=None, max_examples=40)
settings.load_profile("benchsuite")


def pytest_configure(config: pytest.Config) -> None:
    """Only `-m gpu` sees a GPU: what the other tests expect is computed on a CPU."""
    if not config.option.markexpr.startswith("gpu"):
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests first, the longest of them before: no process has long to go when the others are done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, item.path.parent.name not in ("docs", "e2e", "scaffolds")))


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


@pytest.fixture(autouse=True)
def forgetful_choices(own_cache: Path) -> Iterator[None]:
    """What a command chose for this machine, for it and all that it starts, is forgotten after its test."""
    chosen = {name: value for name, value in os.environ.items() if name.startswith("BENCHSUITE_")}
    yield
    for name in [name for name in os.environ if name.startswith("BENCHSUITE_") and name not in chosen]:
        del os.environ[name]
    os.environ.update(chosen)


@pytest.fixture(scope="session", autouse=True)
def forked_pairs() -> Iterator[None]:
    """The two processes of the conformance checks are forked; a leaderboard's workflow checks with spawned ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchsuite.conformance.processes.spawn", in_processes)
        yield


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are measured in this process: the imports of a worker are most of a small run's time."""
    monkeypatch.setattr("benchsuite.work.session.Pool", InProcess)


@pytest.fixture
def forgetful_registries() -> Iterator[None]:
    """What a test registers is forgotten after it; built-ins that it loaded first stay."""
    registries = (registry.methods, registry.tasks, registry.datasets, registry.embeddings)
    before = [set(kind._live) for kind in registries]
    rules = set(RULES)
    yield
    for task in set(RULES) - rules:
        del RULES[task]
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


@pytest.fixture
def make_record() -> MakeRecord:
    """A sealed record and the bytes of its ranks; keywords replace parts of its content."""
    return made_records.any_record


@pytest.fixture
def make_runs() -> Callable[..., made_records.Runs]:
    """`make_runs(method, values, cost, **changes)`: records by seed, as `made_records.runs` says."""
    return made_records.runs


@pytest.fixture
def make_sound() -> MakeRecord:
    """As make_record, but with the numbers that follow from its ranks, and current code; `ranks` replaces them."""
    return made_records.sound_record


@pytest.fixture
def sound_folder(tmp_path: Path, make_sound: MakeRecord) -> Callable[[int], Path]:
    """Makes a results folder with so many sound records, of seeds from 0 on."""

    def make(count: int) -> Path:
        folder = tmp_path / "results"
        folder.mkdir()
        for seed in range(count):
            Store(folder).write(*make_sound(seed))
        return folder

    return make
