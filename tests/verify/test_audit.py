import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.edited import Change, edit, file_of, metrics
from support.made_records import MakeRecord
from support.rankings import FILMS

from benchsuite.errors import RecordError, UsageError
from benchsuite.evaluation.rank_metrics import RULES
from benchsuite.files import lock_of
from benchsuite.records.method_version import file_digest
from benchsuite.records.ranks import pack_ranks
from benchsuite.records.schema import Record, Result, Sidecar, content_digest
from benchsuite.records.store import Store
from benchsuite.records.trials import TRIALS, TrialsFile, write_trials
from benchsuite.registry import methods, tasks
from benchsuite.setup import Protocol
from benchsuite.verify.audit import Audit, audit_folder, audit_run


@pytest.fixture
def folder(sound_folder: Callable[[int], Path]) -> Path:
    """Three sound records."""
    return sound_folder(3)


def looked_at(folder: Path) -> Audit:
    return audit_folder(folder, RULES)


def store_with_ranks(folder: Path, record: Record, ranks: dict[str, Any], **changes: Any) -> None:
    """The record, honestly sealed over other ranks."""
    packed = BytesIO()
    np.savez(packed, **ranks)
    content = packed.getvalue()
    sha = hashlib.sha256(content).hexdigest()
    sidecar = Sidecar(file=f"infonce-s9.{sha[:8]}.ranks.npz", sha256=sha)
    kept = ("seed", "method", "setup", "results", "curves", "cost", "digests", "environment", "created")
    parts = {name: getattr(record, name) for name in kept}
    Store(folder).write(Record.seal(**{**parts, "ranks": sidecar, **changes}), content)


def problems(folder: Path) -> dict[str, list[str]]:
    """What is wrong, by seed of the file's name, or by its name."""
    found: dict[str, list[str]] = {}
    for one in looked_at(folder).problems:
        found.setdefault(one.file.removeprefix("infonce-")[:2], []).append(one.message)
    return found


def test_each_file_of_ranks_is_opened_once(folder: Path) -> None:
    opened: Counter[str] = Counter()

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and str(arguments[0]).endswith(".ranks.npz.xz") and watching:
            opened[Path(str(arguments[0])).name] += 1

    watching = [True]
    sys.addaudithook(watch)  # it stays for ever, and does nothing when this test is over
    audit = looked_at(folder)
    watching.clear()
    assert opened == {record.ranks.file: 1 for record in audit.records.values()}
    assert len(opened) == 3


def test_sound_records_have_no_problem_and_all_their_numbers_are_computed_again(folder: Path) -> None:
    done = looked_at(folder)
    assert done.problems == done.notes == []
    assert len(done.records) == 3
    assert done.agreed == 3 * (7 + 2 + 2)
    assert done.not_recomputable == {}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda c: metrics(c).update(i2t_r1=0.3), "retrieval: i2t_r1 is 0.3 in the record, 0.25 from its ranks"),
        (lambda c: metrics(c).update(i2t_r1=0.6), "retrieval: i2t_r1 = 0.6 is above i2t_r5 = 0.5"),
        (lambda c: metrics(c).pop("i2t_r1"), "retrieval: i2t_r1 is missing in the record, 0.25 from its ranks"),
        (
            lambda c: c["results"]["retrieval"]["measures"].update(i2t_median_rank=1.0),
            "retrieval: i2t_median_rank is 1.0 in the record, 5.5 from its ranks",
        ),
        (
            lambda c: c["results"]["retrieval"]["counts"].update(t2i=9),
            "retrieval: counts.t2i is 9 in the record, 8 from its ranks",
        ),
        (
            lambda c: c["results"]["retrieval"].update(split_size=5),
            "retrieval: counts.i2t is 4, but the split has 5 items",
        ),
        (lambda c: c.update(seed=7), "run_id is .*, but its setup, method and seed give"),
        (lambda c: c["setup"]["training"].update(batch=1), "not a valid record: setup.training.batch: Input should be"),
    ],
)
def test_a_new_seal_hides_no_edit(folder: Path, change: Change, says: str) -> None:
    edit(file_of(folder, 1), change, sealed=True)
    found = problems(folder)
    assert set(found) == {"s1"}
    with pytest.raises(RecordError, match=says):
        raise RecordError(" | ".join(found["s1"]))
    assert len(looked_at(folder).records) == 2


def test_all_problems_of_all_files_are_told(folder: Path) -> None:
    edit(file_of(folder, 0), lambda c: metrics(c).update(t2i_r1=2.0, i2t_r1=0.6))
    file_of(folder, 1).write_bytes(file_of(folder, 1).read_bytes()[:99])
    next(folder.glob("infonce-s2*.ranks.*")).unlink()
    found = problems(folder)
    assert len(found["s0"]) == 6
    assert "truncated or not JSON" in found["s1"][0]
    assert "are missing" in found["s2"][0]


def test_a_record_of_another_schema_says_what_can_read_it(folder: Path) -> None:
    edit(file_of(folder, 1), lambda c: c.update(schema=2, environment={"benchsuite": "3.1"}), sealed=True)
    (one,) = looked_at(folder).problems
    assert (one.message, one.fix) == (
        "record schema 2; this benchsuite reads schema 1",
        "use benchsuite 3.1, which wrote it",
    )


def test_changed_ranks_are_found(folder: Path) -> None:
    ranks = next(folder.glob("infonce-s1*.ranks.*"))
    ranks.write_bytes(pack_ranks("x", [("retrieval.i2t", np.array([1])), ("retrieval.t2i", np.array([1]))])[0])
    assert "edited, or damaged" in problems(folder)["s1"][0]


def test_ranks_of_a_protocol_the_record_does_not_have_are_found(folder: Path, make_sound: MakeRecord) -> None:
    arrays = {"retrieval.i2t": np.array([1]), "elsewhere.i2t": np.array([1])}
    store_with_ranks(folder, make_sound(9)[0], arrays)
    assert any(one.message.startswith("elsewhere.i2t: ranks of a protocol") for one in looked_at(folder).problems)


def with_results(folder: Path, record: Record, **results: Result) -> Audit:
    protocols = {name: Protocol(task=one.task, version=one.version) for name, one in results.items()}
    setup = record.setup.model_copy(update={"protocols": protocols})
    store_with_ranks(folder, record, {}, setup=setup, results=results)
    return looked_at(folder)


def test_what_no_rule_tells_is_named_and_is_no_problem(
    folder: Path, make_sound: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = replace(tasks.card("retrieval"), about={**tasks.card("retrieval").about, "version": 2})
    monkeypatch.setitem(tasks._live_cards, "retrieval", newer)
    for file in folder.glob("infonce-s*"):
        file.unlink()
    done = with_results(
        folder,
        make_sound(9)[0],
        shape=Result(task="geometry", version=1, metrics={}, counts={"pairs": 3}, measures={"gap": 0.5}),
        old=Result(task="retrieval", version=1, metrics={"i2t_r1": 0.5}, counts={"i2t": 2}),
    )
    assert done.problems == []
    assert done.not_recomputable == {
        ("geometry", RULES["geometry"].why): {"gap"},
        ("retrieval", "version 1 of the task, 2 here"): {"i2t_r1"},
    }


@pytest.mark.parametrize(
    ("result", "says"),
    [
        (Result(task="geometry", version=1, metrics={"ir1": 0.9}, counts={}), "ir1 is nothing that the task measures"),
        (Result(task="unheard", version=1, metrics={"ir1": 0.9}, counts={}), "task unheard is not registered here"),
        (Result(task="retrieval", version=2, metrics={"i2t_r1": 0.9}, counts={}), "version 2 of the task"),
        (Result(task="retrieval", version=0, metrics={"i2t_r1": 0.9}, counts={}), "version 0 of the task"),
    ],
)
def test_nothing_switches_recomputation_off(folder: Path, make_sound: MakeRecord, result: Result, says: str) -> None:
    done = with_results(folder, make_sound(9)[0], one=result)
    assert any(says in problem.message for problem in done.problems)


def test_soft_rankings_are_computed_again_and_a_changed_one_is_found(folder: Path, make_sound: MakeRecord) -> None:
    task = "multi-instance-retrieval"
    scores = RULES[task](FILMS, {})
    result = Result(task=task, version=1, metrics=dict(scores.metrics), counts=dict(scores.counts), split_size=2)
    setup = make_sound()[0].setup.model_copy(update={"protocols": {"films": Protocol(task=task, version=1)}})

    def store(seed: int, **changed: Any) -> list[str]:
        ranks = {f"films.{name}": rows for name, rows in {**FILMS, **changed}.items()}
        store_with_ranks(folder, make_sound(seed)[0], ranks, setup=setup, results={"films": result})
        return [one.message for one in looked_at(folder).problems]

    assert store(9) == []
    assert looked_at(folder).not_recomputable == {}
    assert any("films: ndcg_v2t is" in what for what in store(10, v2t_gains=np.array([2, 0, 1])))
    assert any("films: v2t_ranks are below 1" in what for what in store(11, v2t_ranks=np.array([0, 2])))


def test_files_of_others_and_leftovers_are_notes(folder: Path, make_sound: MakeRecord) -> None:
    (folder / "package.json").write_text('{"name": "x"}')
    (folder / "README.md").write_text("mine")
    (folder / ".infonce-s0.json.4711").write_text("{")
    (folder / "infonce-s8.0123.ranks.npz").write_bytes(b"")
    lock_of(folder / "MANIFEST.json").touch()
    (folder / "logs").mkdir()
    Store(folder).add_failure(make_sound(7)[0], "killed")
    done = looked_at(folder)
    assert done.problems == []
    assert [one.file for one in done.notes] == [
        "package.json",
        ".infonce-s0.json.4711",
        "README.md",
        "infonce-s8.0123.ranks.npz",
    ]


def test_other_versions_and_edited_plugins_are_noted(
    folder: Path, tmp_path: Path, make_sound: MakeRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.py"
    file.write_text("TAU = 0.1")
    mine = replace(methods.card("infonce"), name="mine", owner=str(file), file=str(file), about={"version": 2})
    monkeypatch.setitem(methods._live_cards, "mine", mine)
    method = make_sound(0)[0].method
    changes = (
        {"version": 2}, {"name": "from-a-plugin"}, {"name": "mine", "version": 2, "code": file_digest(mine)},
        {"name": "mine", "version": 1, "code": "c0de"},
    )  # fmt: skip
    for seed, change in enumerate(changes, 7):
        Store(folder).write(*make_sound(seed, method=method.model_copy(update=change)))
    notes = [str(one) for one in looked_at(folder).notes]
    assert [note for note in notes if "measured with version 2 of infonce, which is at 1" in note]
    assert [note for note in notes if "measured with version 1 of mine, which is at 2" in note]
    assert [note for note in notes if "from-a-plugin: 1 record: whether" in note and "--plugin" in note]


def test_one_run_is_audited_like_a_folder(folder: Path) -> None:
    file = file_of(folder, 1)
    audit = audit_run(file, RULES)
    assert (list(audit.records), audit.problems, audit.agreed) == ([file.name], [], 7 + 2 + 2)
    edit(file, lambda c: metrics(c).update(i2t_r1=0.3))
    audit = audit_run(file, RULES)
    assert [problem.message for problem in audit.problems] == problems(folder)["s1"]
    assert audit.records == {}
    (folder / "package.json").write_text("{}")
    with pytest.raises(UsageError, match="not a record"):
        audit_run(folder / "package.json", RULES)


def test_one_run_needs_its_ranks_and_its_name(folder: Path) -> None:
    file = file_of(folder, 1).rename(folder / "renamed.json")
    (problem,) = audit_run(file, RULES).problems
    assert problem.message == "not named as its run is"
    next(folder.glob("infonce-s1*.ranks.*")).unlink()
    (problem,) = audit_run(file, RULES).problems
    assert "are missing" in problem.message


def test_kept_weights_must_be_those_of_their_record_or_absent(folder: Path, make_sound: MakeRecord) -> None:
    kept = folder / "weights" / "s5.safetensors"
    kept.parent.mkdir()
    kept.write_bytes(b"trained")
    sha = hashlib.sha256(b"trained").hexdigest()
    record, ranks = make_sound(5, weights=Sidecar(file=kept.name, sha256=sha))
    Store(folder).write(record, ranks)
    assert problems(folder) == {}
    assert looked_at(folder).notes == []
    kept.write_bytes(b"trained otherwise")
    assert problems(folder) == {"s5": ["weights/s5.safetensors are not what it was sealed with"]}
    kept.rename(kept.with_name("s6.safetensors"))
    assert problems(folder) == {}
    assert [str(note.file) for note in looked_at(folder).notes] == ["weights/s6.safetensors"]
    kept.mkdir()
    (problem,) = problems(folder)["s5"]
    assert "its weights, weights/s5.safetensors, cannot be read" in problem


ODD = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just("\ud800")
ANYTHING = st.recursive(ODD, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner))


def places(content: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every part of a record."""
    inner = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [at, *(place for key, part in inner for place in places(part, (*at, key)))]


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), sealed=st.booleans())
def test_whatever_a_file_holds_nothing_breaks_and_the_others_are_told(
    tmp_path: Path, make_sound: MakeRecord, data: st.DataObject, sealed: bool
) -> None:
    if not (tmp_path / "sound").exists():
        (tmp_path / "sound").touch()
        for seed in range(2):
            Store(tmp_path).write(*make_sound(seed))
    content = make_sound(1)[0].as_json()
    *way, last = data.draw(st.sampled_from([place for place in places(content) if place]))
    part: Any = content
    for key in way:
        part = part[key]
    before = json.dumps(part[last])
    part[last] = data.draw(ANYTHING)
    if sealed:
        with suppress(ValueError):  # what has no canonical form cannot be sealed
            content["digest"] = content_digest(content)
    file_of(tmp_path, 1).write_text(json.dumps(content), "utf-8")
    done = looked_at(tmp_path)
    assert file_of(tmp_path, 0).name in done.records
    assert json.dumps(part[last]) == before or done.problems or sealed


def test_a_listed_file_that_the_audit_cannot_read_is_a_problem(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if whoever reads its content could: the manifest binds the bytes."""
    write_trials(folder / TRIALS / "r.parquet", TrialsFile(recipe="r", rule={}, setups={}, trials=[]))
    monkeypatch.setattr("benchsuite.verify.audit.LARGEST_TRIALS", 10)
    audit = audit_folder(folder, RULES)
    problem, _ = map(str, audit.problems)  # the other one is that its rule is none
    assert problem.startswith("trials/r.parquet: it cannot be read (")
    assert "at most 10 are read" in problem
