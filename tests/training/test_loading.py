"""Batches made by workers are those that the training process would make, from any step on."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from support.copies import in_a_copy, mount, only_linux

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.prepared import Prepared
from benchsuite.data.readers.images import BadPicture, LazyImages
from benchsuite.errors import RunError, UsageError
from benchsuite.methods import create_method
from benchsuite.models.tokenizer import Tokens
from benchsuite.models.vectors import text_reader
from benchsuite.setup import Augmentation, Data, Setup
from benchsuite.tower_settings import MLP, ImageTower, TextTower
from benchsuite.training import loading, loop
from benchsuite.training.feed import Feed, Inputs, Rows
from benchsuite.training.loading import Ahead
from benchsuite.training.loop import train

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux alone")
MakeSetup = Callable[..., Setup]
VIEWS = frozenset({"image_view", "text_view", "image_view2", "cluster", "image_expert", "text_expert"})
CUT = Augmentation(crop=(0.5, 1.0), flip=True, jitter=0.8, brightness=0.4, hue=0.1)
N = 24


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Split]:
    """A small split of each kind."""
    folder = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(0)
    for i in range(N):
        Image.fromarray(rng.integers(0, 256, (40, 48, 3), np.uint8)).save(folder / f"{i}.jpg")
    texts = [[f"thing {i}", f"object number {i}"] for i in range(N)]
    lazy = LazyImages(N, 32, lambda i: Image.open(folder / f"{i}.jpg"), lambda i: f"{i}.jpg").as_array()
    kinds = {"lazy pictures": Split("train", lazy, texts, texts)}
    kinds["pictures"] = create_dataset("scenes", train=N, validation=8, test=8).split("train")
    kinds["clips"] = create_dataset("clips", train=N, validation=8, test=8).split("train")
    kinds["vectors"] = create_dataset("latents", train=N, validation=8, test=8).split("train")
    return kinds


def feed_of(kind: str, data: dict[str, Split], make_setup: MakeSetup, workers: int, accumulation: int = 2) -> Feed:
    split, setup = data[kind], of(kind, make_setup(batch=8, accumulation=accumulation, steps=4))
    changes: dict[str, object] = {"augmentation": CUT}
    if kind == "vectors":
        vectors = {"image": ImageTower(mlp=MLP()), "text": TextTower(mlp=MLP())}
        changes |= {**vectors, "augmentation": Augmentation(mask=0.2, noise=0.1)}
    setup = setup.model_copy(update=changes)
    rng = np.random.default_rng(1)
    experts = [rng.normal(size=(len(split), 3)).astype(np.float32) for _ in range(2)]
    prepared = Prepared(np.arange(len(split)) % 3, (8, 8, 8), *experts)
    plan = BatchPlan(split, 8, setup.augmentation, seed=5)
    return Feed(setup, plan, text_reader(setup, split), VIEWS, prepared, torch.device("cpu"), workers)


def of(kind: str, setup: Setup) -> Setup:
    """Data have a digest, by which tokenizers are cached."""
    return setup.model_copy(update={"data": Data(name="x", digest=kind)})


def flat(inputs: Inputs) -> dict[str, torch.Tensor]:
    tokens = {
        f"{name} {key}": tensor
        for name, part in inputs.tokens.items()
        for key, tensor in (vars(part) if isinstance(part, Tokens) else {"": part}).items()
    }
    return {**inputs.pixels, **tokens, **inputs.extra}


def all_of(feed: Feed, start: int = 0) -> Iterator[dict[str, torch.Tensor]]:
    for step in range(start, 4):
        for part in range(2):
            yield flat(feed(step, part))
    feed.close()


@pytest.mark.parametrize("kind", ["lazy pictures", "pictures", "clips", "vectors"])
def test_inputs_are_equal_for_any_number_of_workers(kind: str, data: dict[str, Split], make_setup: MakeSetup) -> None:
    alone = list(all_of(feed_of(kind, data, make_setup, 0)))
    assert {"image", "image_view", "image_view2", "index", "cluster", "image_expert", "text_expert"} <= alone[0].keys()
    assert sum(name.startswith("text_view") for name in alone[0]) >= 1
    for one, other in zip(alone, all_of(feed_of(kind, data, make_setup, 3)), strict=True):
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) and one[name].dtype == other[name].dtype for name in one)


@pytest.mark.parametrize("workers", [0, 1, 4])
def test_a_feed_may_start_at_any_step(workers: int, data: dict[str, Split], make_setup: MakeSetup) -> None:
    whole = list(all_of(feed_of("lazy pictures", data, make_setup, 0)))
    late = list(all_of(feed_of("lazy pictures", data, make_setup, workers), start=2))
    assert len(late) == 4
    for one, other in zip(whole[4:], late, strict=True):
        assert all(torch.equal(one[name], other[name]) for name in one)


def test_asking_for_another_step_than_the_next_gives_that_step(data: dict[str, Split], make_setup: MakeSetup) -> None:
    whole = list(all_of(feed_of("pictures", data, make_setup, 0)))
    feed = feed_of("pictures", data, make_setup, 1)
    for number in (0, 1, 5, 2, 3, 7):
        assert torch.equal(flat(feed(*divmod(number, 2)))["image"], whole[number]["image"])
    feed.close()


def test_an_image_is_read_once_for_all_its_views(data: dict[str, Split], make_setup: MakeSetup) -> None:
    opened: list[int] = []

    def open_(i: int) -> Image.Image:
        opened.append(i)
        return Image.new("RGB", (32, 32))

    lazy = LazyImages(N, 32, open_, str).as_array()
    split = replace(data["lazy pictures"], images=lazy)
    inputs = feed_of("lazy pictures", {"lazy pictures": split}, make_setup, 0)(0, 0)
    assert {"image", "image_view", "image_view2"} <= inputs.pixels.keys()
    assert len(opened) == 8


def test_without_paraphrases_a_method_with_text_views_is_refused(data: dict[str, Split], make_setup: MakeSetup) -> None:
    silent = {"lazy pictures": replace(data["lazy pictures"], paraphrases=())}
    with pytest.raises(UsageError, match="split train has no paraphrases, which a method with text views needs"):
        feed_of("lazy pictures", silent, make_setup, 0)(0, 0)


def test_a_training_is_the_same_for_any_number_of_workers(
    data: dict[str, Split], make_setup: MakeSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(workers: str) -> tuple[object, ...]:
        monkeypatch.setenv("BENCHSUITE_WORKERS", workers)
        made = train(of("lazy pictures", make_setup(batch=8)), create_method("temo"), data["lazy pictures"], 0)
        return made.curves, made.digests, [weights.tolist() for weights in made.encoder.parameters()]

    assert trained("0") == trained("3")


def test_a_window_gives_other_batches(data: dict[str, Split], make_setup: MakeSetup) -> None:
    digests = [
        train(of("pictures", setup), create_method("infonce"), data["pictures"], 0).digests
        for setup in (make_setup(batch=8, steps=1, window=window) for window in (None, 8))
    ]
    assert digests[0]["batches"] != digests[1]["batches"]


def test_without_workers_the_next_batch_is_made_before_a_step_ends(
    data: dict[str, Split], make_setup: MakeSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a GPU computes meanwhile."""
    made: list[int] = []
    by_then: list[int] = []
    read, norm = Feed._read, loop.gradient_norm

    def reading(feed: Feed, number: int) -> Rows:
        made.append(number)
        return read(feed, number)

    def before_the_step(engine: Any, stepped: bool) -> float:
        by_then.append(made[-1])
        return norm(engine, stepped)

    monkeypatch.setattr(Feed, "_read", reading)
    monkeypatch.setattr(loop, "gradient_norm", before_the_step)
    train(of("pictures", make_setup(batch=8, steps=4)), create_method("infonce"), data["pictures"], 0)
    assert made == [0, 1, 2, 3]
    assert by_then == [1, 2, 3, 3]


def test_numbers_come_in_order_though_workers_take_turns_at_being_slow() -> None:
    def slowly(number: int) -> int:
        time.sleep(0.05 * (number % 3 == 0))
        return number

    ahead = Ahead(slowly, 3, 20, 3)
    assert [next(ahead) for _ in range(17)] == list(range(3, 20))
    with pytest.raises(StopIteration):
        next(ahead)
    ahead.close()


@pytest.mark.parametrize("workers", [0, 2])
def test_what_goes_wrong_in_a_worker_is_the_same_error_here(workers: int) -> None:
    def fail(number: int) -> int:
        if number == 2:
            raise BadPicture("a.tar, 7: not an image that can be decoded.")
        return number

    ahead = Ahead(fail, 0, 9, workers)
    assert [next(ahead), next(ahead)] == [0, 1]
    with pytest.raises(BadPicture) as caught:
        next(ahead)
    assert str(caught.value) == "a.tar, 7: not an image that can be decoded."


@pytest.mark.slow
def test_a_worker_that_dies_ends_the_run_with_one_message() -> None:
    def die(number: int) -> int:
        if number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    ahead = Ahead(die, 0, 50, 2)
    time.sleep(1)  # it dies while this process is busy
    with pytest.raises(RunError, match=r"a worker that reads batches ended by itself .* --workers 0"):
        list(map(next, [ahead] * 50))
    ahead.close()


def test_sigterm_to_all_processes_leaves_the_workers_to_the_training_process() -> None:
    ahead = Ahead(lambda number: (number, os.getpid()), 0, 30, 1)
    worker = next(ahead)[1]
    assert worker != os.getpid()
    os.kill(worker, signal.SIGTERM)
    os.kill(worker, signal.SIGUSR1)
    assert [next(ahead) for _ in range(29)][-1] == (29, worker)
    ahead.close()
    assert not alive(worker)


def alive(process: int) -> bool:
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


READING = """
import os, time
from benchsuite.training.loading import Ahead
def make(number):
    os.write(1, f"{os.getpid()}\\n".encode())
    time.sleep(0.1)
    return number
ahead = Ahead(make, 0, 10**6, 3)
"""
"""A program whose three workers tell their numbers."""


@pytest.mark.slow
def test_workers_end_when_their_process_is_killed() -> None:
    code = f"{READING}\nwhile True: next(ahead)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found: set[int] = set()
        while len(found) < 3:
            found.add(int(process.stdout.readline()))
        process.kill()
        process.communicate(timeout=60)  # returns when none is left that could write
    assert process.pid not in found


@pytest.mark.slow
def test_an_error_in_the_training_process_ends_its_workers_at_once() -> None:
    code = f"{READING}\nnext(ahead)\nraise SystemExit(7)"
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 7, done.stderr
    assert time.monotonic() - started < loading.GRACE_SECONDS / 2
    assert not any(alive(int(line)) for line in done.stdout.split())


def test_arrays_need_no_workers_and_decoded_pictures_one_for_two_threads(
    data: dict[str, Split], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 6)
    monkeypatch.delenv("BENCHSUITE_WORKERS", raising=False)
    assert {kind: loading.workers_for(split) for kind, split in data.items()} == {
        "lazy pictures": 3,
        "pictures": 0,
        "clips": 0,
        "vectors": 0,
    }
    monkeypatch.setenv("BENCHSUITE_WORKERS", "5")
    assert loading.workers_for(data["vectors"]) == 5
    monkeypatch.setenv("BENCHSUITE_WORKERS", "many")
    with pytest.raises(UsageError, match='BENCHSUITE_WORKERS="many": it must be a number'):
        loading.workers_for(data["vectors"])


@only_linux
@pytest.mark.parametrize("options", ["size=1m", "size=1m,ro"])
def test_without_room_in_shared_memory_it_is_named_with_what_to_do(options: str) -> None:
    """Containers have 64 MiB of it, or none. A batch that did not fit was lost, and its reader waited forever."""

    def work() -> str:
        mount(loading.SHARED, options)
        with pytest.raises(RunError) as caught:
            next(Ahead(lambda number: {"pixels": torch.zeros(2**20)}, 0, 9, 2))
        return str(caught.value)

    told = in_a_copy(work)
    assert told.startswith("/dev/shm, shared memory through which batches pass, has ")
    assert told.endswith("(of a container: --shm-size), or read without other processes: --workers 0.")
    assert "\n" not in told
