"""Dropout whose masks cost few random numbers on a CPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Dropout(nn.Module):
    """Inverted dropout: y = x * m / (1 - p), m ~ Bernoulli(1 - p) (Srivastava et al., 2014).

    On a CPU the generator is the slow part (a fifth of a Transformer's training step), so four
    16-bit decisions are cut from each 64-bit number. p is thereby rounded to 1/65536.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"dropout: wanted a probability from 0 to below 1, got {p}")
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p, training=True)
        return x * mask_like(x, self.p)

    def extra_repr(self) -> str:
        return f"p={self.p}"


def mask_like(x: Tensor, p: float) -> Tensor:
    """A mask of x's shape: 0 with probability p, else 1 / (1 - p)."""
    numbers = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
    kept = numbers.view(torch.int16)[: x.numel()].view(x.shape) >= round(p * 65536) - 32768
    return kept.to(x.dtype).mul_(1 / (1 - p))
