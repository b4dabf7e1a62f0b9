"""What the training can give a method besides the embeddings of images and texts."""

from collections.abc import Set

from benchsuite.errors import UnknownError, UsageError
from benchsuite.methods.base import Method
from benchsuite.methods.batch import TEACHER_PARTS, encoded
from benchsuite.setup import Experts, Setup

TOWERS = {"pair": "an image and a text tower", "image": "an image tower alone", "text": "a text tower alone"}
ALWAYS = frozenset({"index"})
VIEWS = {
    "pair": frozenset({"image_view", "image_view2", "text_view"}),
    "image": frozenset({"image_view"}),
    "text": frozenset({"text_view"}),
}
TEACHERS = {
    "pair": frozenset(TEACHER_PARTS),
    "image": frozenset({"image_teacher", "image_view_teacher"}),
    "text": frozenset({"text_teacher", "text_view_teacher"}),
}
KNOWN = ALWAYS | VIEWS["pair"] | TEACHERS["pair"] | {"cluster", "image_expert", "text_expert"}
FORWARD = 1 / 3
"""A forward pass without gradient, as a share of forward and backward."""


def reads_paraphrases(needs: Set[str], setup: Setup) -> bool:
    """Whether a training with these needs reads other captions of the same images."""
    in_pairs = setup.towers == "pair" and not needs.isdisjoint({"text_view", "text_view_teacher"})
    return (setup.towers == "text" or in_pairs) and setup.augmentation.text_view == "paraphrase"


def require_served(method: Method, setup: Setup) -> None:
    """Refuse a method that cannot be trained under a setup, before anything runs, with the reason."""
    name = method.card.name
    if setup.towers not in method.serves:
        able = " or ".join(TOWERS[towers] for towers in sorted(method.serves))
        raise UsageError(f"{name} trains {able}; the setup has {TOWERS[setup.towers]}.")
    experts = setup.experts or Experts()
    prepared = {"cluster": setup.clusters, "image_expert": experts.image, "text_expert": experts.text}
    given = ALWAYS | VIEWS[setup.towers] | TEACHERS[setup.towers]
    given |= {name for name, settings in prepared.items() if settings is not None}
    elsewhere = VIEWS["pair"] | TEACHERS["pair"] if setup.towers != "pair" else frozenset()
    for need in sorted(method.needs - KNOWN):
        raise UnknownError("need", need, KNOWN, f"{name}: ")
    if missing := sorted(method.needs - given - elsewhere):
        raise UsageError(
            f"{name} needs {', '.join(missing)}, which the setup does not provide (it has {', '.join(sorted(given))})."
        )


def passes(method: Method, setup: Setup) -> float:
    """What a step encodes, as a multiple of a step of one image and one text tower, or of one tower on one view."""
    teachers = FORWARD * len(method.needs & TEACHERS[setup.towers])
    if setup.towers == "pair":
        return 1 + (len(method.needs & VIEWS["pair"]) + teachers) / 2
    return 1 + len([view for view in VIEWS[setup.towers] if encoded(view, method.needs)]) + teachers
