"""Bahdanau's order: look with the state before, then step with what was seen."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Activation, Embedding, Tanh
from regard.decoders.base import Decoded, gathered
from regard.decoders.looker import Looker, Looking, Source
from regard.memory import Memory, Read, Step
from regard.recurrent import Recurrent


class AttendFirst(Looker):
    """c_i = attend(s_{i-1}), s_i = f(s_{i-1}, [y_{i-1}; c_i]) (Bahdanau et al., 2015, 3.1).

    The output is g(W [s_i; y_{i-1}; c_i]), g tanh or maxout (A.2.2). The weights of [y; c] are kept
    in two parts, so that in training the loop does only what depends on the step before: the
    symbols' part and the outputs are computed for all steps at once.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        attention: Attention,
        *,
        memory: int,
        summary: int,
        dim: int,
        activation: Activation | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embedding, cell, attention, summary=summary, dropout=dropout)
        self.activation = activation if activation is not None else Tanh()
        self.context = nn.Linear(memory, cell.gates * cell.dim, bias=False)
        self.readout = nn.Linear(cell.dim + embedding.dim + memory, self.activation.pieces * dim)
        self.dim = dim

    def step(self, token: Int[Tensor, " rows"], state: Looking, source: Source) -> Step:
        embedded = self.embedding(token[:, None])[:, 0]
        hidden, state, read = self._advance(self.cell.project(embedded), state, source)
        return Step(self._read_out(hidden, embedded, read.context), state, read)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source = self.prepare(memory)
        state = self.start(source)
        embedded = self.embedding(tokens)
        hiddens: list[Tensor] = []
        reads: list[Read] = []
        for projected in self.cell.project(embedded).unbind(1):
            hidden, state, read = self._advance(projected, state, source)
            hiddens.append(hidden)
            reads.append(read)
        contexts = torch.stack([read.context for read in reads], 1)
        return gathered(self._read_out(torch.stack(hiddens, 1), embedded, contexts), reads)

    def _advance(
        self, projected: Float[Tensor, "rows gates"], state: Looking, source: Source
    ) -> tuple[Float[Tensor, "rows dim"], Looking, Read]:
        read = self.attention(state.cell[-1][0], source.keys, state.attention)
        hidden, cell = self.cell.advance(projected + self.context(read.context), state.cell)
        return hidden, Looking(cell, read.state), read

    def _read_out(self, hidden: Tensor, embedded: Tensor, context: Tensor) -> Tensor:
        together = torch.cat([hidden, embedded, context], -1)
        return self.dropout(self.activation(self.readout(together)))
