"""Evaluate trained encoders by a setup's protocols, at the end and, where a protocol says so, during training."""

import json
from collections.abc import Mapping
from functools import cache, lru_cache

from benchsuite.data import PairDataset
from benchsuite.errors import RunError
from benchsuite.evaluation.base import Embedder, Scores, create_task
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.sides import Sides, TrainedSides
from benchsuite.models.tokenizer import Words
from benchsuite.planning.data_folders import open_dataset
from benchsuite.records.recompute import recompute
from benchsuite.records.schema import Result
from benchsuite.setup import Data, Protocol, Setup
from benchsuite.training.distributed import in_turns, take_buffers


def evaluate(sides: Sides, protocols: Mapping[str, Protocol], dataset: PairDataset) -> dict[str, Scores]:
    """These protocols, each on its own data if it has some. All processes of a training call it alike.

    They share the batches that are to be encoded; the scores are computed by each.
    """
    if isinstance(sides, TrainedSides):
        take_buffers(sides.encoder)
    # one for each dataset: images are cached by their split's name
    embedder = cache(lambda of: Embedder(sides, each=in_turns))
    scores = {}
    for name, protocol in protocols.items():
        evaluated = opened(protocol.data) if protocol.data else dataset
        scores[name] = create_task(protocol.task, **protocol.options).evaluate(embedder(evaluated), evaluated)
    return scores


def results_of(
    protocols: Mapping[str, Protocol], scores: Mapping[str, Scores], dataset: PairDataset
) -> dict[str, Result]:
    """The protocols' outcomes as records have them; refused if they do not follow from the ranks stored with them."""
    results = {}
    for name, protocol in protocols.items():
        evaluated = opened(protocol.data) if protocol.data else dataset
        results[name] = result_of(protocol, scores[name], evaluated.manifest().splits)
    require_agreement(protocols, results, scores)
    return results


def result_of(protocol: Protocol, scores: Scores, splits: Mapping[str, int]) -> Result:
    """A protocol's outcome, with the size of its split, if it names one, by the dataset's manifest."""
    assert protocol.version is not None
    return Result(
        task=protocol.task,
        version=protocol.version,
        metrics=dict(scores.metrics),
        counts=dict(scores.counts),
        measures=dict(scores.measures),
        split_size=splits.get(protocol.options.get("split", "")),
    )


def require_agreement(
    protocols: Mapping[str, Protocol], results: Mapping[str, Result], scores: Mapping[str, Scores]
) -> None:
    """Stop a run whose numbers do not follow from the ranks that would be stored with them."""
    for name, result in results.items():
        done = recompute(result, scores[name].ranks, protocols[name].options, RULES)
        if done.differs:
            raise RunError(f"{name}, {result.task}: {done.differs[0]}. Nothing is stored: the task contradicts itself.")


def probe(
    setup: Setup, dataset: PairDataset, done: int, last: int, encoder: DualEncoder, words: Words | None
) -> dict[str, float]:
    """During a training, protocols with `every` at the first point of the curves once that many steps have passed:
    metrics and measures after `done` steps, by "protocol.metric"; empty if no protocol is due.

    `last`: the steps of the call before. There is no state: a training that was stopped goes on as it would have.
    """
    protocols = setup.protocols.items()
    due = {name: protocol for name, protocol in protocols if (n := protocol.every) and done // n > last // n}
    scores = evaluate(TrainedSides(encoder, words, setup.image), due, dataset) if due else {}
    return {f"{name}.{key}": value for name, s in scores.items() for key, value in {**s.metrics, **s.measures}.items()}


def opened(data: Data) -> PairDataset:
    """The dataset, kept open between runs; refused if it is not what was planned with."""
    dataset = _opened(data.place)
    if dataset.manifest().digest != data.digest:
        raise RunError(f"{data.name}: the data has changed since the run was planned; plan it again.")
    return dataset


@lru_cache(maxsize=8)
def _opened(place: str) -> PairDataset:
    data, folder, apart, _ = json.loads(place)
    return open_dataset(Data.model_validate({**data, "folder": folder, "apart": apart}))
