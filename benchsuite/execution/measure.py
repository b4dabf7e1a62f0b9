"""One run: train, evaluate, and seal the record."""

import math
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from benchsuite.data.base import PairDataset, Split
from benchsuite.data.prepared import Prepared, prepare
from benchsuite.errors import DivergedError, RunError
from benchsuite.evaluation.base import Scores
from benchsuite.evaluation.rank_metrics import counted
from benchsuite.execution.evaluate import evaluate, opened, probe, results_of
from benchsuite.methods import create_method, described_method
from benchsuite.methods.base import Method
from benchsuite.models.saved import save_towers
from benchsuite.models.sides import TrainedSides
from benchsuite.planning.plan import Run
from benchsuite.planning.recipe import recipe_name
from benchsuite.records.checkpoints import EVERY, Every
from benchsuite.records.environment import environment
from benchsuite.records.names import WEIGHTS_FILE, stem
from benchsuite.records.ranks import NEAREST, pack_ranks
from benchsuite.records.schema import MethodPart, Record, Sidecar
from benchsuite.setup import Setup
from benchsuite.streams import derived_seed
from benchsuite.training.checkpoint import Checkpoints
from benchsuite.training.distributed import rank, world_size
from benchsuite.training.engine import device
from benchsuite.training.loop import Trained, train
from benchsuite.training.needs import reads_paraphrases
from benchsuite.training.tracking import tracking

TRAIN = "train"
SHOWN = 0
"""The seed whose single queries pages show: other runs keep their ranks alone, not what was nearest."""


class Measured(NamedTuple):
    """What a run leaves: its record, and the bytes of its ranks file."""

    record: Record
    ranks: bytes


def measure(run: Run, folder: Path | None = None) -> Measured:
    """Do the run in this process alone, unwatched."""
    measured = take_part(run, lambda step: None, folder, lambda text: None, EVERY)
    assert measured is not None, "the first process measures"
    return measured


def take_part(
    run: Run, watch: Callable[[int], None], folder: Path | None, note: Callable[[str], None], every: Every | None
) -> Measured | None:
    """Do the run together with the other processes of the group, if any. The first one seals; others have None.

    `folder` is the run's own while it lasts, the same for all processes: its checkpoints are there, written at `every`
    so many minutes or steps, or never. `watch` hears of the steps of this process, `note` of what a user should know
    about the run. Raises `Interrupted` if the process is asked to stop during the training.
    """
    dataset = opened(run.setup.data)
    split = dataset.split(TRAIN)
    prepared = prepare(run.setup, split, described_method(run.method.name, **run.method.hyperparameters).needs)
    options = run.method.hyperparameters | sizes_from(prepared, run.method)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived_seed(run.seed, "method"))
        method = create_method(run.method.name, num_samples=len(split), width=run.setup.projection.width, **options)
    read = read_paraphrases(run.setup, method, dataset)
    own = trained_under(run.setup, run.method)
    checkpoints = Checkpoints(folder, run.run_id, every, note) if folder and every else None
    about = {"method": run.method.name, **run.method.hyperparameters, "seed": run.seed}
    with tracking(run.label, run.run_id, about):
        trained = train(own, method, split, run.seed, watch, prepared, partial(probe, run.setup, dataset), checkpoints)
    if not all(torch.isfinite(weights).all() for weights in trained.encoder.parameters()):
        raise DivergedError(f"{method.card.name}: after the last step, weights are not finite.")
    started = time.perf_counter()
    sides = TrainedSides(trained.encoder, trained.words, run.setup.image)
    scores = evaluate(sides, run.setup.protocols, dataset)
    trained.cost["evaluation_seconds"] = round(time.perf_counter() - started, 3)
    if rank() > 0:
        return None
    carry_scale(trained.encoder, method)
    weights = kept_weights(run, trained, split, folder) if run.keep_weights else None
    digests = {**prepared.digests(), **read, "data": dataset.manifest().digest}
    return sealed(run, trained, scores, dataset, digests, weights)


def sealed(
    run: Run,
    trained: Trained,
    scores: dict[str, Scores],
    dataset: PairDataset,
    digests: dict[str, str],
    weights: Sidecar | None,
) -> Measured:
    """The record of a finished training and of its scores, and the ranks that these follow from."""
    results = results_of(run.setup.protocols, scores, dataset)
    of_numbers = dataset.only_counted
    ranks = (
        (f"{protocol}.{name}", each)
        for protocol, found in scores.items()
        for name, each in (counted(results[protocol].task, found.ranks) if of_numbers else found.ranks).items()
        if run.seed == SHOWN or not name.endswith(NEAREST)
    )
    tuning = {"tuning_trials": run.tuned.trials} if run.tuned else {}
    content, sidecar = pack_ranks(stem(run.method.name, run.seed, run.run_id), ranks)
    record = Record.seal(
        seed=run.seed,
        method=run.method,
        setup=run.setup,
        results=results,
        curves={
            name: [eight_digits(value) if math.isfinite(value) else None for value in values]
            for name, values in trained.curves.items()
        },
        cost={**trained.cost, **tuning},
        digests={**trained.digests, **digests},
        environment=environment(str(device()), torch.get_num_threads(), world_size()),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        ranks=sidecar,
        recipe=recipe_name(run.recipe),
        tuned=run.tuned,
        also_tuned=run.also_tuned,
        resumptions=trained.resumptions,
        weights=weights,
    )
    return Measured(record, content)


def eight_digits(value: float) -> float:
    """As many as single precision has."""
    return float(f"{value:.8g}")


def kept_weights(run: Run, trained: Trained, split: Split, folder: Path | None) -> Sidecar:
    """Write the trained towers to the run's folder, from where the store moves them; the record's entry for them."""
    assert folder is not None, "weights are written to the run's own folder"
    shape = split.images.shape[2:] if split.is_vectors else split.images.shape[1:]
    pictures = tuple(map(int, shape)) if run.setup.image else ()
    sha = save_towers(folder / WEIGHTS_FILE, trained.encoder, trained.words, pictures, run.run_id)
    return Sidecar(file=f"{stem(run.method.name, run.seed, run.run_id)}.{sha[:8]}.safetensors", sha256=sha)


@torch.no_grad()
def carry_scale(encoder: nn.Module, method: Method) -> None:
    """Give a pretrained model's own logit scale and bias the values that the method learned in their place, if it has
    one learned temperature, or is SigLIP; how another method's parameters are to be read is not known.
    """
    own = dict(method.named_parameters(recurse=False))
    tau = None if "temperature" in own else getattr(method, "temperature", None)
    learned = {"logit_scale": -tau.log() if isinstance(tau, Tensor) else own.get("log_scale")}
    learned["logit_bias"] = own.get("shift")
    for name, parameter in encoder.named_parameters():
        if (value := learned.get(name.rpartition(".")[2])) is not None:
            parameter.fill_(value)


def trained_under(setup: Setup, method: MethodPart) -> Setup:
    """The setup with the row's own learning rate and length; the record keeps the one that all rows share."""
    peak = method.learning_rate or setup.optimizer.lr
    final = setup.schedule.final_lr * (peak / setup.optimizer.lr)
    return setup.model_copy(
        update={
            "optimizer": setup.optimizer.model_copy(update={"lr": peak}),
            "schedule": setup.schedule.model_copy(update={"final_lr": final}),
            "training": setup.training.model_copy(update={"steps": round(setup.training.steps * method.longer)}),
        }
    )


def read_paraphrases(setup: Setup, method: Method, dataset: PairDataset) -> dict[str, str]:
    """The digest of paraphrases that the run reads, if they have one; refused if they changed since the plan."""
    digest = dataset.manifest().paraphrases
    if not (digest and reads_paraphrases(method.needs, setup)):
        return {}
    if digest != setup.data.paraphrases:
        raise RunError(f"{setup.data.name}: the paraphrases have changed since the run was planned; plan it again.")
    return {"paraphrases": digest}


def sizes_from(prepared: Prepared, method: MethodPart) -> dict[str, Any]:
    """Cluster sizes, for a method that takes them and was not given any: the setup's clusters decide."""
    given = method.hyperparameters.get("cluster_sizes", ...)
    return {"cluster_sizes": prepared.cluster_sizes} if not given and prepared.cluster_sizes else {}
