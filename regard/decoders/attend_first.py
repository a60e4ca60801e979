"""Bahdanau's order: look with the state before, then step with what was seen."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.base import Bridge, Decoded, Decoder, gathered
from regard.dropout import Dropout
from regard.memory import Keys, Memory, Read, State, Step
from regard.recurrent import Recurrent, RecurrentState


class Source(NamedTuple):
    """Keys of the memory and the first state."""

    keys: Keys
    first: RecurrentState


class Looking(NamedTuple):
    """The state of a decoder that looks: its cell's and its attention's."""

    cell: RecurrentState
    attention: State


class AttendFirst(Decoder):
    """c_i = attend(s_{i-1}), s_i = f(s_{i-1}, [y_{i-1}; c_i]) (Bahdanau et al., 2015, 3.1).

    The output is tanh(W [s_i; y_{i-1}; c_i]). The weights of [y; c] are kept in two parts, so that
    in training the loop does only what depends on the step before: the symbols' part and the
    outputs are computed for all steps at once.
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
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.embedding, self.cell, self.attention = embedding, cell, attention
        self.bridge = Bridge(summary, cell)
        self.context = nn.Linear(memory, cell.gates * cell.dim, bias=False)
        self.readout = nn.Linear(cell.dim + embedding.dim + memory, dim)
        self.dropout = Dropout(dropout)
        self.dim = dim

    def prepare(self, memory: Memory) -> Source:
        return Source(self.attention.keys(memory), self.bridge(memory.summary))

    def start(self, source: Source) -> Looking:
        return Looking(source.first, self.attention.start(source.keys))

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
        return self.dropout(self.readout(together).tanh())
