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

Queries = Float[Tensor, "batch head width key"]
Seen = Float[Tensor, "batch head source key"]
Values = Float[Tensor, "batch head source dim"]


class MultiHead(Attention):
    """concat_i softmax(Q_i K_i^T / sqrt(d)) V_i W_o (Vaswani et al., 2017, 3.2.2).

    `key` is d, the size of a head's queries and keys, if it is not that of its values.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        memory: int | None = None,
        key: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads = divided(dim, heads)
        self.sizes = (keys_of(dim, heads, key), dim)
        self.query = nn.Linear(dim, self.sizes[0])
        self.key_value = nn.Linear(memory if memory is not None else dim, sum(self.sizes))
        self.output = nn.Linear(dim, dim)
        self.dropout = Dropout(dropout)

    def keys(self, memory: Memory) -> Keys:
        keys, values = split(self.key_value(memory.values), self.sizes, self.heads)
        return Keys(keys, values, memory.mask)

    def forward(self, query: Float[Tensor, "rows dim"], keys: Keys, state: State = None) -> Read:
        rows = query.unflatten(0, (keys.mask.shape[0], -1))
        (queries,) = split(self.query(rows), self.sizes[:1], self.heads)
        mask = keys.mask[:, None, None]
        mixed, weights = attend(queries, keys.keys, keys.values, mask, self.dropout)
        context = self.output(mixed.transpose(1, 2).flatten(2)).flatten(0, 1)
        return Read(context, by_row(weights), state)


class SelfAttention(nn.Module):
    """Multi-head attention of a sequence over itself, or over its past, with a cache for steps.

    The cache is (rows, head, time, key + value): keys and values of the past, side by side, the
    newest first. `key` is the size of a head's queries and keys, if it is not that of its values.
    """

    def __init__(
        self,
        dim: int,
        heads: int,
        *,
        causal: bool,
        key: int | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.heads, self.causal = divided(dim, heads), causal
        keys = keys_of(dim, heads, key)
        self.sizes = (keys, keys, dim)
        self.query_key_value = nn.Linear(dim, sum(self.sizes))
        self.output = nn.Linear(dim, dim)
        self.dropout = Dropout(dropout)

    def start(self, rows: int) -> Tensor:
        """An empty past."""
        return self.output.weight.new_zeros(rows, self.heads, 0, sum(self.sizes[1:]) // self.heads)

    def forward(
        self, x: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Read:
        """All positions at once; a causal one needs no mask, since padding stands at the end."""
        queries, keys, values = split(self.query_key_value(x), self.sizes, self.heads)
        seen = None if mask is None else mask[:, None, None]
        if self.causal:
            past = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).tril()
            seen = past if seen is None else seen & past
        mixed, weights = attend(queries, keys, values, seen, self.dropout)
        return Read(self.output(mixed.transpose(1, 2).flatten(2)).flatten(0, 1), by_row(weights))

    def step(
        self,
        x: Float[Tensor, "rows dim"],
        past: Tensor,
        mask: Bool[Tensor, "rows time"] | None = None,
    ) -> Read:
        """One more position, given the past; the longer past is the read's state.

        The mask says what of the longer past is real, for each row.
        """
        queries, *new = split(self.query_key_value(x[:, None]), self.sizes, self.heads)
        past = torch.cat([torch.cat(new, dim=3), past], dim=2)
        keys, values = past.split([part.shape[3] for part in new], dim=3)
        seen = None if mask is None else mask[:, None, None]
        mixed, weights = attend(queries, keys, values, seen, self.dropout)
        return Read(self.output(mixed.flatten(1)), by_row(weights), past)


def attend(
    queries: Queries, keys: Seen, values: Values, mask: Tensor | None, dropout: Dropout
) -> tuple[Float[Tensor, "batch head width dim"], Tensor | None]:
    """softmax(Q K^T / sqrt(d)) V by the fused kernel, or openly where the weights are needed."""
    if not weights_are_wanted() and not (dropout.training and dropout.p):
        return _fused(queries, keys, values, mask), None
    scores = queries @ keys.transpose(-1, -2) / math.sqrt(queries.shape[-1])
    weights = (scores if mask is None else masked(scores, mask)).softmax(-1)
    return dropout(weights) @ values, weights


def _fused(
    queries: Queries, keys: Seen, values: Values, mask: Tensor | None
) -> Float[Tensor, "batch head width dim"]:
    """PyTorch's kernel. On a processor it is 15 times slower with 16 bits, so it gets 32 there."""
    if queries.device.type != "cpu" or queries.dtype != torch.bfloat16:
        return F.scaled_dot_product_attention(queries, keys, values, mask)
    with torch.autocast("cpu", enabled=False):
        mixed = F.scaled_dot_product_attention(queries.float(), keys.float(), values.float(), mask)
        return mixed.to(queries.dtype)


def split(
    x: Float[Tensor, "batch time parts"], sizes: tuple[int, ...], heads: int
) -> tuple[Tensor, ...]:
    """The parts of one projection, each cut into heads."""
    return tuple(part.unflatten(2, (heads, -1)).transpose(1, 2) for part in x.split(sizes, 2))


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


def keys_of(dim: int, heads: int, key: int | None) -> int:
    """The size of all heads' keys together."""
    if key is not None and key < 1:
        raise ValueError(f"key: wanted 1 or more, or null for dim / heads, got {key}")
    return dim if key is None else heads * key
