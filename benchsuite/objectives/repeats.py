"""Values of samples that stand in a batch more than once."""

import torch
from torch import Tensor


class Repeats:
    """Which places of a batch hold the same sample. Each of them is given what is computed over all of them."""

    def __init__(self, index: Tensor) -> None:
        self.place = torch.searchsorted(index.sort().values, index.contiguous())

    def mean(self, values: Tensor) -> Tensor:
        """The mean of each sample's values, [B]."""
        return self._sum(values) / self._sum(torch.ones_like(values))

    def largest(self, values: Tensor) -> Tensor:
        """The largest of each sample's values, [..., B]."""
        place = self.place.expand_as(values)
        return torch.empty_like(values).scatter_reduce(-1, place, values, "amax", include_self=False).gather(-1, place)

    def log_mean(self, log_values: Tensor) -> Tensor:
        """The logarithm of the mean of each sample's values, given and returned as logarithms, [B]."""
        largest = self.largest(log_values)
        largest = torch.where(largest.isinf(), 0.0, largest)
        counted = self._sum(torch.ones_like(log_values))
        return self._sum((log_values - largest).exp()).log() + largest - counted.log()

    def _sum(self, values: Tensor) -> Tensor:
        return torch.zeros_like(values).index_add(0, self.place, values)[self.place]
