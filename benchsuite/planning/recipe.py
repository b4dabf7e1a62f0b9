"""Recipes: everything a run needs except the method. A file for each scale, with every backbone a paper names."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import Field, ValidationError, model_validator

from benchsuite.errors import UnknownError, UsageError, require_known
from benchsuite.fields import Count, NonNegative, Positive, first_problem
from benchsuite.folders import built_in_recipes, recipe_files
from benchsuite.parts import NOTHING, Part
from benchsuite.records.schema import SEEDS_EACH
from benchsuite.setup import Protocol, Settings, Setup
from benchsuite.toml_files import read_toml
from benchsuite.tower_settings import ImageTower


class Backbone(Part):
    """What replaces a paper's backbone at this scale."""

    tower: ImageTower | None = None
    """The image tower; none where the backbone is the recipe's text tower alone."""
    description: str
    """What it is, for the page. Up to the first colon or comma it is a name."""
    step_seconds: NonNegative = 0.0
    """One InfoNCE step on one thread of a laptop, for estimates before anything was measured."""


class Tuned(Part):
    """A setting that was searched for, on InfoNCE alone, for all rows."""

    chosen: str
    """The value."""
    trials: Count
    """How many values were tried."""
    rule: str
    """How the value was chosen."""


class Primary(Part):
    """What a protocol is judged by, and which difference would matter; stated before anything runs."""

    metric: str
    """Its primary metric or measure."""
    difference: Positive
    """The smallest difference of interest, in its unit: 0.01 is one point of a percentage. It applies to all of the
    protocol's metrics that are fractions."""


class Tuning(Part):
    """The rule by which every method is tuned: the same number of trials, drawn in the same way."""

    trials: Annotated[Count, Le(SEEDS_EACH)]
    """Of each row in each replicate, where all that its method declares is searched."""
    printed_trials: Annotated[int, Ge(0), Le(SEEDS_EACH)] = 5
    """Where the learning rate alone is searched, and the rest is as printed. 0: the recipe's rate is taken."""
    measure: str
    """What a trial is judged by: "protocol.metric" of the protocols below; higher is better."""
    protocols: dict[str, Protocol] = Field(min_length=1)
    """On the validation split."""
    spread: Annotated[float, Gt(1)] = 8.0
    """A number is drawn log-uniformly between its default divided by this and its default times this; a temperature
    as its ratio to the first one, which every method draws from one range."""
    learning_rate_spread: Annotated[float, Gt(1)] = 4.0
    """The same for the learning rate, around the recipe's."""
    longer: list[Annotated[float, Gt(1)]] = []
    """Rows of the reference method trained so many times as long are added, for methods that cost as much."""

    def count(self, regime: Literal["printed", "tuned"], asked: int | None) -> int:
        """Trials of a search, if a user asks for so many: of the learning rate alone never more than is its number."""
        if regime == "printed":
            return min(asked or self.printed_trials, self.printed_trials)
        return asked or self.trials


class StandIn(Part):
    """Which of the recipe's protocols replaces one of the paper's."""

    protocol: str
    """The recipe's own."""
    description: str = ""
    """What replaces the paper's data or training, in words; without any, nothing does."""


class Variant(Part):
    """A change of the setup that a table's rows or columns ask for by name."""

    description: str
    """What it changes, for the page."""
    change: dict[str, Any] = {}
    """Settings by part, laid over the recipe's: `optimizer.name = "adamp"`. Empty: the same at this scale. Of
    `protocols`, those of the recipe in its runs, and those of its tuning in trials."""


class Recipe(Settings):
    """A training setup for a scale, as its file gives it."""

    title: str
    """For lists and pages."""
    track: str
    """Which of a column's measures apply: the data behind them."""
    description: str
    """What results at this scale can and cannot show."""
    seeds: Count
    """How many, unless asked otherwise."""
    tuned: dict[str, Tuned] = {}
    """Settings that were searched for, on InfoNCE alone, for all rows."""
    assumptions: list[str] = []
    """What the paper leaves open or the code cannot express, each with what is done here instead."""
    backbones: dict[str, Backbone] = Field(min_length=1)
    """By the papers' names. `benchsuite run` takes the first unless told otherwise."""
    variants: dict[str, Variant] = {}
    """Changes of the setup, by the names that tables use."""
    stand_ins: dict[str, StandIn] = {}
    """By the papers' protocols."""
    missing: dict[str, str] = {}
    """Backbones, variants, papers' protocols and single measures of these ("zero-shot-cifar10.top3") that have no
    replacement at this scale, with the reason."""
    with_classes: dict[str, Protocol] = {}
    """Protocols that are added if the training data has classes, which a user's own data may not have."""
    primary: dict[str, Primary] = {}
    """By protocol."""
    keep_weights: bool = False
    """Whether each run's trained towers are stored with its record, for `benchsuite weights`. Trials keep none. It is
    no part of the setup's identity."""
    tuning: Tuning | None = None
    """How methods are tuned at this scale; none where rows run as printed alone."""
    regime: Literal["printed", "tuned", "both"] = "both"
    """Of tables, where a command has no --regime. Rows of a recipe without `tuning` run as printed alone."""

    @model_validator(mode="after")
    def _names_are_protocols(self) -> Self:
        known = {*self.all_protocols}
        named = [(f"stand-in for {name}", each.protocol, known) for name, each in self.stand_ins.items()]
        named += [("primary", name, known) for name in self.primary]
        of_trials = {*self.tuning.protocols} if self.tuning else set()
        changed = ((name, own) for name, each in self.variants.items() for own in each.change.get("protocols", {}))
        named += [(f"variant {name}, protocols", own, {*self.protocols, *of_trials}) for name, own in changed]
        if self.tuning:
            named.append(("tuning, measure", self.tuning.measure.rpartition(".")[0], of_trials))
        if unknown := [one for one in named if one[1] not in one[2]]:
            (where, name, protocols), *others = unknown
            also = ", ".join(f'{place} "{other}"' for place, other, _ in others)
            hint = f" Neither do: {also}." * bool(others)
            raise ValueError(str(UnknownError("protocol", name, protocols, f"{where}: ", hint)))
        return self

    def setup(self, backbone: str | None = None, variants: Sequence[str] = ()) -> Setup:
        """The setup on a backbone, else the first, in these variants, not yet resolved against data and tasks."""
        backbone = backbone or next(iter(self.backbones))
        require_known("backbone", backbone, self.backbones, f'recipe "{self.title}": ')
        shared = {name: getattr(self, name) for name in Settings.model_fields}
        setup = Setup(image=self.backbones[backbone].tower, **shared)
        changed: dict[str, Any] = as_given(setup)
        for name in filter(None, variants):
            require_known("variant", name, self.variants, f'recipe "{self.title}": ')
            change = self.variants[name].change
            here = {own: what for own, what in change.get("protocols", {}).items() if own in self.protocols}
            changed = overlaid(changed, {**change, "protocols": here})
        try:
            return Setup.model_validate(changed)
        except ValidationError as error:
            names = ", ".join(filter(None, variants))
            raise UsageError(f'recipe "{self.title}", variant {names}: {first_problem(error)}.') from error

    @property
    def all_protocols(self) -> Mapping[str, Protocol]:
        """Those that training data with classes add, too."""
        return {**self.protocols, **self.with_classes}

    def own(self, protocol: str) -> str:
        """The recipe's protocol that stands in for the paper's of that name, or has it."""
        return self.stand_ins[protocol].protocol if protocol in self.stand_ins else protocol

    def lacks(self, *names: str) -> str:
        """Why there is nothing for one of these backbones, variants or measures at this scale; "" if there is."""
        return next((self.missing[name] for name in names if name in self.missing), "")


def as_given(value: Any) -> Any:
    """Settings as nested dictionaries, those that were given alone; unlike a dump, with the folders of data."""
    if isinstance(value, Part):
        return {name: as_given(getattr(value, name)) for name in value.model_fields_set}
    if isinstance(value, Mapping):
        return {key: as_given(item) for key, item in value.items()}
    return value


def overlaid(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Nested settings with others laid over them."""
    merged = dict(below)
    for key, value in above.items():
        inner = merged.get(key)
        nested = isinstance(inner, Mapping) and isinstance(value, Mapping)
        merged[key] = overlaid(inner, value) if nested else value  # type: ignore[arg-type]
    return merged


def recipe_names() -> list[str]:
    """All recipes there are files for."""
    return sorted(recipe_files())


def recipe_name(recipe: str) -> str:
    """A recipe's name; of a file, its name without folder and ending."""
    return Path(recipe).stem if recipe.endswith(".toml") else recipe


def read_recipe(name: str, stored: Mapping[str, Path] = NOTHING) -> Recipe:
    """The recipe of that name, or the one in a TOML file. `stored` are files of recipes that lie with results, by name:
    they come first, but for built-in ones."""
    files = {name: Path(name)} if name.endswith(".toml") else recipe_files()
    files = {**files, **stored, **built_in_recipes()} if stored else files
    require_known("recipe", name, files)
    return read_toml(files[name], Recipe)
