"""Evaluate trained encoders by a setup's protocols, at the end and, where a protocol says so, during training."""

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from benchsuite.data import PairDataset
from benchsuite.errors import RunError
from benchsuite.evaluation.base import Embedder, Scores, create_task
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.models.dual_encoder import DualEncoder
from benchsuite.models.tokenizer import Words
from benchsuite.planning.data_folders import open_dataset
from benchsuite.records.recompute import recompute
from benchsuite.records.schema import Result
from benchsuite.setup import Data, Protocol, Setup


def evaluate(
    encoder: DualEncoder,
    words: Words | None,
    setup: Setup,
    dataset: PairDataset,
    protocols: dict[str, Protocol] | None = None,
) -> dict[str, Scores]:
    """These protocols, the setup's if none are named, each on its own data if it has some."""

    def dataset_of(protocol: Protocol) -> PairDataset:
        return opened(protocol.data) if protocol.data else dataset

    chosen = setup.protocols if protocols is None else protocols
    return evaluate_with(lambda: Embedder(encoder, words, setup.image), chosen, dataset_of)


def evaluate_with(
    make: Callable[[], Embedder], protocols: Mapping[str, Protocol], dataset_of: Callable[[Protocol], PairDataset]
) -> dict[str, Scores]:
    """These protocols, each on its data, by embedders that are made for each dataset."""

    @cache
    def embedder(of: PairDataset) -> Embedder:  # one for each dataset: images are cached by their split's name
        return make()

    scores = {}
    for name, protocol in protocols.items():
        evaluated = dataset_of(protocol)
        scores[name] = create_task(protocol.task, **protocol.options).evaluate(embedder(evaluated), evaluated)
    return scores


def result_of(protocol: Protocol, scores: Scores, items: int | None) -> Result:
    """A protocol's outcome, as records have it."""
    assert protocol.version is not None
    return Result(
        task=protocol.task,
        version=protocol.version,
        metrics=dict(scores.metrics),
        counts=dict(scores.counts),
        measures=dict(scores.measures),
        split_size=items,
    )


def split_size(protocol: Protocol, dataset: PairDataset) -> int | None:
    """How many items the evaluated split has by its dataset's manifest; none for a protocol without a split."""
    evaluated = opened(protocol.data) if protocol.data else dataset
    return evaluated.manifest().splits.get(protocol.options.get("split", ""))


def require_agreement(
    protocols: Mapping[str, Protocol], results: Mapping[str, Result], scores: Mapping[str, Scores]
) -> None:
    """Stop a run whose numbers do not follow from the ranks that would be stored with them."""
    for name, result in results.items():
        done = recompute(result, scores[name].ranks, protocols[name].options, RULES)
        if done.differs:
            raise RunError(f"{name}, {result.task}: {done.differs[0]}. Nothing is stored: the task contradicts itself.")


class Probe:
    """Evaluates protocols with `every` during the training: at the first point of the curves once that many steps
    have passed.
    """

    def __init__(self, setup: Setup, dataset: PairDataset) -> None:
        self._setup, self._dataset = setup, dataset

    def __call__(self, done: int, last: int, encoder: DualEncoder, words: Words | None) -> dict[str, float]:
        """Metrics and measures after this many steps, by "protocol.metric"; empty if no protocol is due.

        `last`: the steps of the call before. There is no state: a training that was stopped goes on as it would have.
        """
        protocols = self._setup.protocols.items()
        due = {name: protocol for name, protocol in protocols if (n := protocol.every) and done // n > last // n}
        scores = evaluate(encoder, words, self._setup, self._dataset, due) if due else {}
        return {
            f"{name}.{key}": value for name, s in scores.items() for key, value in {**s.metrics, **s.measures}.items()
        }


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
