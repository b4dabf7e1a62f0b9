"""Files of tuning trials."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchsuite.errors import RecordError
from benchsuite.folders import TRIALS
from benchsuite.paths import baselines
from benchsuite.planning.recipe import read_recipe
from benchsuite.records.schema import MethodPart, TunedBy
from benchsuite.records.trials import (
    FIRST_SEED,
    Trial,
    TrialsFile,
    by_subject,
    changed_rule,
    read_trials,
    trials_digest,
    with_shipped,
    write_trials,
)
from benchsuite.verify.audit_trials import check_trials
from benchsuite.verify.redraw import check_draws


def trial(number, score=0.5, method="infonce", **more):
    part = MethodPart(
        name=method,
        title=method,
        version=1,
        hyperparameters={"tau": 0.1 + number},
        code="c",
        owner="m",
        learning_rate=1e-3,
    )
    about = {"run_id": f"{method}{number}", "setup_id": "s", "backbone": "RN50", "seed": FIRST_SEED + number}
    return Trial(method=part, number=number, score=score, metrics={"validation.t2i_r10": score or 0.0}, **about, **more)


def test_trials_come_back_in_order(tmp_path):
    trials = [trial(1), trial(0, None, error="diverged"), trial(0, method="cwcl", fixed={"base": "clip"})]
    content = TrialsFile(recipe="r", rule={"trials": 2}, setups={}, trials=trials)
    write_trials(tmp_path / "a" / "r.parquet", content)
    assert read_trials(tmp_path / "a" / "r.parquet") == content.model_copy(
        update={"trials": [trials[2], trials[1], trials[0]]}
    )


def test_the_same_trials_are_the_same_bytes(tmp_path):
    for name, trials in (("a", [trial(0), trial(1)]), ("b", [trial(1), trial(0)])):
        write_trials(tmp_path / name, TrialsFile(recipe="r", rule={}, setups={}, trials=trials))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_digest_covers_which_trials_there_are():
    assert trials_digest([trial(1), trial(0)]) == trials_digest([trial(0), trial(1)]) != trials_digest([trial(0)])


def test_shipped_trials_of_runs_are_added_and_no_others(tmp_path, monkeypatch):
    used, other, own = ([trial(n, method=name) for n in (0, 1, 2)] for name in ("infonce", "cwcl", "temo"))
    write_trials(tmp_path / "r.parquet", TrialsFile(recipe="r", rule={}, setups={}, trials=[*used, *other, *own]))
    monkeypatch.setattr("benchsuite.records.trials.shipped_trials", lambda: [tmp_path / "r.parquet"])
    files = {"r": TrialsFile(recipe="r", rule={"trials": 3}, setups={}, trials=own)}
    tuned = [
        TunedBy(trials=2, trial=0, score=0.5, digest=trials_digest(used[:2])),
        TunedBy(trials=3, trial=0, score=0.5, digest=trials_digest(own)),
    ]
    assert with_shipped(files, tuned)["r"] == files["r"].model_copy(update={"trials": [*own, *used]})
    assert with_shipped({}, tuned[:1])["r"].trials == used
    assert with_shipped(files, tuned[1:]) == files


def test_own_rate_and_length_are_part_of_the_method():
    part = trial(0).method
    changed = [part.model_copy(update=change) for change in ({"learning_rate": None}, {"longer": 2.0})]
    assert len({part.method_id, *(other.method_id for other in changed)}) == 3


@pytest.mark.parametrize("content", [b"nothing", None])
def test_another_file_is_refused(tmp_path, content):
    if content is None:
        pq.write_table(pa.table({"a": [1]}), tmp_path / "r")
    else:
        (tmp_path / "r").write_bytes(content)
    with pytest.raises(RecordError, match="not a file of trials"):
        read_trials(tmp_path / "r")


def test_a_line_without_a_method_is_refused(tmp_path):
    write_trials(tmp_path / "r", TrialsFile(recipe="r", rule={}, setups={}, trials=[trial(0)]))
    table = pq.read_table(tmp_path / "r")
    position = table.schema.get_field_index("method")
    pq.write_table(table.set_column(position, "method", pa.array(["{}"])), tmp_path / "r")
    with pytest.raises(RecordError, match="not a file of trials"):
        read_trials(tmp_path / "r")


def test_a_file_under_the_name_of_another_recipe_is_refused(tmp_path):
    write_trials(tmp_path / "other.parquet", TrialsFile(recipe="r", rule={}, setups={}, trials=[]))
    with pytest.raises(RecordError, match=r"of recipe r; call it r\.parquet"):
        read_trials(tmp_path / "other.parquet")


def test_another_format_is_refused(tmp_path):
    write_trials(tmp_path / "r", TrialsFile(recipe="r", rule={}, setups={}, trials=[]))
    table = pq.read_table(tmp_path / "r")
    about = json.loads(table.schema.metadata[b"benchsuite"]) | {"format": 0}
    pq.write_table(table.replace_schema_metadata({"benchsuite": json.dumps(about)}), tmp_path / "r")
    with pytest.raises(RecordError, match="another format"):
        read_trials(tmp_path / "r")


SHIPPED = sorted((baselines() / TRIALS).glob("*.parquet"))


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
def test_the_trials_that_are_included_are_valid_and_by_the_recipe_s_rule(file):
    content = read_trials(file)
    rule = read_recipe(file.stem).tuning
    assert content.trials
    assert not changed_rule(content, rule.model_dump(mode="json"))
    assert not [*check_trials(content, file.name), *check_draws(content, file.name)]
    for trials in by_subject([content]).values():
        assert [trial.number for trial in trials] == list(range(rule.trials))
