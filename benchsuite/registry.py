"""Registries of methods, tasks, datasets and embeddings: decorators, lookup by name, and cards.

The decorator alone registers a built-in class. The registry reads decorators from the source text, so
`benchsuite list` does not import torch. A module is imported when its class is used. Other packages register through
entry points, users through `--plugin FILE`.
"""

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from benchsuite.cards import Card, card_of_class, read_cards
from benchsuite.errors import IN_A_PLUGIN, UnknownError, UsageError, did_you_mean, own_errors, require_known
from benchsuite.folders import announced

T = TypeVar("T", bound=type)
SEVERAL = {"credit", "embeds", "measures", "metrics", "needs", "serves"}
"""What a decorator takes as a tuple: a single word would be taken for its letters."""


class Registry:
    """Registered classes of one kind ("method", "task", "dataset", "embedding") by name."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind = kind
        self.package = package
        self._live: dict[str, type] = {}
        self._live_cards: dict[str, Card] = {}

    def register(self, name: str, **about: Any) -> Callable[[T], T]:
        """Decorator: register the class under `name`. `about` are literals such as title=, paper= and version=."""
        version = about.get("version", 1)
        if type(version) is not int or version < 1:
            raise UsageError(f'{self.kind} "{name}": version = {version!r} is not possible: 1, 2, 3 and so on are.')
        for key in SEVERAL & about.keys():
            if isinstance(about[key], str):
                raise UsageError(f'{self.kind} "{name}": {key} are several: write {key}=("{about[key]}",).')

        def decorate(cls: T) -> T:
            card = card_of_class(self.kind, name, cls, about)
            holder = self._live_cards.get(name) or self._declared.get(name)
            if holder and (holder.file, holder.qualname) != (card.file, card.qualname):
                raise taken(card, holder)
            self._live[name] = cls
            self._live_cards[name] = card
            cls.card = card  # type: ignore[attr-defined]
            return cls

        return decorate

    def get(self, name: str) -> type:
        """The class registered under `name`. Imports its module if needed."""
        if name not in self._live:
            card = self.card(name)
            with nullcontext() if card.built_in else own_errors(f"{card.module}, of {self.kind} {name},"):
                importlib.import_module(card.module)
        return self._live[name]

    def card(self, name: str) -> Card:
        """The card of `name`, without importing its module."""
        card = self._live_cards.get(name) or self._declared.get(name)
        if card is None:
            raise UnknownError(self.kind, name, self.cards(), hint=IN_A_PLUGIN if self.kind == "method" else "")
        return card

    def cards(self) -> dict[str, Card]:
        """All cards by name: built-in, from installed packages, and from plugin files."""
        return dict(sorted({**self._declared, **self._live_cards}.items()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.cards())

    def __contains__(self, name: object) -> bool:
        return name in self._live_cards or name in self._declared

    @cached_property
    def _declared(self) -> dict[str, Card]:
        folder = Path(__file__).parent.joinpath(*self.package.split(".")[1:])
        cards: dict[str, Card] = {}
        for card in [*read_cards(self.kind, folder, self.package), *self._installed()]:
            if card.name in cards:
                raise taken(card, cards[card.name])
            cards[card.name] = card
        return cards

    def _installed(self) -> Iterator[Card]:
        for name, spec in announced(self.package):
            cards = {card.name: card for card in read_cards(self.kind, Path(spec.origin or ""), spec.name)}
            require_known(self.kind, name, cards, f"entry point of {self.package}, module {spec.name}: ")
            yield cards[name]


def taken(card: Card, holder: Card) -> UsageError:
    """The error for a name that is registered twice. It names both owners."""
    return UsageError(
        f'{card.kind} "{card.name}" of {card.owner} ({card.qualname}) is taken: {holder.owner} ({holder.qualname}) '
        "registers the same name. Choose another name."
    )


def load_plugin(path: Path) -> None:
    """Import a user's Python file. Its decorators register its classes."""
    if not path.is_file():
        beside = (file.name for file in path.parent.glob(f"*{path.suffix}"))
        raise UsageError(f"plugin {path}: no such file.{did_you_mean(path.name, beside)}")
    name = f"benchsuite_plugin_{path.stem}"
    known = sys.modules.get(name)
    if known is not None and Path(inspect.getfile(known)).resolve() == path.resolve():
        return
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"plugin {path}: not a Python file; its name must end in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        with own_errors(f"plugin {path}"):
            spec.loader.exec_module(module)
    except UsageError:
        del sys.modules[name]
        raise


methods = Registry("method", "benchsuite.methods")
tasks = Registry("task", "benchsuite.evaluation")
datasets = Registry("dataset", "benchsuite.data")
embeddings = Registry("embedding", "benchsuite.data.embeddings")

register_method = methods.register
register_task = tasks.register
register_dataset = datasets.register
register_embedding = embeddings.register
