import pytest
import torch
from torch import Tensor

from benchsuite import Queue


def numbered(*numbers: int) -> Tensor:
    return torch.tensor([[float(n), -float(n)] for n in numbers])


def held(queue: Queue) -> list[int]:
    return sorted(int(n) for n in queue.values(torch.zeros(1, 2))[:, 0])


@pytest.mark.parametrize("width", [2, None])
def test_the_oldest_rows_go_first(width: int | None) -> None:
    queue = Queue(5, width)
    naive: list[int] = []
    for pushed in ((1, 2), (3, 4), (5, 6), (7,), (8, 9, 10, 11), (12, 13, 14, 15, 16, 17, 18)):
        queue.push(numbered(*pushed))
        naive = [*naive, *pushed][-5:]
        assert (held(queue), len(queue)) == (sorted(naive), len(naive))


def test_an_empty_queue_has_no_rows_of_the_width_that_is_asked_for() -> None:
    assert Queue(5).values(torch.zeros(1, 3, dtype=torch.float64)).shape == (0, 3)


def test_a_checkpoint_has_rows_and_position() -> None:
    for width in (2, None):
        queue, other = Queue(5, 2), Queue(5, width)
        queue.push(numbered(1, 2, 3, 4, 5, 6))
        other.load_state_dict(queue.state_dict())
        for each in (queue, other):
            each.push(numbered(7, 8))
        assert held(other) == held(queue) == [4, 5, 6, 7, 8]


def test_values_are_a_copy_without_gradient_in_the_precision_of_the_batch() -> None:
    queue = Queue(3, 2)
    queue.push(numbered(1, 2).requires_grad_())
    values = queue.values(torch.zeros(1, 2, dtype=torch.float64))
    assert values.dtype == torch.float64
    assert not values.requires_grad
    before = queue.values(torch.zeros(1, 2))
    queue.push(numbered(7, 8, 9))
    assert before[:, 0].tolist() == [1, 2]


def test_evaluation_leaves_it_alone() -> None:
    queue = Queue(3, 2).eval()
    queue.push(numbered(1))
    assert len(queue) == 0
