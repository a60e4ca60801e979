"""The decoder without attention that keeps the summary in sight at every step."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.blocks import Activation, Embedding, Maxout
from regard.decoders.base import Bridge, Decoded, Decoder
from regard.dropout import Dropout
from regard.memory import Memory, Step
from regard.recurrent import Recurrent, RecurrentState


class InSight(NamedTuple):
    """What every step sees, c, and the first state."""

    context: Float[Tensor, "batch summary"]
    first: RecurrentState


class Known(NamedTuple):
    """What c adds to the gates and to the output of every step, and the first state."""

    gates: Float[Tensor, "batch gates"]
    output: Float[Tensor, "batch output"]
    first: RecurrentState


class Context(Decoder):
    """s_i = f(s_{i-1}, [y_{i-1}; c]), o_i = g(W [s_i; y_{i-1}; c]) (Cho et al., 2014, A.1.2).

    The cell's inputs are [y; c]. Training runs it fused over whole sequences; a step takes what c
    adds, which never changes, as it was computed once for the source.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        *,
        summary: int,
        dim: int,
        activation: Activation | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.cell, self.bridge = embedding, cell, Bridge(summary, cell)
        self.activation = activation if activation is not None else Maxout()
        size = self.activation.pieces * dim
        self.readout = nn.Linear(cell.dim + embedding.dim, size)
        self.context = nn.Linear(summary, size, bias=False)
        self.dropout, self.dim = Dropout(dropout), dim

    def see(self, memory: Memory) -> InSight:
        """c, and the state before the first symbol."""
        return InSight(memory.summary, self.bridge(memory.summary))

    def prepare(self, memory: Memory) -> Known:
        return self._known(self.see(memory))

    def _known(self, seen: InSight) -> Known:
        gates = self.cell.project(seen.context, first=self.embedding.dim)
        return Known(gates, self.context(seen.context), seen.first)

    def start(self, source: Known) -> RecurrentState:
        return source.first

    def step(self, token: Int[Tensor, " rows"], state: RecurrentState, source: Known) -> Step:
        embedded = self.embedding(token.unflatten(0, (len(source.gates), -1)))
        projected = self.cell.project(embedded, first=0) + source.gates[:, None]
        hidden, state = self.cell.advance(projected.flatten(0, 1), state)
        output = self._read_out(hidden.unflatten(0, embedded.shape[:2]), embedded, source)
        return Step(output.flatten(0, 1), state)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        seen, embedded = self.see(memory), self.embedding(tokens)
        context = seen.context[:, None].expand(-1, tokens.shape[1], -1)
        hidden, _ = self.cell(torch.cat([embedded, context], -1), seen.first)
        return Decoded(self._read_out(hidden, embedded, self._known(seen)))

    def _read_out(
        self,
        hidden: Float[Tensor, "batch width hidden"],
        embedded: Float[Tensor, "batch width embedding"],
        source: Known,
    ) -> Float[Tensor, "batch width dim"]:
        together = self.readout(torch.cat([hidden, embedded], -1)) + source.output[:, None]
        return self.dropout(self.activation(together))
