import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import exit_code
from numpy.typing import NDArray
from rankings import FILMS

from benchsuite.errors import RecordError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.geometry_task import Geometry
from benchsuite.experiments.rescore import NotRecomputable, rescore
from benchsuite.records.schema import Result
from benchsuite.records.store import Store, pack_ranks
from benchsuite.registry import tasks
from benchsuite.setup import Protocol

RANKS = {
    "gallery.i2t": np.array([1, 2, 9, 40], np.int32),
    "gallery.t2i": np.array([1, 1, 5, 6], np.int32),
    "colour.class": np.array([1, 3, 2], np.int32),
    **{f"films.{name}": rows for name, rows in FILMS.items()},
}
PROTOCOLS = {
    "gallery": Protocol(task="retrieval", version=1, options={"split": "test"}),
    "colour": Protocol(task="zero-shot", version=1, options={"classes": "colour", "templates": "t", "split": "test"}),
    "films": Protocol(task="multi-instance-retrieval", version=1, options={}),
    "shape": Protocol(task="geometry", version=1, options={}),
}
Stored = Callable[..., Path]
MakeRecord = Callable[..., Any]


def result(name: str, **changes: Any) -> Result:
    protocol = PROTOCOLS[name]
    if name == "shape":
        return Result(task="geometry", version=1, metrics={}, counts={"pairs": 3}, measures={"gap": 0.5})
    own = {key.partition(".")[2]: ranks for key, ranks in RANKS.items() if key.startswith(f"{name}.")}
    scores = create_task(protocol.task, **protocol.options).from_ranks(own)
    content = {"metrics": scores.metrics, "counts": scores.counts, "measures": scores.measures, **changes}
    return Result(task=protocol.task, version=1, **content)


@pytest.fixture
def stored(make_record: MakeRecord, tmp_path: Path) -> Stored:
    """The file of a record sealed over the given ranks and results."""

    def store(
        ranks: dict[str, NDArray[Any]] = RANKS,
        seed: int = 0,
        protocols: Mapping[str, Protocol] | None = None,
        **results: Result,
    ) -> Path:
        content, sidecar = pack_ranks(f"infonce-s{seed}", ranks.items())
        setup = make_record()[0].setup.model_copy(update={"protocols": PROTOCOLS | dict(protocols or {})})
        told = {name: result(name) for name in PROTOCOLS} | results
        record, _ = make_record(seed=seed, setup=setup, results=told, ranks=sidecar)
        Store(tmp_path).require_writable()
        return Store(tmp_path).write(record, content)

    return store


def test_untouched_ranks_give_the_record(stored: Stored) -> None:
    outcome = rescore(stored())
    assert outcome.differs == []
    assert outcome.agreed == {"gallery": 7 + 2 + 2, "colour": 3 + 1, "films": 6 + 2}
    assert outcome.not_recomputable == {"shape": NotRecomputable(["gap"], Geometry.why_not_recomputable)}


def test_one_changed_rank_names_what_differs(stored: Stored) -> None:
    edited = {**RANKS, "gallery.t2i": np.array([1, 1, 5, 11], np.int32)}
    said = rescore(stored(edited)).differs
    assert [line.partition(":")[0] for line in said] == ["gallery.t2i_r10", "gallery.r_mean"]
    assert said[0].endswith("the record says 1.0, its ranks say 0.75")


def test_a_changed_place_of_a_graded_answer_names_what_differs(stored: Stored) -> None:
    assert result("films").metrics["map_v2t"] == (1 + 1 / 2) / 2
    edited = {**RANKS, "films.v2t_ranks": np.array([1, 4])}
    said = rescore(stored(edited)).differs
    assert [line.partition(":")[0] for line in said] == ["films.map_v2t", "films.map"]


def test_arrays_that_contradict_each_other_differ(stored: Stored) -> None:
    short = {**RANKS, "films.t2v_gains": np.array([2, 2])}
    assert rescore(stored(short)).differs == ["films: t2v_gains has 2 numbers where t2v_relevant counts 3"]


def test_a_median_alone_may_differ(stored: Stored) -> None:
    edited = {**RANKS, "gallery.i2t": np.array([1, 4, 9, 40], np.int32)}
    said = rescore(stored(edited)).differs
    assert said == ["gallery.i2t_median_rank: the record says 5.5, its ranks say 6.5"]


def test_an_edited_metric_differs(stored: Stored) -> None:
    metrics = {**result("colour").metrics, "top1": 0.34}
    said = rescore(stored(colour=result("colour", metrics=metrics))).differs
    assert [line.partition(":")[0] for line in said] == ["colour.top1"]


def test_a_query_more_or_less_differs_though_shares_agree(stored: Stored) -> None:
    doubled = {**RANKS, "colour.class": np.repeat(RANKS["colour.class"], 2)}
    assert rescore(stored(doubled)).differs == ["colour.counts.pictures: the record says 3, its ranks say 6"]


def test_missing_and_foreign_ranks_differ(stored: Stored) -> None:
    lost = {key: ranks for key, ranks in RANKS.items() if key != "colour.class"}
    assert rescore(stored(lost)).differs == ["colour: no ranks 'class' are stored"]
    half = {key: ranks for key, ranks in RANKS.items() if key != "gallery.t2i"}
    assert "gallery.t2i_r1: the record says 0.5, its ranks say nothing" in rescore(stored(half, seed=1)).differs
    strange = {**RANKS, "elsewhere.class": RANKS["colour.class"]}
    assert rescore(stored(strange, seed=2)).differs == [
        "elsewhere.class: ranks of a protocol that the record does not have"
    ]


def test_how_a_probe_was_fitted_is_not_told_by_ranks(stored: Stored) -> None:
    version = tasks.card("linear-probe").about["version"]
    probe = Protocol(task="linear-probe", version=version, options={"classes": "colour"})
    ranks = {**RANKS, "probe.class": np.array([1, 2])}
    found = create_task("linear-probe", classes="colour").from_ranks({"class": ranks["probe.class"]})
    fitted = {"c": 1.0, "iterations": 7.0, "converged": 1.0}
    told = Result(task="linear-probe", version=version, metrics=found.metrics, counts=found.counts, measures=fitted)
    outcome = rescore(stored(ranks, protocols={"probe": probe}, probe=told))
    assert (outcome.differs, outcome.agreed["probe"]) == ([], len(found.metrics) + 1)
    assert outcome.not_recomputable["probe"].numbers == list(fitted)


def test_a_number_that_ranks_should_tell_and_do_not_differs(stored: Stored) -> None:
    measures = {**result("colour").measures, "spread": 0.5}
    said = rescore(stored(colour=result("colour", measures=measures))).differs
    assert said == ["colour.spread: the record says 0.5, its ranks say nothing"]


def test_a_record_from_before_a_measure_was_added_agrees(stored: Stored) -> None:
    assert rescore(stored(gallery=result("gallery", measures={}))).differs == []


def test_another_version_of_a_task_is_not_compared(stored: Stored) -> None:
    old = result("colour").model_copy(update={"version": 7})
    assert rescore(stored(colour=old)).differs == ["colour: measured by version 7 of zero-shot, which is 1 now"]


def test_a_file_of_ranks_that_was_not_sealed_is_refused(stored: Stored, tmp_path: Path) -> None:
    file = stored()
    sidecar = tmp_path / json.loads(file.read_text())["ranks"]["file"]
    np.savez(sidecar, **{**RANKS, "colour.class": np.array([1, 1, 1])})
    with pytest.raises(RecordError, match=r"not the ranks that record .* was sealed with"):
        rescore(file)
    sidecar.unlink()
    with pytest.raises(RecordError, match=r"ranks\.npz: No such file"):
        rescore(file)


def test_ranks_are_rows_of_whole_numbers(stored: Stored) -> None:
    with pytest.raises(RecordError, match=r"colour\.class: ranks are one row of whole numbers, not float64"):
        rescore(stored({**RANKS, "colour.class": np.array([1.0, 2.5, 3.0])}))


command = partial(exit_code, "rescore")


def test_the_command_finds_a_run_and_answers(
    stored: Stored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = stored()
    run_id = json.loads(file.read_text())["run_id"]
    for name in (run_id, run_id[:6], file.stem, str(file)):
        assert command(name, "--results", str(tmp_path)) == 0
        told = capsys.readouterr().out
        assert "agrees" in told
        assert f"shape: not computed again: gap ({Geometry.why_not_recomputable})" in told
    other = stored({**RANKS, "colour.class": np.array([2, 3, 2], np.int32)}, seed=1)
    assert command(str(other)) == 1
    told = capsys.readouterr().err
    assert "1 differ" in told
    assert "colour.top1: the record says" in told


def test_the_command_names_runs_that_are_not_there(
    stored: Stored, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = stored()
    run_id = json.loads(file.read_text())["run_id"]
    assert command("0" * 16 if run_id[0] != "0" else "f" * 16, "--results", str(tmp_path)) == 2
    assert run_id in capsys.readouterr().err
    assert command(run_id, "--results", str(tmp_path / "none")) == 2
    assert "--results" in capsys.readouterr().err
