"""A queue of past embeddings, for methods whose negatives outlive their batch."""

from typing import Any

import torch
from torch import Tensor, nn


class Queue(nn.Module):
    """The last `size` rows that were pushed, the oldest replaced first. It starts empty.

    Methods see the global batch, so all processes hold the same rows; they are in the state, so a checkpoint has them.
    """

    rows: Tensor
    pushed: Tensor

    def __init__(self, size: int, width: int | None = None) -> None:
        super().__init__()
        self.size = size
        self.register_buffer("rows", torch.zeros(size, width or 0))
        self.register_buffer("pushed", torch.zeros((), dtype=torch.long))

    def __len__(self) -> int:
        return min(int(self.pushed), self.size)

    def values(self, like: Tensor) -> Tensor:
        """The rows it holds, [len, width], in no particular order, without gradient, as `like` in dtype and device."""
        return self.rows[: len(self)].to(like, copy=True) if len(self) else like.new_zeros(0, like.shape[1])

    @torch.no_grad()
    def push(self, rows: Tensor) -> None:
        """Add rows, [n, width]; in eval mode it does nothing. Of more than `size` rows, the last ones stay."""
        if not self.training:
            return
        if not self.rows.shape[1]:
            self.rows = rows.new_zeros(self.size, rows.shape[1], dtype=self.rows.dtype)
        start, last = int(self.pushed), rows[-self.size :]
        places = torch.arange(start + len(rows) - len(last), start + len(rows), device=rows.device) % self.size
        self.rows[places] = last.to(self.rows)
        self.pushed += len(rows)

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *more: Any) -> None:
        saved = state_dict.get(f"{prefix}rows")
        if saved is not None and not self.rows.shape[1]:
            self.rows = self.rows.new_zeros(self.size, saved.shape[1])
        super()._load_from_state_dict(state_dict, prefix, *more)
