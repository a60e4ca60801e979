"""Bahdanau's order: look with the state before, then step with what was seen."""

from __future__ import annotations

import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Activation, Embedding, Tanh
from regard.decoders.base import Decoded, gathered
from regard.decoders.looker import Looking, LookThenStep, Source
from regard.memory import Memory, Step
from regard.recurrent import Recurrent


class AttendFirst(LookThenStep):
    """c_i = attend(s_{i-1}), s_i = f(s_{i-1}, [y_{i-1}; c_i]) (Bahdanau et al., 2015, 3.1).

    The output is g(W [s_i; y_{i-1}; c_i]), g tanh or maxout (A.2.2), in training for all steps at
    once.
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
        super().__init__(
            embedding, cell, attention, memory=memory, summary=summary, dropout=dropout
        )
        self.activation = activation if activation is not None else Tanh()
        self.readout = nn.Linear(cell.dim + embedding.dim + memory, self.activation.pieces * dim)
        self.dim = dim

    def step(self, token: Int[Tensor, " rows"], state: Looking, source: Source) -> Step:
        embedded = self.embedding(token[:, None])[:, 0]
        hidden, state, read = self._advance(self.cell.project(embedded), state, source)
        return Step(self._read_out(hidden, embedded, read.context), state, read)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source, embedded = self.prepare(memory), self.embedding(tokens)
        hiddens, contexts, reads = self._through(embedded, self.start(source), source)
        return gathered(self._read_out(hiddens, embedded, contexts), reads)

    def _read_out(self, hidden: Tensor, embedded: Tensor, context: Tensor) -> Tensor:
        together = torch.cat([hidden, embedded, context], -1)
        return self.dropout(self.activation(self.readout(together)))
