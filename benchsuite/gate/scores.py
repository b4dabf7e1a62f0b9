"""What one method scores on embedded data beside the reference, kept in a file and measured again later."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from statistics import fmean, stdev
from typing import Annotated, Any, Literal

import torch
from pydantic import Field, FiniteFloat, ValidationError

from benchsuite.analysis.stats import half_width
from benchsuite.errors import UsageError
from benchsuite.execution.measure import measure
from benchsuite.fields import first_problem
from benchsuite.files import read_stored, reason_of
from benchsuite.gate.regress import Check, Kind
from benchsuite.parts import Part
from benchsuite.planning.columns import metrics_of
from benchsuite.planning.plan import plan_under
from benchsuite.planning.recipe import read_recipe
from benchsuite.registry import methods
from benchsuite.setup import REFERENCES, differences

RECIPE = "emoji-features-pairs"
"""Included real data on which a run takes seconds."""
REPLICATES = 3
ByReplicate = Annotated[list[FiniteFloat], Field(min_length=REPLICATES, max_length=REPLICATES)]


class Scores(Part):
    """The file: what methods score, the reference among them, on the same data, initial weights and batches."""

    file_format: Literal[1] = 1
    recipe: str
    """Name or file of the recipe."""
    setup: dict[str, Any]
    """That of replicate 0: what of it is not at its default, with the digest of the data."""
    smallest: dict[str, float]
    """By measure: the recipe's smallest difference of interest."""
    reference: str
    versions: dict[str, int]
    """By method."""
    scores: dict[str, dict[str, ByReplicate]]
    """By method, measure and replicate."""

    def differences(self, method: str, measure: str) -> list[float]:
        """The method's scores less the reference's, by replicate."""
        ours, theirs = self.scores[method][measure], self.scores[self.reference][measure]
        return [a - b for a, b in zip(ours, theirs, strict=True)]


def measured(
    names: Sequence[str], recipe_name: str, progress: Callable[[str], None], stored: Scores | None = None
) -> Scores:
    """The scores now, by the recipe's first retrieval protocol with a primary measure.

    Refused before any run, if those that are stored are of other methods or of another setup.
    """
    whole = read_recipe(recipe_name)
    asked = ((key, each.task) for key, each in whole.protocols.items() if key in whole.primary)
    known = [key for key, task in asked if "r_mean" in metrics_of(task)]
    if not known:
        raise UsageError(f"recipe {recipe_name} has no retrieval protocol with a primary measure, as {RECIPE} has.")
    protocol, primary = known[0], whole.primary[known[0]]
    recipe = whole.model_copy(update={"protocols": {protocol: whole.protocols[protocol]}})
    plan = partial(plan_under, recipe, backbone=next(iter(recipe.backbones)), hyperparameters={})
    planned = plan(names[0], seed=0).setup
    setup, reference = planned.model_dump(mode="json", exclude_defaults=True), REFERENCES[planned.towers]
    judged_by = {f"{protocol}.{metric}": primary.difference for metric in (primary.metric, "r_mean")}
    smallest = stored.smallest if stored else judged_by
    every = [*dict.fromkeys([*names, reference])]
    if stored and stored.scores.keys() != set(every):
        raise UsageError(f"scores are stored of {', '.join(stored.scores)}, and asked for of {', '.join(every)}.")
    if stored and (fields := differences({"setup": stored.setup}, {"setup": setup})):
        listed = "; ".join(f"{field} {a!r} against {b!r}" for field, (a, b) in fields.items())
        raise UsageError(f"the scores are of another setup, which differs in {listed}. Store them anew.")
    torch.set_num_threads(1)  # sums have the same order on any number of cores
    scores: dict[str, dict[str, list[float]]] = {}
    for name in every:
        records = []
        for replicate in range(REPLICATES):
            progress(f"{name}, replicate {replicate}")
            records.append(measure(plan(name, seed=replicate)).record)
            shares = records[-1].results[protocol].metrics
            if other := [score for score in smallest if score.rpartition(".")[2] not in shares]:
                raise UsageError(f"recipe {recipe_name}: {other[0]} is no share of which more is better, as R@k are.")
        scores[name] = {score: [record.values()[score] for record in records] for score in smallest}
    versions = {name: methods.card(name).version for name in every}
    return Scores(
        recipe=recipe_name, setup=setup, smallest=smallest, reference=reference, versions=versions, scores=scores
    )


def check_scores(stored: Scores, now: Scores) -> Iterator[Check]:
    """A score regressed if its mean difference to the reference fell below the interval of the stored differences.

    That is Student's 95 % interval over replicates, or the smallest difference of interest to either side where this is
    more. A method that is as good as before, measured on other replicates, regresses in at most 4.7 % of cases on each
    measure: the chance that t of 2 degrees of freedom is below -4.30 / sqrt(2). Here the replicates are the same, and
    so is part of their luck.
    """
    for name, (score, smallest) in product(stored.scores, stored.smallest.items()):
        if name == stored.reference:
            continue
        before, after = stored.differences(name, score), now.differences(name, score)
        allowed = max(half_width(stdev(before), len(before)), smallest)
        change = fmean(after) - fmean(before)
        kind: Kind = "regressed" if change < -allowed else "improved" if change > allowed else "unchanged"
        raised = [
            f"{each} is at version {now.versions[each]} and was at {stored.versions[each]}"
            for each in (name, stored.reference)
            if now.versions[each] != stored.versions[each]
        ]
        what = f"{score} less that of {stored.reference}" + f" ({', '.join(raised)})" * bool(raised)
        yield Check(name, what, kind, f"{fmean(before):+.4f}", f"{fmean(after):+.4f}", f"±{allowed:.4f}")


def read_scores(file: Path) -> Scores:
    """The stored scores."""
    try:
        return Scores.model_validate_json(read_stored(file))
    except OSError as error:
        raise UsageError(f"--against {file}: {reason_of(error)}. --store {file} writes it.") from error
    except ValidationError as error:
        raise UsageError(f"--against {file}: {first_problem(error)}.") from error
