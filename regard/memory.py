"""The values that flow: what an encoder leaves, what an attention prepares, what a look gives.

Axis names used everywhere: batch (sources), rows (batch times hypotheses or time steps, the rows
of one source standing together), time (target), source, dim, head, vocab. Masks are True where a
position is real.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jaxtyping import Bool, Float
from torch import Tensor

State = Any
"""A tree of tensors whose axis 0 is rows: what differs between hypotheses and changes per step."""


class Memory(NamedTuple):
    """What an encoder leaves of one batch of sources."""

    values: Float[Tensor, "batch source dim"]
    mask: Bool[Tensor, "batch source"]
    summary: Float[Tensor, "batch summary"]
    grid: tuple[int, ...] = ()
    """The shape to draw the source positions on; () means a plain line."""
    keys: Float[Tensor, "batch source key"] | None = None
    """What queries are compared with, where that is not the values themselves."""
    state: State | None = None
    """Where a recurrence ended, in all its layers, for a decoder that goes on from there."""


class Keys(NamedTuple):
    """A memory made ready for one attention, once per source."""

    keys: Float[Tensor, "batch ..."]
    values: Float[Tensor, "batch ..."]
    mask: Bool[Tensor, "batch source"]


class Read(NamedTuple):
    """One look at a memory: what was seen, where, and the attention's next state."""

    context: Float[Tensor, "rows dim"]
    weights: Float[Tensor, "rows *head source"] | None
    """None where a fused kernel never makes them; watching always gives them."""
    state: State = None
    log_prob: Float[Tensor, " rows"] | None = None
    """The log probability of a sampled location (hard attention in training)."""
    entropy: Float[Tensor, " rows"] | None = None
    """Of the distribution that a location was sampled from, where a loss wants it."""


class Step(NamedTuple):
    """One step of a decoder: what the head turns into a symbol, and the next state."""

    output: Float[Tensor, "rows dim"]
    state: State
    read: Read | None = None
