"""Options that are not the defaults, under the conformance kit, which itself sees defaults alone."""

import math
from typing import Any

import pytest

from benchsuite.conformance.checks import check_finite, check_permutation, check_precision, check_state
from benchsuite.conformance.declared import check_needs
from benchsuite.conformance.subject import WIDTH, Subject
from benchsuite.errors import UsageError
from benchsuite.methods import create_method
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
    *[("fastclip", {"version": version}) for version in ("v1", "v2", "v3")],
    ("softclip", {"guidance": "own"}),
    *[(name, {"state": state}) for name in ("amclr", "xamclr") for state in ("sequential", "per-pairing")],
    *[(name, {"first_visit": "first-epoch"}) for name in ("sogclr", "isogclr", "isogclr-tempnet")],
]
IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "infonce": {"tau": "cold"},
    "ts": {"tau_min": 0, "tau_max": math.nan, "periods": math.inf},
    "dystress": {"tau_min": 0, "tau_max": math.nan, "profile": "sine"},
    "dystress-shifted": {"scale": 0, "shift": math.inf},
    "dcl": {"tau": -1},
    "dclw": {"sigma": 0},
    "macl": {"alpha": math.nan, "a_0": math.inf},
    "mm-ts": {"alpha": -0.1, "shift_min": 0, "periods": math.nan, "cluster_sizes": (3, -1)},
    "max-margin": {"margin": -0.2},
    "cwcl": {"tau": 0, "modality": "sound", "weights": 1, "symmetric": "maybe"},
    "temo": {"tau_min": -0.1, "tau_alpha": -0.01, "schedule": "cubic", "similarity_map": "abs", "unimodal": True},
    "softclip": {"tau": 0, "guidance": "tags", "soft_weight": -1.0},
    "slip": {"ssl_scale": -1, "ssl_tau": 0, "head_hidden": 0, "head_width": 1.5},
    "sogclr": {"gamma": 1.1, "first_visit": "u", "loss_scale": -1},
    "isogclr": {"eta": -0.1, "beta": 2, "rho": math.inf},
    "isogclr-tempnet": {"hidden": 0, "lr_factor": -1},
    "gap-hard-swap": {"p": 1.1},
    "gap-ts": {"tau_start": -0.01, "tau_end": math.nan},
    "gap-tr-scale": {"s": 0},
    "gap-slrt": {"lr_factor": -1},
}


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


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_values_are_refused_by_name(name: str) -> None:
    for field, value in IMPOSSIBLE[name].items():
        with pytest.raises(UsageError, match=f"{name}: {field} = .* is not possible"):
            create_method(name, num_samples=4, **{field: value})
