"""Files of tuning trials."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support.made_trials import RULE

from benchsuite.errors import RecordError, UsageError
from benchsuite.records.schema import MethodPart, row_id, trial_seed
from benchsuite.records.trials import Trial, TrialsFile, read_trials, require_rule, trials_digest, write_trials


def trial(number, score=0.5, method="infonce", replicate=0, **more):
    part = MethodPart(
        name=method,
        title=method,
        version=1,
        hyperparameters={"tau": 0.1 + number},
        code="c",
        owner="m",
        learning_rate=1e-3,
    )
    about = {"run_id": f"{method}{number}", "setup_id": "s", "label": "RN50", "seed": trial_seed(replicate, number)}
    about |= {"regime": "tuned", "replicate": replicate, "metrics": {"validation.t2i_r10": score or 0.0}}
    return Trial(method=part, number=number, score=score, **about, **more)


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


def test_each_replicate_is_a_search_of_its_own():
    assert trial(0).subject == trial(1).subject != trial(0, replicate=1).subject
    seeds = [trial(number, replicate=replicate).seed for replicate in range(3) for number in range(1000)]
    assert len({*seeds}) == len(seeds)
    assert min(seeds) == 1000


def test_a_row_is_the_method_but_for_what_each_replicate_searches():
    one, other = trial(0).method, trial(1).method
    assert one.method_id != other.method_id
    assert row_id(one, ["tau"], 16) == row_id(other, ["tau"], 16)
    assert len({row_id(one, ["tau"], 16), row_id(one, ["tau"], 8), row_id(one, [], 16), one.method_id}) == 4
    assert row_id(one, ["tau"], 16) != row_id(one.model_copy(update={"longer": 2.0}), ["tau"], 16)


def test_a_digest_covers_which_trials_there_are():
    assert trials_digest([trial(1), trial(0)]) == trials_digest([trial(0), trial(1)]) != trials_digest([trial(0)])


def test_a_file_under_the_name_of_another_recipe_is_refused(tmp_path):
    write_trials(tmp_path / "other.parquet", TrialsFile(recipe="r", rule={}, setups={}, trials=[]))
    with pytest.raises(RecordError, match=r"of recipe r; call it r\.parquet"):
        read_trials(tmp_path / "other.parquet")


@pytest.mark.parametrize("key", sorted({*RULE} - {"trials", "longer"}))
def test_trials_of_another_rule_are_refused_and_of_other_numbers_are_not(tmp_path, key):
    content = TrialsFile(recipe="r", rule=RULE, setups={}, trials=[])
    require_rule(content, {**RULE, "trials": 3, "longer": []}, tmp_path / "r")
    with pytest.raises(UsageError, match=key):
        require_rule(content, {**RULE, key: "another"}, tmp_path / "r")


@pytest.mark.parametrize(
    ("column", "text", "says"),
    [
        ("method", '{"name": "ts", "name": "temo"}', 'key "name" is there twice'),
        ("method", f'{{"version": 1{"0" * 400}}}', "a whole number of 401 digits"),
        ("cost", '{"seconds": 1, "seconds": 2}', 'key "seconds" is there twice'),
        ("metrics", '{"a": 1, "a": 2}', 'key "a" is there twice'),
    ],
)
def test_texts_in_it_are_as_strict_as_those_of_records(tmp_path, column, text, says):
    file = tmp_path / "r.parquet"
    write_trials(file, TrialsFile(recipe="r", rule={}, setups={}, trials=[trial(0)]))
    table = pq.read_table(file)
    pq.write_table(table.set_column(table.column_names.index(column), column, pa.array([text])), file)
    with pytest.raises(RecordError, match=says):
        read_trials(file)


def test_another_format_is_refused(tmp_path):
    write_trials(tmp_path / "r", TrialsFile(recipe="r", rule={}, setups={}, trials=[]))
    table = pq.read_table(tmp_path / "r")
    about = json.loads(table.schema.metadata[b"benchsuite"]) | {"format": 0}
    pq.write_table(table.replace_schema_metadata({"benchsuite": json.dumps(about)}), tmp_path / "r")
    with pytest.raises(RecordError, match="another format"):
        read_trials(tmp_path / "r")
