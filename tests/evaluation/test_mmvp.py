from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from support.real_files import write_mmvp
from torch import Tensor

from benchsuite.data import create_dataset
from benchsuite.data.base import PairDataset, Split
from benchsuite.data.real.mmvp import PATTERNS
from benchsuite.errors import UsageError
from benchsuite.evaluation.base import create_task
from benchsuite.evaluation.mmvp import pair_ranks
from benchsuite.evaluation.rank_metrics import both


class Rows:
    """Embeddings by row number; statements say theirs at their end."""

    def __init__(self, image: Tensor, text: Tensor) -> None:
        self._image, self._text, self.request = image, text, list[str]()

    def images(self, split: Split) -> Tensor:
        return self._image

    def texts(self, texts: list[str]) -> Tensor:
        self.request = texts
        return self._text[[int(text.rsplit(" ", 1)[1]) for text in texts]]


def naive(image: Tensor, text: Tensor) -> list[bool]:
    found = []
    for i in range(0, len(image), 2):
        a, b = i, i + 1
        first = float(image[a] @ text[a]) > float(image[b] @ text[a])
        second = float(image[b] @ text[b]) > float(image[a] @ text[b])
        found.append(first and second)
    return found


@given(st.integers(1, 6), st.integers(0, 1000))
def test_pairs_count_as_the_naive_rule_counts_them(pairs: int, seed: int) -> None:
    draw = torch.Generator().manual_seed(seed)
    image, text = (torch.randint(-2, 3, (2 * pairs, 3), generator=draw).double() for _ in range(2))
    assert both(pair_ranks(image, text)).tolist() == naive(image, text)


def test_one_right_statement_of_two_is_not_enough() -> None:
    image = torch.eye(2)
    assert both(pair_ranks(image, torch.eye(2))).tolist() == [True]
    assert both(pair_ranks(image, torch.tensor([[1.0, 0.0], [1.0, 0.0]]))).tolist() == [False]


@pytest.mark.parametrize("fill", [1.0, float("nan")])
def test_a_model_that_tells_nothing_apart_scores_nothing(fill: float) -> None:
    rows = torch.full((6, 2), fill)
    assert both(pair_ranks(rows, rows)).sum() == 0


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_mmvp(tmp_path, pairs=18)


def test_each_pattern_has_its_ninth_of_the_pairs(tiny: Path) -> None:
    text = torch.eye(36)
    image = text.clone()
    image[[0, 1]] = image[[1, 0]]  # the first pair of the first pattern the wrong way round
    image[34:] = 0  # the last pair of the last one tells nothing
    embed = Rows(image, text)
    scores = create_task("mmvp").evaluate(embed, create_dataset("mmvp", folder=str(tiny), size=8))  # type: ignore[arg-type]
    expected = dict.fromkeys(PATTERNS, 1.0) | {PATTERNS[0]: 0.5, PATTERNS[-1]: 0.5}
    assert scores.metrics == {**expected, "average": pytest.approx(8 / 9)}
    assert scores.counts == {"pairs": 18}
    assert create_task("mmvp").from_ranks(scores.ranks).metrics == scores.metrics  # type: ignore[attr-defined]
    assert embed.request[1] == "a photo of a dog, number 1"
    as_instances = create_task("matching", images=2).evaluate(embed, create_dataset("mmvp", folder=str(tiny), size=8))  # type: ignore[arg-type]
    assert as_instances.metrics["image"] == pytest.approx(16 / 18)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Statement", "Text", r'there is no column "Statement" \(it has Question ID, Type, Text\)'),
        ("\n3,", "\n1,", "ids 1 and 4 are not an odd one and the next even one"),
        ("\n3,", "\nx,", "line 4: there must be a number as Question ID"),
        ('"a dog, number 2"', "", "line 4: there must be a number as Question ID, and a Statement"),
        ("\n4,Orientation", "\n4,State", "column Type: one pattern spans two ninths"),
        ('\n36,View,"a dog, number 35"', "", "35 rows are not an equal number of pairs for each of 9 patterns"),
    ],
)
def test_a_wrong_file_is_refused_by_line_and_column(tiny: Path, old: str, new: str, told: str) -> None:
    file = tiny / "Questions.csv"
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=told):
        create_dataset("mmvp", folder=str(tiny)).manifest()


def test_rows_out_of_the_published_order_are_refused(tiny: Path) -> None:
    file = tiny / "Questions.csv"
    header, *rows = file.read_text().splitlines()
    file.write_text("\n".join([header, *rows[2:], *rows[:2]]))
    with pytest.raises(UsageError, match="column Type: one pattern spans two ninths"):
        create_dataset("mmvp", folder=str(tiny)).manifest()
    file.write_text("\n".join([header, *rows[1:], rows[0]]))
    with pytest.raises(UsageError, match="ids 2 and 3 are not an odd one and the next even one"):
        create_dataset("mmvp", folder=str(tiny)).manifest()


def test_a_wrong_folder_says_how_to_give_the_right_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"Add --data mmvp=FOLDER, which holds Questions.csv"):
        create_dataset("mmvp").manifest()
    with pytest.raises(UsageError, match=r"Questions.csv: no such file"):
        create_dataset("mmvp", folder=str(tmp_path / "..")).manifest()


def test_other_data_is_refused(pictures: PairDataset, fake: Any) -> None:
    with pytest.raises(UsageError, match='mmvp: dataset pictures has no classes "pattern"'):
        create_task("mmvp").evaluate(fake([], {}), pictures)
