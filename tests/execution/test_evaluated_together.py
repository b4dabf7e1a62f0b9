"""Processes of one training share the encoding of what is evaluated, and all have the first one's scores."""

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from support.forked import in_processes

from benchsuite.data import create_dataset
from benchsuite.data.pixels import rendering
from benchsuite.execution.evaluate import evaluate
from benchsuite.models.dual_encoder import seeded_encoder
from benchsuite.models.sides import TrainedSides
from benchsuite.models.vectors import text_reader
from benchsuite.planning.recipe import read_recipe
from benchsuite.setup import Protocol

pytestmark = pytest.mark.slow
PROTOCOLS = {
    "retrieval": Protocol(task="retrieval", version=1),
    "zero-shot": Protocol(task="zero-shot", version=1, options={"classes": "concept", "templates": "prompts-7"}),
}


class Counted(TrainedSides):
    """Counts what this process encodes."""

    rows = 0

    def pictures(self, pictures: Any, features: bool = False) -> Any:
        self.rows += len(pictures)
        return super().pictures(pictures, features)

    def texts(self, texts: Any, features: bool = False) -> Any:
        self.rows += len(texts)
        return super().texts(texts, features)


def evaluated(number: int = 0) -> dict[str, Any]:
    """Scores of an encoder whose running statistics are those of the rows of a process."""
    setup = read_recipe("latents-pairs").setup("RN50")
    setup = setup.model_copy(update={"projection": setup.projection.model_copy(update={"hidden": 16})})
    dataset = create_dataset("latents", train=600, validation=8, test=700, galleries=8)
    split = dataset.split("train")
    words = text_reader(setup, split)
    encoder = seeded_encoder(setup, words.size if words else 0, 0, image_inputs=split.images.shape[-1]).train()
    encoder.image(rendering(split.images[300 * number : 300 * number + 300], 0))
    sides = Counted(encoder, words, setup.image)
    scores = evaluate(sides, PROTOCOLS, dataset)
    return {"rows": sides.rows, **{f"{name}.{key}": v for name, s in scores.items() for key, v in s.metrics.items()}}


def process(number: int, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=number, world_size=2)
    torch.save(evaluated(number), f"{folder}/{number}.pt")
    dist.destroy_process_group()


def test_two_processes_encode_half_each_and_have_the_scores_of_the_first(tmp_path: Path) -> None:
    in_processes(process, args=(str(tmp_path),), nprocs=2)
    first, second = (torch.load(tmp_path / f"{number}.pt") for number in range(2))
    alone, other = evaluated(0), evaluated(1)
    rows = [found.pop("rows") for found in (first, second, alone, other)]
    assert first == second == alone != other
    assert rows[0] + rows[1] == rows[2]
    assert min(rows[:2]) > rows[2] / 3
