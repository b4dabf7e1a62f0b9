"""How long a data set of any size takes to plan and to start, at the first visit and later, and in how much memory.

Makes a table of paths, or tar files, whose pictures repeat: few bytes, but as many rows as asked for. Each visit is a
process of its own: it resolves the setup, checks what `repro` checks before the first step, and makes the first batch.
Of vectors it prepares two experts of 768 numbers and 200 clusters, in processor seconds: other work may run beside it.

    python benchmarks/at_size.py [--kind table|tars|vectors] [--pairs 10000000] [--folder FOLDER] [--without-clusters]
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from itertools import islice
from pathlib import Path

PICTURES = 1000
"""Different ones, 1 KB each."""
SHARD = 10_000
"""Pairs of a tar file; all tar files are links to this many different ones."""
SHARDS = 4
VECTORS = "train.npy"
WIDTH, GROUPS = 768, 400
"""Of vectors, and how many groups of unequal sizes they come from."""


def write(folder: Path, kind: str, pairs: int) -> None:
    """The data set, unless it is there."""
    if (folder / "train").is_dir() or (folder / "train.tsv").is_file() or (folder / VECTORS).is_file():
        return
    if kind == "vectors":
        write_vectors(folder / VECTORS, pairs)
        return
    pictures = [jpeg(i) for i in range(PICTURES)]
    if kind == "table":
        (folder / "images").mkdir(parents=True)
        for i, content in enumerate(pictures):
            (folder / "images" / f"{i:04}.jpg").write_bytes(content)
        with (folder / "train.tsv").open("w") as table:
            table.write("filepath\ttitle\n")
            table.writelines(f"{i % PICTURES:04}.jpg\t{caption(i)}\n" for i in range(pairs))
        return
    (folder / "train").mkdir(parents=True)
    for number in range(-(-pairs // SHARD)):
        place = folder / "train" / f"{number:05}.tar"
        size = min(SHARD, pairs - number * SHARD)
        if number >= SHARDS and size == SHARD:
            place.hardlink_to(folder / "train" / f"{number % SHARDS:05}.tar")
            continue
        with tarfile.open(place, "w") as tar:
            for i in range(number * SHARD, number * SHARD + size):
                for ending, content in (("jpg", pictures[i % PICTURES]), ("txt", caption(i).encode())):
                    member = tarfile.TarInfo(f"{i:09}.{ending}")
                    member.size = len(content)
                    tar.addfile(member, io.BytesIO(content))


def write_vectors(file: Path, pairs: int) -> None:
    """Vectors around the centres of their groups, in one file."""
    import numpy as np

    file.parent.mkdir(parents=True)
    random = np.random.default_rng(0)
    centres, shares = random.standard_normal((GROUPS, WIDTH), np.float32), random.dirichlet(np.ones(GROUPS))
    rows = np.lib.format.open_memmap(file, "w+", np.float32, (pairs, WIDTH))
    for start in range(0, pairs, SHARD):
        group = random.choice(GROUPS, min(SHARD, pairs - start), p=shares)
        noise = random.standard_normal((len(group), WIDTH), np.float32)
        rows[start : start + len(group)] = centres[group] + 1.5 * noise


def caption(i: int) -> str:
    """Of pair i. As in real captions, there are many texts and few words."""
    return f"a photo of thing {i % 977} beside thing {i % 1009}, taken in place {i % 991}"


def jpeg(i: int) -> bytes:
    """A picture's file."""
    import numpy as np
    from PIL import Image

    picture = np.random.default_rng(i).integers(0, 256, (4, 4, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(picture).resize((64, 48)).save(stream, "JPEG")
    return stream.getvalue()


def visit(folder: Path, vocabulary_of: int | None) -> dict[str, float]:
    """Plan, check and make the first batch; seconds of each and memory after all."""
    import numpy as np
    import torch

    from benchsuite.data.base import Split
    from benchsuite.data.batches import BatchPlan
    from benchsuite.data.prepared import Prepared
    from benchsuite.execution.evaluate import opened
    from benchsuite.execution.preflight import preflight
    from benchsuite.methods import create_method
    from benchsuite.models.vectors import text_reader
    from benchsuite.planning.plan import Run, resolve_method, resolve_setup
    from benchsuite.planning.recipe import read_recipe
    from benchsuite.records.schema import run_id
    from benchsuite.setup import Data, Protocol
    from benchsuite.training.feed import Feed

    seconds = {}
    begin = time.perf_counter()
    recipe = read_recipe("cifar10-smoke")
    changes = {
        "clusters": None,
        "data": Data(name="cc12m", options={"size": 32}),
        "training": recipe.training.model_copy(update={"batch": 64, "steps": 100}),
        "protocols": {"geometry": Protocol(task="geometry", options={"split": "train"})},
    }
    setup = resolve_setup(recipe.model_copy(update=changes), "RN50", {"cc12m": str(folder)})
    seconds["plan"] = time.perf_counter() - begin
    part = resolve_method("infonce", {}, 1.0)
    ids = run_id(setup.setup_id, part.method_id, 0)
    run = Run(run_id=ids, setup=setup, method=part, seed=0, label="at size", estimate=0.0)
    begin = time.perf_counter()
    checked = preflight([run], folder)
    assert not [problem for problem in checked.problems if "--results" not in str(problem)], checked.problems
    seconds["check"] = time.perf_counter() - begin
    begin = time.perf_counter()
    split = opened(setup.data).split("train")
    plan = BatchPlan(split, 64, setup.augmentation, 0)
    plan.digest()
    seconds["order"] = time.perf_counter() - begin
    begin = time.perf_counter()
    few = min(vocabulary_of or len(split), len(split))
    part = Split("train", np.empty((few, 0, 0, 3), np.uint8), list(islice(split.captions, few)))
    words = text_reader(setup, part if few < len(split) else split)
    seconds["tokenizer"] = time.perf_counter() - begin
    begin = time.perf_counter()
    feed = Feed(setup, plan, words, create_method("infonce").needs, Prepared(), torch.device("cpu"), 1)
    for step in range(10):
        feed(step, 0)
    feed.close()
    seconds["first batches"] = time.perf_counter() - begin
    return {"pairs": len(split), **seconds, **memory()}


def visit_vectors(folder: Path, with_clusters: bool) -> dict[str, float]:
    """Prepare experts and clusters, and digest them."""
    import numpy as np

    from benchsuite.data.base import Split
    from benchsuite.data.prepared import prepare
    from benchsuite.data.vectors import Rows, VectorImages, VectorLists
    from benchsuite.setup import Clusters, Data, Expert, Experts, Optimizer, Protocol, Setup, Training
    from benchsuite.tower_settings import ImageTower

    rows = Rows([np.load(folder / VECTORS, mmap_mode="r")], False, str(folder))
    at = np.arange(len(rows))
    split = Split("train", VectorImages(rows, at), VectorLists(rows, at, np.ones(len(rows), np.int64)))
    given = Expert(embedding="given")
    setup = Setup(
        data=Data(name="features", digest=str(len(rows))),
        image=ImageTower(timm="test_vit"),
        projection={"width": 8},
        optimizer=Optimizer(lr=0.1),
        training=Training(batch=2, steps=1),
        protocols={"geometry": Protocol(task="geometry")},
        experts=Experts(image=given, text=given),
        clusters=Clusters(embedding="given"),
    )
    seconds, parts = {}, ("image_expert", "text_expert", *(["cluster"] if with_clusters else []))
    for part in parts:
        begin = time.process_time()
        prepare(setup, split, {part})
        seconds[part] = time.process_time() - begin
    begin = time.process_time()
    prepare(setup, split, set(parts)).digests()
    return {"pairs": len(rows), **seconds, "digests": time.process_time() - begin, **memory()}


def memory() -> dict[str, float]:
    """Of this process, at the end and at most; what is only mapped is not its own."""
    status = Path("/proc/self/status").read_text()
    named = {"MiB of its own": "RssAnon", "peak MiB with files": "VmHWM"}
    return {name: int(re.search(rf"{key}:\s+(\d+)", status)[1]) / 1024 for name, key in named.items()}


def main() -> None:
    """Write the data and visit it twice."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", choices=("table", "tars", "vectors"), default="table")
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--vocabulary-of", type=int, help="train the tokenizer on the first so many captions alone")
    parser.add_argument("--without-clusters", action="store_true", help="of vectors: K-means takes longest")
    parser.add_argument("--visit", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.visit:
        if (given.visit / VECTORS).is_file():
            print(json.dumps(visit_vectors(given.visit, not given.without_clusters)))
        else:
            print(json.dumps(visit(given.visit, given.vocabulary_of)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary) / "data"
        write(folder, given.kind, given.pairs)
        environment = {**os.environ, "BENCHSUITE_CACHE": str(folder / ".cache")}
        for name in ("first visit", "second visit"):
            command = [sys.executable, __file__, "--visit", str(folder)]
            command += ["--vocabulary-of", str(given.vocabulary_of)] if given.vocabulary_of else []
            command += ["--without-clusters"] if given.without_clusters else []
            seen = json.loads(subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout)
            print(f"{name}: " + ", ".join(f"{key} {value:,.1f}" for key, value in seen.items()), flush=True)


if __name__ == "__main__":
    main()
