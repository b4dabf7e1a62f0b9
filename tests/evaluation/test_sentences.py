from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from scipy.stats import spearmanr
from support.real_files import write_senteval
from torch import Tensor
from torch.nn.functional import normalize

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset
from benchsuite.data.real.senteval import Sentences, SentEval
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.sentences import _by_folds, correct


class Letters:
    """A sentence as normalised counts of its characters."""

    def texts(self, texts: Sequence[str], features: bool = False) -> Tensor:
        rows = torch.zeros(len(texts), 128)
        for i, text in enumerate(texts):
            for letter in text:
                rows[i, ord(letter) % 128] += 1
        return normalize(rows, dim=-1)


class Constant:
    def __init__(self, value: float = 1.0) -> None:
        self._value = value

    def texts(self, texts: Sequence[str], features: bool = False) -> Tensor:
        return torch.full((len(texts), 4), self._value / 2)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> SentEval:
    found = create_dataset("senteval", folder=str(write_senteval(tmp_path_factory.mktemp("senteval"))))
    assert isinstance(found, SentEval)
    return found


def test_pairs_without_a_gold_score_do_not_count(data: SentEval) -> None:
    pairs = data.pairs("STS12")["MSRvid"]
    assert list(pairs.a) == ["a1 word", "a3 word", "a4 word", "a5 word"]
    assert list(pairs.b) == ["b0 word", "b2 word", "b3 word", "b4 word"]
    assert pairs.gold.tolist() == [4.5, 1, 1, 0.5]


def test_columns_of_the_benchmark_and_of_sick(data: SentEval) -> None:
    stsb, sick = data.pairs("STSBenchmark")["test"], data.pairs("SICK-R")["test"]
    assert (stsb.a[1], stsb.b[1], stsb.gold[1]) == ("a1 word", 'b1 "word', 1.0)
    assert (sick.a[4], sick.b[4], sick.gold.tolist()) == ("a4", "b4", [0, 0.5, 1, 1.5, 2])


def test_every_set_is_measured_and_averaged(data: SentEval) -> None:
    scores = create_task("sts").evaluate(Letters(), data)  # type: ignore[arg-type]
    pairs = [
        one for subset in data.pairs("STS13").values() for one in zip(subset.a, subset.b, subset.gold, strict=True)
    ]
    similar = [float((Letters().texts([a]) * Letters().texts([b])).sum()) for a, b, _ in pairs]
    assert scores.measures["STS13"] == pytest.approx(
        spearmanr(np.round(similar, 12), [g for *_, g in pairs]).statistic, abs=0.2
    )
    sets = [value for name, value in scores.measures.items() if name != "average"]
    assert len(sets) == 7
    assert scores.measures["average"] == pytest.approx(np.mean(sets))
    assert scores.counts["STS12"] == 20
    assert scores.metrics == {}


def test_correlations_follow_from_the_ranks_that_are_kept(data: SentEval) -> None:
    task = create_task("sts")
    scores = task.evaluate(Letters(), data)  # type: ignore[arg-type]
    again = task.from_ranks(scores.ranks)
    assert (again.measures, again.counts) == (scores.measures, scores.counts)
    changed = {**scores.ranks, "STS13_cosine": scores.ranks["STS13_cosine"] + np.eye(1, 12, dtype=int)[0]}
    assert task.from_ranks(changed).measures["STS13"] != scores.measures["STS13"]


def test_a_model_that_maps_all_to_one_point_has_no_correlation(data: SentEval) -> None:
    scores = create_task("sts").evaluate(Constant(), data)  # type: ignore[arg-type]
    assert set(scores.measures.values()) == {0.0}


@pytest.mark.parametrize("task", ["sts", "sentence-transfer"])
def test_nan_features_are_refused(data: SentEval, task: str) -> None:
    with pytest.raises(UsageError, match="not finite"):
        create_task(task).evaluate(Constant(float("nan")), data)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("task", "read"),
    [("sts", r"sentence pairs \(datasets senteval, scenes-sts\)"), ("sentence-transfer", "dataset senteval")],
)
def test_other_data_and_other_sets_are_refused(
    task: str, read: str, pictures: PairDataset, data: SentEval, fake: Any
) -> None:
    with pytest.raises(UsageError, match=f"{task}: reads {read}, not pictures"):
        create_task(task).evaluate(fake([], {}), pictures)
    with pytest.raises(UsageError, match=r'senteval: .* set "STS11" does not exist'):
        create_task(task, sets=["STS11"]).evaluate(Letters(), data)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="sets is empty"):
        create_task(task, sets=[]).evaluate(Letters(), data)  # type: ignore[arg-type]


def test_every_transfer_task_is_measured(data: SentEval) -> None:
    scores = create_task("sentence-transfer", folds=2).evaluate(Letters(), data)  # type: ignore[arg-type]
    assert scores.counts == {"MR": 12, "CR": 12, "SUBJ": 12, "MPQA": 12, "SST2": 8, "TREC": 6, "MRPC": 8}
    assert scores.metrics["MR"] == 1.0
    assert scores.metrics["average"] == pytest.approx(np.mean([scores.metrics[name] for name in scores.counts]))
    assert scores.metrics["TREC"] == float((scores.ranks["TREC"] == 1).mean())


def test_a_pair_of_sentences_is_its_difference_and_its_product() -> None:
    """As SentEval reads MRPC: |u - v| and u * v; features are scaled to a mean square of one."""
    u, v = ((Letters().texts([text])[0].double().numpy() * np.sqrt(128)) for text in ("aab", "abc"))
    pairs = Sentences(["aab"], np.array([1]), ["abc"])
    (points,) = create_task("sentence-transfer")._points(Letters(), pairs, "MRPC")  # type: ignore[attr-defined]
    np.testing.assert_allclose(points, [*np.abs(u - v), *(u * v)], rtol=1e-6)
    assert points[:128].any()


def separable(n: int, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    draw = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return draw.normal(size=(n, 3)) + 0.7 * y[:, None], y


def test_the_regularisation_rule_is_sentevals_written_out() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold

    x, y = separable(60)
    test, truth = separable(30, seed=1)
    strengths = [0.5, 1, 2, 4, 8, 16, 32]
    folds = StratifiedKFold(n_splits=3, shuffle=True, random_state=1111)
    scores = []
    for c in strengths:
        each = [LogisticRegression(C=c).fit(x[a], y[a]).score(x[b], y[b]) for a, b in folds.split(x, y)]
        scores.append(round(100 * np.mean(each), 2))
    best = strengths[int(np.argmax(scores))]
    assert _by_folds(x, y, strengths, 3) == best
    expected = LogisticRegression(C=best).fit(x, y).predict(test) == truth
    found = correct({"train": x, "test": test}, {"train": y, "test": truth}, 3, "TREC")
    assert found.tolist() == expected.tolist()


def test_a_class_too_small_for_the_folds_is_refused() -> None:
    x, y = separable(6)
    with pytest.raises(UsageError, match="sentence-transfer, MR all: 3 of class 0, 3 of class 1; 3 folds need"):
        correct({"all": x}, {"all": y}, 3, "MR")


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("STS/STS12-en-test/STS.gs.MSRpar.txt", "4.5", "high", 'line 1, gold score: "high" is not a number'),
        ("STS/STS12-en-test/STS.gs.MSRpar.txt", "4.5\n", "", "4 gold scores for the 5 pairs of STS.input.MSRpar.txt"),
        ("STS/STS12-en-test/STS.input.MSRpar.txt", "\t", " ", "line 1: 1 columns between tabs where 2 are needed"),
        (
            "STS/STSBenchmark/sts-test.csv",
            "\t0\ta0 word\t",
            ",",
            "sts-test.csv, line 1: [56] columns between tabs where 7",
        ),
        ("SICK/SICK_test_annotated.txt", "0.5", "nan", 'line 3, gold score: "nan" is not a number'),
        ("SST/binary/sentiment-dev", "\t0", "\t3", 'sentiment-dev, line 1, class: "3" is neither 0 nor 1'),
        ("TREC/train_5500.label", "ABBR:", "ABC:", 'train_5500.label, line 1: "ABC" is not a question type'),
        ("MRPC/msr_paraphrase_test.txt", "1\t1\t1\t", "1\t", "line 3: 3 columns between tabs where 5 are needed"),
    ],
)
def test_wrong_files_are_refused_by_file_line_and_field(
    tmp_path: Path, file: str, old: str, new: str, told: str
) -> None:
    path = write_senteval(tmp_path) / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    data = create_dataset("senteval", folder=str(tmp_path))
    sets = {"STS/STS12": "STS12", "STS/STSB": "STSBenchmark", "SICK": "SICK-R", "SST": "SST2"}
    name = next((n for start, n in sets.items() if file.startswith(start)), file.split("/")[0])
    task = "sts" if file.startswith(("STS/", "SICK/")) else "sentence-transfer"
    with pytest.raises(UsageError, match=told):
        create_task(task, sets=[name]).evaluate(Letters(), data)  # type: ignore[arg-type]


def test_a_missing_file_says_what_the_folder_must_hold(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"STS.input.MSRpar.txt: no such file. The folder must hold SentEval's"):
        create_task("sts").evaluate(Letters(), create_dataset("senteval", folder=str(tmp_path)))  # type: ignore[arg-type]
