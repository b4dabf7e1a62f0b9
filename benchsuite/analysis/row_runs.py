"""Which stored runs are those of a table's row. It follows from their content, and from nothing that lists them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from benchsuite.canonical import alike, canonical
from benchsuite.grouping import by_key
from benchsuite.papers import Row, Table
from benchsuite.papers.schema import TablePart
from benchsuite.planning.recipe import Recipe
from benchsuite.planning.rows import own_part
from benchsuite.planning.search_space import complete, fixed_by, is_temperature, space
from benchsuite.records.contents import Done
from benchsuite.records.method_version import version_state
from benchsuite.records.requests import TableRequest
from benchsuite.records.schema import FIRST_SEED, MethodPart, TunedBy
from benchsuite.registry import Registry, datasets, methods, tasks
from benchsuite.setup import FOLDER, Data, Setup
from benchsuite.tower_settings import MODEL

D = TypeVar("D", bound=Done)
Kind = tuple[str | None, str, float, int]
"""What is compared first: the method, its data, how much longer it trains, and the trials of its search."""


def kind_of(run: Done) -> Kind:
    """That of a run, as `RowRuns.kind` has it."""
    return run.method.name, run.setup.data.name, run.method.longer, run.tuned.trials if run.tuned else 0


@dataclass(frozen=True)
class RowRuns:
    """What the runs of a row for a part of the table must be."""

    table: Table
    asked: TableRequest
    recipe: Recipe
    row: Row
    part: TablePart
    longer: float = 1.0
    _setups: dict[str, Setup | None] = field(default_factory=dict)
    """By setup_id: the setup as the recipe gives it, if it is that. Rows of the same towers may share it."""

    def among(self, done: Iterable[D]) -> dict[int, list[D]]:
        """Runs of its kind, once for each search: by replicate, the current version's and then the last one first."""
        found: dict[int, list[D]] = {}
        for own in by_key((run.run_id, run) for run in done if self._is(run)).values():
            # of a method that is not known here, what was searched is not compared: the widest search counts
            widest = max(own, key=lambda each: len(each.tuned.searched) if each.tuned else 0)
            found.setdefault(widest.seed, []).append(widest)
        for runs in found.values():
            runs.sort(
                key=lambda run: (version_state(run.method) == "current", getattr(run, "created", ""), run.run_id),
                reverse=True,
            )
        return dict(sorted(found.items()))

    @cached_property
    def kind(self) -> Kind:
        return self.row.method, self.planned.data.name, self.longer, self.asked.trials

    @cached_property
    def identity(self) -> bytes:
        """Equal for parts that share their runs."""
        return canonical([self.planned.model_dump(mode="json"), self.options])

    @cached_property
    def planned(self) -> Setup:
        """The recipe's setup, before data and tasks fill in what they know."""
        return self.recipe.setup(self.row.backbone, (self.row.variant, self.part.variant))

    @cached_property
    def options(self) -> Mapping[str, Any]:
        """The hyper-parameters that the row and the part state."""
        return self.row.options(own_part(self.row, self.longer, self.part))

    @cached_property
    def _stated(self) -> dict[str, Any]:
        """All hyper-parameters of the row's method, which is registered here."""
        return complete(methods.card(self.row.method or ""), self.options)

    @cached_property
    def _temperatures(self) -> set[str]:
        return {each.name for each in methods.card(self.row.method or "").fields if is_temperature(each)}

    @cached_property
    def _searched(self) -> set[str]:
        """What is drawn for the row beside the learning rate; of a method that is registered here."""
        assert self.row.method is not None
        if self.asked.regime != "tuned" or self.recipe.tuning is None:
            return set()
        part = own_part(self.row, self.longer, self.part)
        fixed = fixed_by(self.table, self.row, part, self.recipe.tuning, "tuned")
        return {each.name for each in space(methods.card(self.row.method), self.recipe.tuning.spread, fixed)}

    def _is(self, run: Done) -> bool:
        reported = 0 <= run.seed < FIRST_SEED
        return reported and self._is_method(run.method, run.tuned) and self._is_setup(run.setup, run.seed)

    def _is_method(self, method: MethodPart, tuned: TunedBy | None) -> bool:
        """Of another version, or where its plugin is not loaded, what the row states is all that is known."""
        if (method.learning_rate is None) != (tuned is None):
            return False
        searched, stated = set(tuned.searched if tuned else ()), self.options
        temperatures = self._temperatures if method.name in methods else set()
        if version_state(method) == "current":
            stated = self._stated
            if searched != self._searched or method.hyperparameters.keys() != stated.keys():
                return False
        factor = self.recipe.temperature_factor
        return (self.asked.regime == "tuned" or not searched) and all(
            alike(method.hyperparameters.get(name), value * factor if name in temperatures else value)
            for name, value in stated.items()
            if name not in searched
        )

    def _is_setup(self, used: Setup, seed: int) -> bool:
        if used.setup_id not in self._setups:
            filled = self._filled(used)
            self._setups[used.setup_id] = filled if filled and filled.setup_id == used.setup_id else None
        planned, drawn = self._setups[used.setup_id], used.data.redrawn
        return planned is not None and (
            not drawn
            or used.data.name not in datasets  # what the option begins with is not known then
            or used.data.options.get(drawn) == planned.data.options.get(drawn, 0) + seed
        )

    def _filled(self, used: Setup) -> Setup | None:
        """The planned setup with what datasets and tasks fill in; none if another protocol is used, or one is not."""
        known = {**self.recipe.with_classes, **self.planned.protocols}
        if not self.planned.protocols.keys() <= used.protocols.keys() <= known.keys():
            return None
        models, protocols = self._models(used), {}
        for name, protocol in used.protocols.items():
            options = _with_defaults(tasks, known[name].task, known[name].options, protocol.options)
            own = known[name].data
            data = self._data(own, protocol.data, "image" in models) if own and protocol.data else own
            version = tasks.card(known[name].task).version if known[name].task in tasks else protocol.version
            update = {"options": options, "version": version, "data": data}
            protocols[name] = known[name].model_copy(update=update)
        data = self._data(self.planned.data, used.data, "image" in models)
        return self.planned.model_copy(update={"data": data, "protocols": protocols, **models})

    def _models(self, used: Setup) -> dict[str, Any]:
        """Towers with what their pretrained models fill in, if these are the ones that were asked for."""
        changes: dict[str, Any] = {}
        for side, weights in self.asked.options.get(MODEL, {}).get(self.row.backbone, {}).items():
            planned, tower = getattr(self.planned, side), getattr(used, side)
            if planned and tower and tower.weights == weights:
                changes[side] = planned.model_copy(update={name: getattr(tower, name) for name in planned.filled})
                if planned.model:
                    changes["projection"] = self.planned.projection.model_copy(update={"width": used.projection.width})
        return changes

    def _data(self, planned: Data, used: Data, by_model: bool) -> Data:
        """By a pretrained model data are read at its size, where the recipe does not say how."""
        sizes = ("size", "fit") if by_model else ()
        read = {name: used.options[name] for name in sizes if name in used.options}
        given = {**read, **planned.options, **self.asked.options.get(planned.name, {})}
        options = _with_defaults(datasets, planned.name, given, used.options)
        update = {"options": options, "version": used.version, "digest": used.digest, "redrawn": used.redrawn}
        return planned.model_copy(update=update)


def _with_defaults(registry: Registry, name: str, given: Mapping[str, Any], used: Mapping[str, Any]) -> dict[str, Any]:
    """Options as a run has them; of what is not registered here, those that are not given are taken as used."""
    if name not in registry:
        return {**used, **given}
    fields = registry.card(name).fields
    options = {**{each.name: each.default for each in fields}, **given}
    reads_files = any(each.name == FOLDER for each in fields)
    return {key: value for key, value in options.items() if key in used or not reads_files}
