"""Pictures a second from tar files beside open_clip's own loader, as ratios of what runs in turn in one process.

Needs open-clip-torch (with open_clip_train) and webdataset.

    python benchmarks/loading.py [--workers 0 1 2] [--pairs 2000] [--batch 64]
"""

import argparse
import io
import logging
import tarfile
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import torch
from PIL import Image

from benchsuite.data import create_dataset
from benchsuite.data.base import Split
from benchsuite.data.batches import BatchPlan
from benchsuite.data.prepared import Prepared
from benchsuite.methods import create_method
from benchsuite.models.vectors import text_reader
from benchsuite.planning.plan import resolve_setup
from benchsuite.planning.recipe import read_recipe
from benchsuite.setup import Data, Protocol, Setup
from benchsuite.torchvision_ops import make_importable
from benchsuite.training.feed import Feed
from benchsuite.training.loading import Ahead

SHARD = 250
REPEATS = 2
CPU = torch.device("cpu")


def jpeg(width: int, height: int, seed: int = 0) -> bytes:
    """A picture's file: smooth shapes with a little noise, quality 90."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (max(1, height // 8), max(1, width // 8), 3), np.uint8))
    smooth = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC), np.int64)
    noisy = np.clip(smooth + rng.integers(-8, 9, (height, width, 3)), 0, 255).astype(np.uint8)
    stream = io.BytesIO()
    Image.fromarray(noisy).save(stream, "JPEG", quality=90)
    return stream.getvalue()


def write(folder: Path, pairs: int) -> None:
    """Tar files of pictures of 500 x 375 with captions."""
    (folder / "train").mkdir(parents=True)
    pictures = [jpeg(500, 375, seed) for seed in range(16)]
    for number in range(-(-pairs // SHARD)):
        with tarfile.open(folder / "train" / f"{number:05}.tar", "w") as tar:
            for i in range(number * SHARD, min(pairs, (number + 1) * SHARD)):
                caption = f"a photo of thing {i % 97} beside thing {i % 89}".encode()
                for ending, content in (("jpg", pictures[i % 16]), ("txt", caption)):
                    member = tarfile.TarInfo(f"{i:09}.{ending}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))


def setup_for(folder: Path, batch: int, steps: int, side: int) -> Setup:
    """Any setup for this data; its towers are small."""
    recipe = read_recipe("scenes-smoke")
    changes = {
        "data": Data(name="cc3m", options={"size": side}),
        "training": recipe.training.model_copy(update={"batch": batch, "steps": steps}),
        "protocols": {"geometry": Protocol(task="geometry", options={"split": "train"})},
        "clusters": None,
        "experts": None,
    }
    planned = recipe.model_copy(update=changes)
    return resolve_setup(planned, next(iter(recipe.backbones)), {"cc3m": str(folder)})


def ours(setup: Setup, split: Split, workers: int) -> Iterator[int]:
    """The number of pairs of each batch as a step gets it: decoded, augmented, normalised, in words' ids."""
    plan, needs = BatchPlan(split, setup.training.batch, setup.augmentation, 0), create_method("infonce").needs
    with closing(Feed(setup, plan, text_reader(setup, split), needs, Prepared(), workers=workers)) as feed:
        for step in range(setup.training.steps):
            yield len(feed(step, 0).pixels["image"])


def read(setup: Setup, split: Split, workers: int) -> Iterator[int]:
    """The part of it that workers do; the rest is arithmetic, on a GPU where there is one."""
    plan, needs = BatchPlan(split, setup.training.batch, setup.augmentation, 0), create_method("infonce").needs
    feed = Feed(setup, plan, text_reader(setup, split), needs, Prepared(), CPU, 0)
    ahead = Ahead(feed._read, 0, setup.training.steps, workers)
    while ahead.more:
        yield len(next(ahead).extra["index"])
    ahead.close()


def open_clips(folder: Path, batch: int, pairs: int, workers: int, side: int) -> Iterator[int]:
    """The same of open_clip's loader with its own training transform and tokenizer."""
    make_importable()
    from open_clip import get_tokenizer
    from open_clip.transform import image_transform
    from open_clip_train import data
    from webdataset.tariterators import tar_file_expander

    # webdataset 1 marks the end of each tar file, which this release of open_clip takes for a member
    data.tar_file_expander = partial(tar_file_expander, eof_value=None)
    shards = sorted((folder / "train").glob("*.tar"))
    given = Namespace(
        train_data=f"{folder}/train/{{{shards[0].stem}..{shards[-1].stem}}}.tar",
        train_num_samples=pairs,
        train_data_upsampling_factors=None,
        dataset_resampled=False,
        seed=0,
        workers=workers,
        world_size=1,
        batch_size=batch,
    )
    loader = data.get_wds_dataset(
        given, image_transform(side, True), True, tokenizer=get_tokenizer("ViT-B-32")
    ).dataloader
    for images, _ in loader:
        yield len(images)


def rate(batches: Iterator[int]) -> float:
    """Pairs a second after the first batch, by which workers have started."""
    next(batches)
    begin, pairs = time.perf_counter(), sum(batches)
    return pairs / (time.perf_counter() - begin)


def in_turn(ways: dict[str, Callable[[], float]]) -> dict[str, float]:
    """The median of each way; the ways take turns."""
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(REPEATS):
        for name, way in ways.items():
            seen[name].append(way())
    return {name: median(values) for name, values in seen.items()}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--side", type=int, default=224)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder, given.pairs)
        split = create_dataset("cc3m", folder=str(folder), size=given.side).split("train")
        setup = setup_for(folder, given.batch, given.pairs // given.batch, given.side)
        print(f"pairs a second from tar files, pictures of 500 x 375 to {given.side} x {given.side}")
        for n in given.workers:
            found = in_turn(
                {
                    "benchsuite": lambda n=n: rate(ours(setup, split, n)),
                    "read": lambda n=n: rate(read(setup, split, n)),
                    "open_clip": lambda n=n: rate(open_clips(folder, given.batch, given.pairs, n, given.side)),
                }
            )
            print(
                f"  {n} workers: open_clip {found['open_clip']:.0f}; benchsuite {found['benchsuite']:.0f} "
                f"(x{found['benchsuite'] / found['open_clip']:.2f}), without augmentation {found['read']:.0f} "
                f"(x{found['read'] / found['open_clip']:.2f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
