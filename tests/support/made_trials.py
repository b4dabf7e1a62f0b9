"""A file of tuning trials as `benchsuite tune` writes it: every method has its own best temperature and rate."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchsuite.records.schema import MethodPart, trial_seed
from benchsuite.records.trials import Trial, TrialsFile
from benchsuite.registry import methods
from benchsuite.setup import Data, Optimizer, Protocol, Setup, Training
from benchsuite.tower_settings import MLP, ImageTower, TextTower

RATE = 3e-3
METHODS = {
    "infonce": 0.52, "ts": 0.525, "temo": 0.545, "dystress": 0.54, "cwcl": 0.50, "sogclr": 0.51,
    "gap-ts": 0.515, "gap-flt": 0.50, "max-margin": 0.42, "siglip": 0.53,
}  # fmt: skip
"""Ten methods, and about the best score that each can reach."""
RULE = {
    "trials": 16, "measure": "validation.t2i_r10", "spread": 8.0, "learning_rate_spread": 4.0, "longer": [1.5, 2.0],
    "protocols": {"validation": {"task": "retrieval", "options": {"split": "validation"}}},
}  # fmt: skip


def tuning_setup(layers: int = 1) -> Setup:
    """On vectors, with the rule's protocol."""
    return Setup(
        data=Data(name="latents", version=1, digest="d" * 64),
        image=ImageTower(mlp=MLP(layers=layers, hidden=16)),
        text=TextTower(mlp=MLP(layers=2, hidden=16)),
        projection={"width": 8},
        optimizer=Optimizer(lr=RATE),
        training=Training(batch=4, steps=2),
        protocols={"validation": Protocol(task="retrieval", version=1, options={"split": "validation"})},
    )


def trials_of(
    name: str,
    best: float = 0.5,
    count: int = 16,
    fixed: Mapping[str, Any] | None = None,
    backbone: str = "RN50",
    **more: Any,
) -> list[Trial]:
    """Of one method; `more` replaces parts of the method, such as its code."""
    card = methods.card(name) if name in methods else None
    setup = tuning_setup(1 if backbone == "RN50" else 2)
    own = np.random.default_rng(list(name.encode()))
    optimum = own.normal(0, 0.6, 2)
    made = []
    for number in range(count):
        draw = np.random.default_rng([number, *name.encode(), *backbone.encode()])
        values = {field.name: field.default for field in card.fields} if card else {"tau": 0.05, "warm": True}
        values |= {
            key: value * 8 ** draw.uniform(-1, 1)
            for key, value in values.items()
            if isinstance(value, float) and value and key not in (fixed or {})
        }
        rate = RATE * 4 ** draw.uniform(-1, 1)
        away = [
            math.log(next((v for k, v in values.items() if k.startswith("tau")), 0.05) / 0.05),
            math.log(rate / RATE),
        ]
        score = best - float(np.square(np.array(away) - optimum) @ [0.02, 0.03]) + draw.normal(0, 0.004)
        failed = draw.random() < 0.06
        part = MethodPart(
            name=name, title=card.title if card else name.title(), hyperparameters={**values, **(fixed or {})},
            version=1, code="c0de", owner="benchsuite.methods", learning_rate=rate,
        ).model_copy(update=more)  # fmt: skip
        made.append(
            Trial(
                run_id=f"{part.method_id[:12]}{number:04d}", setup_id=setup.setup_id, label=backbone, method=part,
                fixed=dict(fixed or {}), regime="tuned", replicate=0, number=number, seed=trial_seed(0, number),
                score=None if failed else max(0.005, score), metrics={} if failed else {"validation.t2i_r10": score},
                error="loss is not finite at step 71" if failed else "",
                cost={} if failed else {"seconds": 6.0, "cpu_seconds": 5.0 + draw.random()},
            )
        )  # fmt: skip
    return made


def trials_file(
    names: Mapping[str, float] = METHODS,
    backbones: Sequence[str] = ("RN50",),
    recipe: str = "latents-pairs",
    more: Sequence[Trial] = (),
) -> TrialsFile:
    """Trials of these methods; `more` are added."""
    made = [
        trial
        for backbone in backbones
        for name, best in names.items()
        for trial in trials_of(name, best, backbone=backbone)
    ]
    setups = {setup.setup_id: setup for setup in (tuning_setup(1), tuning_setup(2))}
    return TrialsFile(recipe=recipe, rule=RULE, setups=setups, trials=[*made, *more])
