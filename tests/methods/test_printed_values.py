"""No method refuses a value that its own paper prints, in a table or in its text."""

from typing import Any

import pytest

from benchsuite.methods import create_method, method_class
from benchsuite.papers import read_table, table_names

SAMPLES = 4
TABLES = table_names()


def make(method: str, settings: dict[str, Any]) -> None:
    create_method(method, num_samples=SAMPLES, width=3, **{**method_class(method).miniature, **settings})


@pytest.mark.parametrize("name", TABLES)
def test_every_row_of_every_table_is_accepted_by_its_method(name: str) -> None:
    table = read_table(name)
    for row in table.rows:
        for part in table.all_parts.values():
            if row.method:
                make(row.method, row.options(part))


def test_no_row_is_left_out_because_its_method_refuses_it() -> None:
    reasons = [row.not_run for name in TABLES for row in read_table(name).rows]
    assert not [reason for reason in reasons if "refuse" in reason]


TEXT: list[tuple[str, dict[str, Any]]] = [
    # MM-TS, section 7
    ("mm-ts", {"alpha": 0.04, "shift_min": 0.05, "shift_max": 0.10}),
    ("mm-ts-margin", {"alpha": 0.20, "shift_min": 0.17, "shift_max": 0.30}),
    ("mm-ts", {"alpha": 0.08, "shift_min": 0.05, "shift_max": 0.20}),
    ("mm-ts-margin", {"alpha": 0.20, "shift_min": 0.10, "shift_max": 0.30}),
    ("mm-ts", {"alpha": 0.06, "shift_min": 0.06, "shift_max": 0.09}),
    ("max-margin", {"margin": 0.2}),
    # temperature schedules: TeMo's tables, and the original
    ("ts", {"tau_min": 0.01, "tau_max": 0.05, "periods": 5}),
    ("ts", {"tau_min": 0.1, "tau_max": 1.0}),
    # DySTreSS: CIFAR, ImageNet, sentences, TeMo's tables, and the shifts of Table 7
    ("dystress", {"tau_min": 0.07, "tau_max": 0.2}),
    ("dystress", {"tau_min": 0.1, "tau_max": 0.2}),
    ("dystress", {"tau_min": 0.03, "tau_max": 0.05}),
    ("dystress", {"tau_min": 0.01, "tau_max": 0.05}),
    *(("dystress-shifted", {"shift": s, "scale": k}) for s, k in ((0, 0.5), (0.2, 0.6), (0.4, 0.7), (-0.2, 0.6))),
    ("cwcl", {"tau": 0.01}),
    ("cwcl", {"tau": 0.05}),
    ("temo", {"tau": 0.01, "tau_min": 0.01, "tau_alpha": 0.04}),
    # SogCLR and iSogCLR, and the runs behind AmCLR's two rows of iSogCLR
    ("sogclr", {"tau": 0.01, "gamma": 0.8}),
    ("isogclr", {"rho": 6, "eta": 0.03, "beta": 0.9, "tau": 0.01, "tau_min": 0.005, "tau_max": 0.05}),
    ("isogclr", {"tau_max": 1.0}),
    ("isogclr", {"rho": 8, "eta": 1e-5, "beta": 0.5, "first_visit": "first-epoch", "released_epsilon": "tempnet"}),
    ("isogclr-robust", {"rho": 6, "eta": 0.01, "beta": 0.9, "tau": 0.07, "tau_min": 0.005, "tau_max": 1, "gamma": 0.8}),
    ("amclr", {"tau": 0.01, "gamma": 0.8}),
    # modality gap, appendix D.1 and D.2
    *(("gap-flt", {"tau": tau}) for tau in (0.01, 0.04, 0.4)),
    *(("gap-ts", {"tau_start": 0.01, "tau_end": end}) for end in (0.02, 0.03, 0.04, 0.05)),
    *(("gap-ts-cosine", {"tau_start": 0.01, "tau_end": end}) for end in (0.02, 0.04)),
    *(("gap-tr-scale", {"s": s}) for s in (2, 10)),
    *(("gap-hard-swap", {"p": p}) for p in (1, 0.1, 0.01, 0.001)),
    ("gap-soft-swap", {"p": 0.05}),
    ("slip", {"ssl_scale": 1.0}),
    ("dclw", {"sigma": 0.5}),
]


@pytest.mark.parametrize(("method", "settings"), TEXT, ids=lambda value: str(value))
def test_values_of_a_papers_text_are_accepted(method: str, settings: dict[str, Any]) -> None:
    make(method, settings)
