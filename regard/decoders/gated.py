"""Bahdanau's order with a gate: how much of what is seen matters for the next word."""

from __future__ import annotations

from torch import nn

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.attend_first import AttendFirst
from regard.decoders.looker import Looking, Source
from regard.memory import Read
from regard.recurrent import Recurrent


class Gated(AttendFirst):
    """z_t = b_t sum_i a_ti a_i, b_t = sigmoid(w . h_{t-1}) (Xu et al., 2015, 4.2.1).

    The rest is Bahdanau's: h_t = f(h_{t-1}, [E y_{t-1}; z_t]), the output is
    tanh(W [h_t; E y_{t-1}; z_t]).
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
        super().__init__(
            embedding, cell, attention, memory=memory, summary=summary, dim=dim, dropout=dropout
        )
        self.gate = nn.Linear(cell.dim, 1)

    def _see(self, state: Looking, source: Source) -> Read:
        read = super()._see(state, source)
        return read._replace(context=read.context * self.gate(state.cell[-1][0]).sigmoid())
