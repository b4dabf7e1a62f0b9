"""Options that are not the defaults, under the conformance kit, which itself sees defaults alone."""

from typing import Any

import pytest

from benchsuite.conformance.checks import check_finite, check_permutation, check_precision, check_state
from benchsuite.conformance.declared import check_needs
from benchsuite.conformance.subject import WIDTH, Subject
from benchsuite.methods.base import Method

pytestmark = pytest.mark.slow

SIZES = (50, 7, 20)
VAST = {"alpha": 0.2, "shift_min": 0.1, "shift_max": 0.3, "periods": 1, "cluster_sizes": SIZES}
"""The paper's values, at which a margin reaches 0."""
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    *[(name, {"detach_temperature": False}) for name in ("dystress", "dystress-shifted")],
    *[("dystress", {"profile": p, "detach_temperature": False}) for p in ("linear", "exponential", "monotone")],
    ("dclw", {"sigma": 0.005}),
    ("macl", {"reweight": False}),
    ("macl", {"alpha": 2, "a_0": 0.8}),
    ("macl", {"tau_min": 0.00025}),
    *[(name, {"cluster_sizes": SIZES}) for name in ("mm-ts", "mm-ts-margin")],
    ("mm-ts-margin", VAST),
    ("max-margin", {"margin": 0.0}),
    ("cwcl", {"symmetric": True}),
    ("cwcl", {"symmetric": True, "weights": "expert"}),
    *[("temo", {"expert": expert}) for expert in ("image", "text", "both")],
    ("temo", {"schedule": "none"}),
    ("temo", {"similarity_map": "clamp"}),
    *[("fastclip", {"version": version}) for version in ("v1", "v2", "v3")],
    ("softclip", {"guidance": "own"}),
    *[(name, {"state": state}) for name in ("amclr", "xamclr") for state in ("sequential", "per-pairing")],
    *[(name, {"first_visit": "first-epoch"}) for name in ("sogclr", "isogclr", "isogclr-tempnet")],
]


class Configured(Subject):
    """A method with other options than its defaults."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        super().__init__(name)
        self.options = options

    def make(self, width: int | None = WIDTH, **hyperparameters: Any) -> Method:
        return super().make(width, **{**self.options, **hyperparameters})


@pytest.mark.parametrize(("name", "options"), OPTIONS, ids=str)
def test_an_option_conforms(name: str, options: dict[str, Any]) -> None:
    for check in (check_finite, check_precision, check_permutation, check_state, check_needs):
        check(Configured(name, options))
