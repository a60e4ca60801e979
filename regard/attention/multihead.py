"""Multi-head attention: over a memory, and of a sequence over itself."""

from __future__ import annotations

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.base import Attention, weights_are_wanted
from regard.attention.choose import masked
from regard.dropout import Dropout
from regard.memory import Keys, Memory, Read, State

Heads = Float[Tensor, "batch head width dim"]
Seen = Float[Tensor, "batch head source dim"]


class MultiHead(Attention):
    """concat_i softmax(Q_i K_i^T / sqrt(d)) V_i W_o (Vaswani et al., 2017, 3.2.2)."""

    def __init__(
        self, dim: int, heads: int, *, memory: int | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.heads = divided(dim, heads)
        self.query = nn.Linear(dim, dim)
        self.key_value = nn.Linear(memory if memory is not None else dim, 2 * dim)
        self.output = nn.Linear(dim, dim)
        self.dropout = Dropout(dropout)

    def keys(self, memory: Memory) -> Keys:
        keys, values = split(self.key_value(memory.values), 2, self.heads)
        return Keys(keys, values, memory.mask)

    def forward(self, query: Float[Tensor, "rows dim"], keys: Keys, state: State = None) -> Read:
        rows = query.unflatten(0, (keys.mask.shape[0], -1))
        (queries,) = split(self.query(rows), 1, self.heads)
        mask = keys.mask[:, None, None]
        mixed, weights = attend(queries, keys.keys, keys.values, mask, self.dropout)
        context = self.output(mixed.transpose(1, 2).flatten(2)).flatten(0, 1)
        return Read(context, by_row(weights), state)


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence over itself, or over its past, with a cache for steps.

    The cache is (rows, 2, head, time, dim): keys and values of the past.
    """

    def __init__(self, dim: int, heads: int, *, causal: bool, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.causal = divided(dim, heads), causal
        self.query_key_value = nn.Linear(dim, 3 * dim)
        self.output = nn.Linear(dim, dim)
        self.dropout = Dropout(dropout)

    def start(self, rows: int) -> Tensor:
        """An empty past."""
        dim = self.output.in_features // self.heads
        return self.output.weight.new_zeros(rows, 2, self.heads, 0, dim)

    def forward(
        self, x: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Read:
        """All positions at once; a causal one needs no mask, since padding stands at the end."""
        queries, keys, values = split(self.query_key_value(x), 3, self.heads)
        seen = None if mask is None else mask[:, None, None]
        if self.causal:
            past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
            seen = past if seen is None else seen & past
        mixed, weights = attend(queries, keys, values, seen, self.dropout)
        return Read(self.output(mixed.transpose(1, 2).flatten(2)).flatten(0, 1), by_row(weights))

    def step(self, x: Float[Tensor, "rows dim"], past: Tensor) -> Read:
        """One more position, given the past; the longer past is the read's state."""
        new = self.query_key_value(x).view(len(x), 3, self.heads, 1, -1)
        past = torch.cat([past, new[:, 1:]], dim=3)
        mixed, weights = attend(new[:, 0], past[:, 0], past[:, 1], None, self.dropout)
        return Read(self.output(mixed.flatten(1)), by_row(weights), past)


def attend(
    queries: Heads, keys: Seen, values: Seen, mask: Tensor | None, dropout: Dropout
) -> tuple[Heads, Tensor | None]:
    """softmax(Q K^T / sqrt(d)) V by the fused kernel, or openly where the weights are needed."""
    if not weights_are_wanted() and not (dropout.training and dropout.p):
        return F.scaled_dot_product_attention(queries, keys, values, mask), None
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    weights = (scores if mask is None else masked(scores, mask)).softmax(-1)
    return dropout(weights) @ values, weights


def split(x: Float[Tensor, "batch time parts"], parts: int, heads: int) -> tuple[Heads, ...]:
    """The parts of one projection, each cut into heads."""
    shaped = x.view(*x.shape[:2], parts, heads, -1).permute(2, 0, 3, 1, 4)
    return shaped.unbind(0)


def by_row(weights: Tensor | None) -> Tensor | None:
    """(batch, head, width, source) as (rows, head, source)."""
    return None if weights is None else weights.transpose(1, 2).flatten(0, 1)


def divided(dim: int, heads: int) -> int:
    """The number of heads, if the dimension can be divided by it."""
    if heads < 1 or dim % heads:
        raise ValueError(
            f"heads: wanted a divisor of dim = {dim}, got {heads}; "
            f"try {', '.join(str(h) for h in (1, 2, 4, 8, 16) if dim % h == 0)}"
        )
    return heads
