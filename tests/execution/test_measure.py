from collections.abc import Callable
from pathlib import Path

import pytest

from benchsuite.data.prepared import Prepared
from benchsuite.execution.measure import measure, sizes_from, trained_under
from benchsuite.planning.plan import Run
from benchsuite.planning.resolve import resolve_method
from benchsuite.records.ranks import open_ranks
from benchsuite.setup import Schedule


def test_a_rows_own_rate_scales_the_whole_schedule_and_its_length_the_steps(tiny_run: Callable[..., Run]) -> None:
    setup = tiny_run().setup.model_copy(update={"schedule": Schedule(warmup_steps=2, final_lr=1e-4)})
    method = resolve_method("infonce", {}, 1.0)
    assert trained_under(setup, method) == setup
    own = method.model_copy(update={"learning_rate": 3 * setup.optimizer.lr, "longer": 1.5})
    trained = trained_under(setup, own)
    assert trained.optimizer.lr == pytest.approx(3 * setup.optimizer.lr)
    assert trained.schedule.final_lr == pytest.approx(3e-4)
    assert (trained.schedule.warmup_steps, trained.training.steps) == (2, 18)


def test_the_datas_cluster_sizes_are_for_methods_that_take_some_and_were_given_none() -> None:
    prepared = Prepared(cluster_sizes=(3, 5))
    assert sizes_from(prepared, resolve_method("mm-ts", {}, 1.0)) == {"cluster_sizes": (3, 5)}
    assert sizes_from(prepared, resolve_method("mm-ts", {"cluster_sizes": [1, 2]}, 1.0)) == {}
    assert sizes_from(prepared, resolve_method("infonce", {}, 1.0)) == {}


def test_only_the_seed_that_pages_show_keeps_what_was_nearest(tiny_run: Callable[..., Run]) -> None:
    for seed, kept in ((0, {"i2t", "t2i", "i2t_nearest", "t2i_nearest"}), (1, {"i2t", "t2i"})):
        record, content = measure(tiny_run(seed=seed, steps=1))
        assert {*open_ranks(Path(), content, record.results).of("retrieval")} == kept
