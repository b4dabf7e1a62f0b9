from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchsuite.errors import UsageError
from benchsuite.evaluation import multi_instance as module
from benchsuite.evaluation.multi_instance import Actions, relevancy, relevancy_between, relevancy_parts

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "epic100"
CLIPS = """narration_id,narration,verb_class,all_noun_classes
a_1,take cup,0,[2]
a_2,wash cup and lid,1,"[2, 3]"
a_3,take lid,0,[3]
"""
SENTENCES = "narration_id,narration\na_2,wash cup and lid\na_1,something else\n"
ITEM = st.tuples(st.integers(0, 2), st.sets(st.integers(0, 5), min_size=1, max_size=4))


def write(folder: Path, clips: str = CLIPS, sentences: str = SENTENCES) -> tuple[Path, Path]:
    files = folder / "clips.csv", folder / "sentences.csv"
    for file, text in zip(files, (clips, sentences), strict=True):
        file.write_text(text, "utf-8")
    return files


def test_verbs_and_nouns_count_half_each_and_sentences_go_by_id(tmp_path: Path) -> None:
    assert relevancy(*write(tmp_path)).tolist() == [[0.25, 1.0], [1.0, 0.25], [0.25, 0.5]]


def test_names_of_files_will_do(tmp_path: Path) -> None:
    clips, sentences = write(tmp_path)
    assert relevancy(str(clips), str(sentences)).dtype == np.float64


def test_a_noun_said_twice_counts_once(tmp_path: Path) -> None:
    twice = CLIPS.replace("[2, 3]", "[2, 3, 2, 3]")
    assert relevancy(*write(tmp_path, twice)).tolist() == relevancy(*write(tmp_path)).tolist()


@given(st.lists(ITEM, min_size=1, max_size=6), st.lists(ITEM, min_size=1, max_size=6))
def test_relevancy_agrees_with_sets(rows: list[tuple[int, set[int]]], columns: list[tuple[int, set[int]]]) -> None:
    one, two = (Actions.of([v for v, _ in some], [sorted(n) for _, n in some]) for some in (rows, columns))
    found, (parts, whole) = relevancy_between(one, two), relevancy_parts(one, two)
    for i, (verb, nouns) in enumerate(rows):
        for j, (other_verb, other_nouns) in enumerate(columns):
            alike = 0.5 * len(nouns & other_nouns) / len(nouns | other_nouns)
            assert found[i, j] == 0.5 * (verb == other_verb) + alike
            exactly = Fraction(verb == other_verb) + Fraction(len(nouns & other_nouns), len(nouns | other_nouns))
            assert Fraction(int(parts[i, j]), whole) == exactly / 2


def test_more_nouns_than_exact_sums_allow_are_refused() -> None:
    many = Actions.of([0], [list(range(30))])
    with pytest.raises(UsageError, match="60 noun classes in either, too many for exact sums"):
        relevancy_parts(many, many)


def test_blocks_do_not_change_relevancies(monkeypatch: pytest.MonkeyPatch) -> None:
    actions = Actions.of([0, 1, 0, 1, 2], [[0], [1, 2], [2], [0, 2], [4]])
    whole = relevancy_between(actions, actions)
    monkeypatch.setattr(module, "BLOCK", 2)
    assert (relevancy_between(actions, actions) == whole).all()


def test_real_files_have_a_full_answer_for_every_query() -> None:
    clips, sentences = (DATA / f"EPIC_100_retrieval_test{end}.csv" for end in ("", "_sentence"))
    if not clips.is_file():
        pytest.skip(f"{clips} is not here: the shared data is not part of the repository")
    found = relevancy(clips, sentences)
    assert found.shape == (9668, 3842)
    assert (found == 1).any(0).all()
    assert (found == 1).any(1).all()
    assert (found.min(), found.max()) == (0, 1)


@pytest.mark.parametrize(
    ("clips", "sentences", "says"),
    [
        (CLIPS.replace("verb_class", "verb_clas"), SENTENCES, r'clips\.csv: .*"verb_class".*Did you mean "verb_clas"'),
        (CLIPS.replace("all_noun_classes", "nouns"), SENTENCES, r'clips\.csv: there is no column "all_noun_classes"'),
        (CLIPS, SENTENCES.replace("narration_id", "id"), r'sentences\.csv: there is no column "narration_id"'),
        (CLIPS.replace("a_3", "a_1"), SENTENCES, r'clips\.csv, row 4: narration_id "a_1" stands there twice'),
        (CLIPS, SENTENCES + "a_2,again\n", r'sentences\.csv, row 4: narration_id "a_2" stands there twice'),
        (CLIPS, SENTENCES.replace("a_2", "a_9"), r'sentences\.csv: narration_id "a_9" is not in .*clips\.csv'),
        (CLIPS.replace(",0,[3]", ",zero,[3]"), SENTENCES, r'clips\.csv, row 4: verb_class "zero"'),
        (CLIPS.replace("[3]", "[]"), SENTENCES, r'row 4: all_noun_classes "\[\]" is not a list'),
        (CLIPS.replace("[3]", "['lid']"), SENTENCES, "row 4: all_noun_classes"),
        (CLIPS.replace("[3]", "[-3]"), SENTENCES, "row 4: all_noun_classes"),
        (CLIPS.replace(",[3]", ""), SENTENCES, 'row 4: there is no value for "all_noun_classes"'),
        (CLIPS.splitlines()[0] + "\n", SENTENCES, r"clips\.csv: there are no rows"),
    ],
)
def test_files_that_cannot_be_read_are_refused_by_name(clips: str, sentences: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=says):
        relevancy(*write(tmp_path, clips, sentences))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="nowhere"):
        relevancy(tmp_path / "nowhere.csv", tmp_path / "nothing.csv")


@pytest.mark.parametrize("nouns", [[[1], []], [[1], [-1]]])
def test_an_item_without_nouns_is_refused(nouns: list[list[int]]) -> None:
    with pytest.raises(UsageError, match="item 1 has noun classes"):
        Actions.of([0, 0], nouns)
