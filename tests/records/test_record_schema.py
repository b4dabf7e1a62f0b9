import json
import math
from typing import Any

import pytest
from pydantic import ValidationError
from support.made_records import MakeRecord

from benchsuite.canonical import short_digest
from benchsuite.records.schema import (
    MethodPart,
    Record,
    Result,
    Resumption,
    Sidecar,
    StoredNumber,
    TunedBy,
    content_digest,
    contradictions,
    of_each_search,
)


def edited(record: Record, path: str, value: Any) -> dict[str, Any]:
    content = record.as_json()
    *parents, last = path.split(".")
    part = content
    for key in parents:
        part = part[key]
    part[last] = value
    return content


def answering(**metrics: float) -> dict[str, Result]:
    return {"retrieval": Result(task="retrieval", version=1, metrics=metrics, counts={})}


def test_what_was_sealed_reads_back_equal(make_record: MakeRecord) -> None:
    record, _ = make_record()
    assert Record.model_validate(json.loads(json.dumps(record.as_json()))) == record


def test_a_record_from_before_a_setting_existed_is_stored_as_it_was_sealed(make_record: MakeRecord) -> None:
    content = make_record()[0].as_json()
    del content["setup"]["training"]["compiled"], content["setup"]["text"]["pool"]
    content["digest"] = content_digest(content)
    assert Record.model_validate(content).as_json() == content
    assert Record.unchecked(content).as_json() == content


def test_records_of_one_setup_share_it_and_another_is_another(make_record: MakeRecord) -> None:
    """A number that only looks alike, such as true for 1, is not taken for the setup that was read before."""
    content = make_record()[0].as_json()
    options = content["setup"]["data"]["options"]
    read = [
        Record.unchecked(
            {**content, "setup": {**content["setup"], "data": {**content["setup"]["data"], "options": some}}}
        )
        for some in (options, dict(options), {**options, "train": 1}, {**options, "train": True})
    ]
    assert read[0].setup is read[1].setup
    assert len({record.setup.setup_id for record in read}) == 3


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("results.retrieval.metrics.i2t_r1", 0.3),
        ("curves.loss", [1.0, 1.0]),
        ("ranks.sha256", "0"),
        ("method.title", "Ours"),
        ("digest", "0" * 64),
        ("digest", ""),
    ],
)
def test_an_edited_record_is_refused(make_record: MakeRecord, path: str, value: Any) -> None:
    with pytest.raises(ValidationError, match="edited, or damaged"):
        Record.model_validate(edited(make_record()[0], path, value))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("seed", 7, "run_id is .*, but its setup, method and seed give"),
        ("run_id", "0" * 16, "run_id is 0{16}, but its setup, method and seed give"),
        ("setup.optimizer.lr", 0.5, "setup_id is .*, but its setup gives"),
        ("setup_id", "0" * 16, "setup_id is 0{16}, but its setup gives"),
        ("method.hyperparameters.tau", 0.5, "method_id is .*, but its method gives"),
        ("method.version", 2, "method_id is .*, but its method gives"),
        ("ranks.file", "../elsewhere.ranks.npz", "ranks lie beside their record"),
        ("weights", {"file": "../x.pt", "sha256": "0"}, "weights lie in the folder weights"),
        ("results.retrieval.version", 2, "its result is of retrieval, version 2, but .* of retrieval, version 1"),
        ("results.retrieval.task", "other", "its result is of other, version 1, but .* of retrieval, version 1"),
        ("results.retrieval.counts.i2t", 0, "counts.i2t = 0 is below 1"),
        ("results", {}, "retrieval stands in setup alone"),
        ("results.extra", {"task": "x", "version": 1, "metrics": {}, "counts": {}}, "extra stands in results alone"),
        ("curves", {}, "curves have no step"),
        ("curves", {"loss": [1.0]}, "curves have no step"),
        ("curves", {"step": [0, 1], "loss": [1.0]}, "curves.loss has 1 values at 2 steps"),
        ("note", "hello", "Extra inputs"),
        ("schema", 2, "Input should be 1"),
    ],
)
def test_a_new_seal_does_not_hide_a_contradiction(make_record: MakeRecord, path: str, value: Any, says: str) -> None:
    content = edited(make_record()[0], path, value)
    with pytest.raises(ValidationError, match=says):
        Record.model_validate({**content, "digest": content_digest(content)})


def test_a_key_that_the_schema_gains_later_breaks_no_seal(make_record: MakeRecord) -> None:
    content = make_record()[0].as_json()
    for result in content["results"].values():
        del result["measures"]
    older = Record.model_validate({**content, "digest": content_digest(content)})
    assert older.results["retrieval"].measures == {}


def test_a_recall_that_falls_is_refused(make_record: MakeRecord) -> None:
    with pytest.raises(ValidationError, match=r"t2i_r5 = 0\.5 is above t2i_r10 = 0\.4"):
        make_record(results=answering(t2i_r1=0.1, t2i_r10=0.4, t2i_r5=0.5))


@pytest.mark.parametrize("value", [1.01, -0.01, math.nan, math.inf])
def test_what_is_no_fraction_is_refused(make_record: MakeRecord, value: float) -> None:
    with pytest.raises(ValidationError, match="is not between 0 and 1"):
        make_record(results=answering(i2t_r1=value))


def test_equal_recalls_at_all_cuts_are_sound() -> None:
    assert contradictions({"top1": 0.0, "top3": 0.0, "top10": 1.0, "r_mean": 0.3}) == []


def test_one_query_is_enough_of_a_count(make_record: MakeRecord) -> None:
    answer = Result(task="retrieval", version=1, metrics={}, counts={"i2t": 1})
    assert make_record(results={"retrieval": answer})[0].results["retrieval"].counts == {"i2t": 1}


@pytest.mark.parametrize("own", [{}, {"longer": 2.0}, {"longer": 0.5}, {"learning_rate": 0.1}])
def test_a_rows_own_settings_enter_the_method_id_only_where_it_has_some(own: dict[str, float]) -> None:
    identity = {"name": "ours", "version": 3, "hyperparameters": {"tau": 0.1}}
    part = MethodPart(title="Ours", owner="us", code="c", **identity, **own)
    assert part.method_id == short_digest({**identity, **own})


def test_what_a_run_did_not_read_of_its_setup_follows_from_its_digests(make_record: MakeRecord) -> None:
    plain, digests = make_record()[0], make_record()[0].digests
    assert plain.unread == {"clusters", "experts.image", "experts.text"}
    read = make_record(digests={**digests, "clusters": "c", "text_expert": "t"})[0]
    assert read.unread == {"experts.image"}
    assert plain.configuration == (plain.method_id,)
    assert read.configuration == (read.method_id, "clusters c", "text_expert t")
    drawn = read.setup.model_copy(update={"data": read.setup.data.model_copy(update={"redrawn": "seed"})})
    assert read.model_copy(update={"setup": drawn}).configuration == plain.configuration, "each replicate has its own"


def test_paraphrases_that_a_run_read_make_it_another_run(make_record: MakeRecord) -> None:
    plain = make_record()[0]
    read = make_record(digests={**plain.digests, "paraphrases": "p"})[0]
    assert (read.setup_id, read.method_id) == (plain.setup_id, plain.method_id)
    identity = {"setup": plain.setup_id, "method": plain.method_id, "seed": 0}
    assert plain.run_id == short_digest(identity)
    assert read.run_id == short_digest({**identity, "paraphrases": "p"})


def test_other_searches_are_stored_only_where_there_are_any_and_each_once(make_record: MakeRecord) -> None:
    short, long = (TunedBy(trials=n, trial=0, score=0.5, digest="d") for n in (2, 4))
    assert "also_tuned" not in make_record(tuned=short)[0].as_json()
    both = make_record(tuned=short, also_tuned=[long])[0]
    assert [one["trials"] for one in both.as_json()["also_tuned"]] == [4]
    assert [(one.tuned, one.also_tuned) for one in of_each_search(both)] == [(short, []), (long, [])]
    for tuned, also in ((None, [short]), (short, [short.model_copy(update={"score": 0.9})]), (short, [long, long])):
        with pytest.raises(ValidationError, match="also_tuned has a search twice, or tuned has none"):
            make_record(tuned=tuned, also_tuned=also)


def test_resumptions_and_weights_are_stored_only_where_there_are_any(make_record: MakeRecord) -> None:
    plain = make_record()[0].as_json()
    assert not {"resumptions", "weights"} & plain.keys()
    resumed = Resumption(step=3, from_processes=1, to_processes=2)
    stored = make_record(resumptions=[resumed], weights=Sidecar(file="x.pt", sha256="0"))[0].as_json()
    assert stored["resumptions"] == [{"step": 3, "from_processes": 1, "to_processes": 2}]
    assert stored["weights"] == {"file": "x.pt", "sha256": "0"}


def test_numbers_are_metrics_and_measures_of_all_protocols(make_record: MakeRecord) -> None:
    answer = Result(task="retrieval", version=1, metrics={"r1": 0.5}, measures={"gap": 7.0}, counts={})
    record = make_record(results={"retrieval": answer})[0]
    assert [*record.numbers()] == [
        StoredNumber("retrieval", "retrieval", "r1", "metric", 0.5),
        StoredNumber("retrieval", "retrieval", "gap", "measure", 7.0),
    ]
    assert record.values() == {"retrieval.r1": 0.5, "retrieval.gap": 7.0}
    assert {name: record.value(name) for name in record.values()} == record.values()
    assert [record.value(name) for name in ("retrieval.r5", "other.r1", "r1", "")] == [None] * 4
