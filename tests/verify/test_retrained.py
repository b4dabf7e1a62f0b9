import statistics
from collections.abc import Sequence

import pytest
from scipy import stats
from support.made_records import MakeRecord

from benchsuite.records.schema import Record, Result
from benchsuite.verify.retrained import Again

HERE = {
    "processor": "A",
    "device": "cpu",
    "threads": 1,
    "processes": 1,
    "platform": "Linux",
    "packages": {"torch": "2"},
}
OTHER_SEEDS = (0.30, 0.31, 0.33, 0.32)


def record(
    make: MakeRecord, value: float, seed: int = 0, processor: str = "A", r5: float = 0.9, **digests: str
) -> Record:
    result = Result(task="retrieval", version=1, metrics={"t2i_r1": value, "t2i_r5": r5}, counts={"t2i": 100})
    made, _ = make(seed, results={"retrieval": result}, environment={**HERE, "processor": processor})
    return made.model_copy(update={"digests": {**made.digests, **digests}})


def again(make: MakeRecord, value: float, others: Sequence[float] = OTHER_SEEDS, **changes: str) -> Again:
    """A record of .32, and the same run now."""
    row = [record(make, other, seed) for seed, other in enumerate(others, 1)]
    return Again("file.json", record(make, 0.32), record(make, value, **changes), row)


def texts(again: Again) -> tuple[list[str], list[str]]:
    return [str(problem) for problem in again.problems()], [str(note) for note in again.notes()]


def test_equal_numbers_are_noted(make_record: MakeRecord) -> None:
    assert texts(again(make_record, 0.32)) == ([], ["file.json: run again: all 2 numbers are equal in every digit"])


def test_on_the_same_kind_of_machine_every_digit_must_be_equal(make_record: MakeRecord) -> None:
    (problem,), _ = texts(again(make_record, 0.32 + 1e-9))
    assert "1 of its numbers differ on the same kind of machine" in problem
    assert "retrieval.t2i_r1 is 0.32 in the record and 0.32 now" in problem


@pytest.mark.parametrize("processor", ["A", "B"])
def test_the_number_that_moved_most_is_named(make_record: MakeRecord, processor: str) -> None:
    """Up or down."""
    both = Again(
        "file.json", record(make_record, 0.4, r5=0.9), record(make_record, 0.1, processor=processor, r5=0.92), []
    )
    assert [moved.measure for moved in both.moved] == ["retrieval.t2i_r1", "retrieval.t2i_r5"]
    problems, notes = texts(both)
    assert "retrieval.t2i_r1 is 0.4 in the record and 0.1 now" in "".join(problems + notes)


def test_metrics_are_told_before_measures_however_far_these_moved(make_record: MakeRecord) -> None:
    def counted(value: float, iterations: int, processor: str) -> Record:
        made = record(make_record, value, processor=processor)
        result = made.results["retrieval"].model_copy(update={"measures": {"iterations": iterations}})
        return made.model_copy(update={"results": {"retrieval": result}})

    both = Again("file.json", counted(0.32, 35, "A"), counted(0.33, 350, "B"), [])
    assert [moved.measure for moved in both.moved] == ["retrieval.t2i_r1", "retrieval.iterations"]
    assert "iterations" not in "".join(texts(both)[1])


def test_numbers_are_compared_by_value(make_record: MakeRecord) -> None:
    assert not Again("file.json", record(make_record, 0.32), record(make_record, float("0.32")), []).moved


def test_three_other_seeds_can_judge(make_record: MakeRecord) -> None:
    (problem,), _ = texts(again(make_record, 0.75, others=(0.3, 0.31, 0.305), processor="B"))
    assert "(3 other seeds)" in problem


@pytest.mark.parametrize("others", ["", "z"])
def test_digests_differ_either_way(make_record: MakeRecord, others: str) -> None:
    (problem,), _ = texts(again(make_record, 0.32, data=others))
    assert "the digest of data is another" in problem


def test_the_limit_is_that_of_the_difference_of_two_trainings(make_record: MakeRecord) -> None:
    """At one error in a thousand records of two numbers: a t of three degrees of freedom at 0.99975."""
    spread = statistics.stdev(OTHER_SEEDS)
    expected = stats.t.ppf(1 - 0.001 / 4, 3) * spread * 2**0.5
    assert again(make_record, 0.3).limit("retrieval.t2i_r1") == pytest.approx(expected, rel=1e-9)


def test_elsewhere_numbers_may_lie_as_far_apart_as_seeds(make_record: MakeRecord) -> None:
    problems, (note, number) = texts(again(make_record, 0.35, processor="B"))
    assert not problems
    assert "(processor not as then): 1 of 2 numbers moved; none farther than trainings" in note
    assert "t2i_r1 is 0.32 in the record and 0.35 now; other seeds: 0.315, deviation 0.013" in number


def test_elsewhere_a_number_that_no_other_training_would_give_is_a_problem(make_record: MakeRecord) -> None:
    (problem,), (number,) = texts(again(make_record, 0.75, processor="B"))
    assert "other seeds: 0.315" in number
    assert "0.75 now, farther than trainings of its row lie apart (4 other seeds)" in problem


def test_few_seeds_judge_nothing_and_the_note_says_so(make_record: MakeRecord) -> None:
    problems, (note, _) = texts(again(make_record, 0.75, others=(0.3, 0.31), processor="B"))
    assert not problems
    assert note.endswith("its row has too few other seeds to judge (2)")


@pytest.mark.parametrize("processor", ["A", "B"])
def test_other_data_or_batches_are_a_problem_on_any_machine(make_record: MakeRecord, processor: str) -> None:
    (problem,), _ = texts(again(make_record, 0.32, processor=processor, data="other"))
    assert "the digest of data is another" in problem


@pytest.mark.parametrize("processor", ["A", "B"])
def test_a_number_that_no_run_gives_is_a_problem(make_record: MakeRecord, processor: str) -> None:
    invented = record(make_record, 0.32)
    result = invented.results["retrieval"]
    more = result.model_copy(update={"measures": {"beauty": 3.0}})
    invented = invented.model_copy(update={"results": {"retrieval": more}})
    (problem,), _ = texts(Again("file.json", invented, record(make_record, 0.32, processor=processor), []))
    assert "retrieval.beauty: not in both" in problem


def test_seeds_that_are_all_equal_judge_nothing(make_record: MakeRecord) -> None:
    problems, (note, _) = texts(again(make_record, 0.33, others=(0.3, 0.3, 0.3, 0.3), processor="B"))
    assert not problems
    assert note.endswith("but for retrieval.t2i_r1, equal under all of them")
