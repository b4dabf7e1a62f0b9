from collections.abc import Callable, Sequence
from typing import Any

import pytest

from benchsuite.records.code_version import code_version
from benchsuite.records.schema import Record
from benchsuite.registry import methods

MakeRecord = Callable[..., tuple[Record, bytes]]
Runs = dict[int, Record]
DEFAULTS = {"infonce": {"tau": 0.01}, "ts": {"tau_min": 0.01, "tau_max": 0.05, "periods": 5.0}}


@pytest.fixture
def make_runs(make_record: MakeRecord) -> Callable[..., Runs]:
    """`make_runs(method, values, cost, **changes)`: records by seed, one for each value of r_mean; None skips a seed.

    `hyperparameters` are laid over the method's defaults, `title` and `code` replace what is registered,
    `learning_rate` and `longer` are the method's; any other change is one of the record's content.
    """

    def make(
        method: str = "infonce",
        values: Sequence[float | None] = (0.1, 0.2, 0.3),
        cost: Sequence[float] = (),
        **changes: Any,
    ) -> Runs:
        known = methods.card(method) if method in methods else None
        part = make_record()[0].method.model_copy(
            update={
                "name": method,
                "title": changes.pop("title", known.title if known else method),
                "hyperparameters": {**DEFAULTS.get(method, {}), **changes.pop("hyperparameters", {})},
                "code": changes.pop("code", code_version(known) if known else "c0de"),
                **{name: changes.pop(name) for name in ("learning_rate", "longer") if name in changes},
            }
        )
        found = {}
        for seed, value in enumerate(values):
            if value is None:
                continue
            content = dict(changes)
            if "results" not in content:
                result = make_record(seed)[0].results["retrieval"]
                metrics = {**result.metrics, "r_mean": value}
                content["results"] = {"retrieval": result.model_copy(update={"metrics": metrics})}
            if cost:
                content["cost"] = {"seconds": 2 * cost[seed], "cpu_seconds": cost[seed], **content.get("cost", {})}
            found[seed] = make_record(seed, method=part, **content)[0]
        return found

    return make
