"""Recipes: one file a scale, everything a run needs but the method, for each backbone a paper names."""

from pathlib import Path

from pydantic import Field

from benchsuite.errors import unknown
from benchsuite.fields import Count, NonNegative, Positive
from benchsuite.paths import baselines
from benchsuite.setup import (
    Augmentation,
    Clusters,
    Data,
    Experts,
    ImageTower,
    Optimizer,
    Part,
    Projection,
    Protocol,
    Schedule,
    Setup,
    TextTower,
    Training,
)
from benchsuite.toml_files import read_toml


class Backbone(Part):
    """What stands for a paper's backbone at this scale."""

    tower: ImageTower | None = None
    """The image tower; none where the backbone is the recipe's text tower alone."""
    says: str
    """What it is, for the page."""
    step_seconds: NonNegative = 0.0
    """One InfoNCE step on one thread of a laptop, for estimates before anything was measured."""


class Tuned(Part):
    """A setting that was searched for, on InfoNCE alone, for all rows."""

    chosen: str
    trials: Count
    rule: str


class Recipe(Part):
    """A training setup for a scale, as its file gives it."""

    title: str
    track: str
    """Which of a column's measures apply: the data behind them."""
    says: str
    """What results at this scale can and cannot say."""
    seeds: Count
    """How many, unless asked otherwise."""
    tuned: dict[str, Tuned] = {}
    open: list[str] = []
    """What the paper leaves open or the code cannot express, each with what is done here instead."""
    backbones: dict[str, Backbone] = Field(min_length=1)

    data: Data
    text: TextTower | None = None
    projection: Projection
    optimizer: Optimizer
    schedule: Schedule = Schedule()
    augmentation: Augmentation = Augmentation()
    training: Training
    temperature_factor: Positive = 1.0
    clusters: Clusters | None = None
    experts: Experts | None = None
    protocols: dict[str, Protocol] = Field(min_length=1)

    def setup(self, backbone: str) -> Setup:
        """The setup on one backbone, not yet resolved against data and tasks."""
        if backbone not in self.backbones:
            raise unknown("backbone", backbone, self.backbones, f'recipe "{self.title}": ')
        shared = {name: getattr(self, name) for name in Setup.model_fields if name in type(self).model_fields}
        return Setup(image=self.backbones[backbone].tower, **shared)


def recipe_names() -> list[str]:
    """All recipes there are files for."""
    return sorted(file.stem for file in (baselines() / "recipes").glob("*.toml"))


def read_recipe(name: str) -> Recipe:
    """The recipe of that name, or in a file of one's own."""
    if name.endswith(".toml"):
        return read_toml(Path(name), Recipe)
    if name not in recipe_names():
        raise unknown("recipe", name, recipe_names())
    return read_toml(baselines() / "recipes" / f"{name}.toml", Recipe)
