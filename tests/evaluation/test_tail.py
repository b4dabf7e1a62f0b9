from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.cards import Card
from benchsuite.data import create_dataset
from benchsuite.data.base import Manifest, PairDataset, Split
from benchsuite.evaluation.base import Embedder, create_task
from benchsuite.evaluation.rank_metrics import GROUPS, RULES
from benchsuite.evaluation.retrieval import groups_by_size
from benchsuite.execution.evaluate import result_of
from benchsuite.models.sides import Sides
from benchsuite.planning.recipe import read_recipe, recipe_names
from benchsuite.records.recompute import recompute
from benchsuite.setup import Protocol


class Classes(PairDataset):
    """Pictures of classes whose training sizes are given, two captions each."""

    card: ClassVar = Card("dataset", "classes", __name__, "Classes", "tests", __file__, "")
    sizes: ClassVar[list[int]] = [6, 3, 2, 1]
    asked: ClassVar[list[int]] = [0, 1, 2, 3, 0, 3]

    def manifest(self) -> Manifest:
        return Manifest("classes", 1, {"train": sum(self.sizes), "test": len(self.asked)}, "0")

    def read(self, split: str) -> Split:
        labels = np.repeat(np.arange(len(self.sizes)), self.sizes) if split == "train" else np.array(self.asked)
        texts = [[f"{split} {i} a", f"{split} {i} b"] for i in range(len(labels))]
        return Split(split, np.zeros((len(labels), 2, 2, 3), np.uint8), texts, labels={"kind": labels})


class Random(Sides):
    """Embeddings at random, and how often any were asked for."""

    def __init__(self) -> None:
        self.generator, self.asked = torch.Generator().manual_seed(0), Counter[str]()

    def pictures(self, pictures: Any, features: bool = False) -> Tensor:
        self.asked["pictures"] += 1
        return normalize(torch.randn(len(pictures), 8, generator=self.generator), dim=1)

    def texts(self, texts: Any, features: bool = False) -> Tensor:
        self.asked["texts"] += 1
        return normalize(torch.randn(len(texts), 8, generator=self.generator), dim=1)


def by_hand(bank: list[int], labels: list[int]) -> list[int]:
    """The third in which the middle of a class lies, when classes stand in a row, largest first."""
    size = Counter(bank)
    groups = []
    for label in labels:
        larger = sum(n for n in size.values() if n > size[label])
        same = sum(n for n in size.values() if n == size[label])
        place = (larger + same / 2) / len(bank)
        groups.append(0 if place < 1 / 3 - 1e-12 else 1 if place < 2 / 3 - 1e-12 else 2)
    return groups


labels = st.lists(st.integers(0, 9), min_size=1, max_size=60)


@given(labels, labels)
def test_groups_are_those_by_hand(bank: list[int], asked: list[int]) -> None:
    assert groups_by_size(np.array(bank), np.array(asked)).tolist() == by_hand(bank, asked)


@given(labels, st.randoms(use_true_random=False))
def test_groups_know_sizes_alone(bank: list[int], random: Any) -> None:
    """A class of no smaller size is in no rarer group, whatever the classes' numbers and the order of the items."""
    size = Counter(bank)
    groups = groups_by_size(np.array(bank), np.arange(11))
    assert all(groups[a] <= groups[b] for a in range(11) for b in range(11) if size[a] >= size[b])
    assert groups[10] == 2, "a class that training never saw"
    names = random.sample(range(11), 11)
    mixed = [names[label] for label in random.sample(bank, len(bank))]
    assert groups_by_size(np.array(mixed), np.array(names)).tolist() == groups.tolist()


def test_groups_of_a_world_hold_a_third_of_its_pairs_each() -> None:
    train = create_dataset("latents", train=4000, validation=1, test=1, galleries=1).split("train")
    concepts = train.labels["concept"]
    shares = np.bincount(groups_by_size(concepts, concepts), minlength=3) / len(concepts)
    assert (abs(shares - 1 / 3) < 0.06).all()


def test_recalls_are_those_of_retrieval_for_the_items_of_a_group() -> None:
    dataset = Classes()
    embed = Embedder(Random())
    whole = create_task("retrieval").evaluate(embed, dataset)
    found = create_task("tail", classes="kind").evaluate(embed, dataset)
    groups = by_hand(np.repeat(np.arange(4), Classes.sizes).tolist(), Classes.asked)
    assert sorted(groups) != groups
    assert set(groups) == {0, 1, 2}
    for way, captions in (("i2t", 1), ("t2i", 2)):
        ranks = whole.ranks[way].reshape(len(groups), captions)
        for number, group in enumerate(GROUPS):
            own = [rank for row, g in zip(ranks.tolist(), groups, strict=True) if g == number for rank in row]
            assert found.counts[f"{way}_{group}"] == len(own)
            for k in (1, 10):
                assert found.metrics[f"{way}_r{k}_{group}"] == sum(rank <= k for rank in own) / len(own)
    assert {way: found.counts[way] for way in ("i2t", "t2i")} == whole.counts


def test_it_costs_no_second_search() -> None:
    sides = Random()
    embed = Embedder(sides)
    for name, options in (("retrieval", {}), ("tail", {"classes": "kind"}), ("tail", {"classes": "kind"})):
        create_task(name, **options).evaluate(embed, Classes())
    assert sides.asked == {"pictures": 1, "texts": 1}
    create_task("retrieval", split="train").evaluate(embed, Classes())
    assert sides.asked == {"pictures": 2, "texts": 2}


def test_what_a_record_says_is_recomputed() -> None:
    scores = create_task("tail", classes="kind").evaluate(Embedder(Random()), Classes())
    protocol = Protocol(task="tail", version=1, options={"classes": "kind", "split": "test", "bank": "train"})
    result = result_of(protocol, scores, {"test": len(Classes.asked)})
    assert recompute(result, scores.ranks, protocol.options, RULES).agreed == 12 + 2 + 6
    forged = result.model_copy(update={"metrics": {**result.metrics, "t2i_r10_tail": 0.123}})
    assert "t2i_r10_tail" in recompute(forged, scores.ranks, protocol.options, RULES).differs[0]
    fewer = {**scores.ranks, "i2t_tail": scores.ranks["i2t_tail"][1:]}
    assert recompute(result, fewer, protocol.options, RULES).differs


@pytest.mark.parametrize(
    ("sizes", "classes", "says"),
    [([2, 2, 2, 2], "kind", "none in the group head"), ([6, 3, 2, 1], "size", 'labels "size"')],
)
def test_data_without_sizes_is_refused_before_the_training(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int], classes: str, says: str
) -> None:
    monkeypatch.setattr(Classes, "sizes", sizes)
    (problem,) = create_task("tail", classes=classes).problems(Classes())
    assert says in problem


def test_no_search_looks_at_the_tail() -> None:
    recipes = {name: read_recipe(name) for name in recipe_names()}
    offered = {name for name, recipe in recipes.items() if any(p.task == "tail" for p in recipe.protocols.values())}
    features = {"emoji-features-pairs", "emoji-features-graded"}
    assert offered == features | {"latents-pairs", "latents-gap", "latents-clips", "latents-captions"}
    searched = [p.task for r in recipes.values() if r.tuning for p in r.tuning.protocols.values()]
    assert "tail" not in searched
