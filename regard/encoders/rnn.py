"""Recurrent encoders: every state is an annotation of its place."""

from __future__ import annotations

from jaxtyping import Bool, Int
from torch import Tensor

from regard.blocks import Embedding
from regard.dropout import Dropout
from regard.encoders.base import Encoder
from regard.encoders.pooling import Last, Pooling
from regard.memory import Memory
from regard.recurrent import Reader, Stack


class RecurrentEncoder(Encoder):
    """h_1..h_n = cell(x_1..x_n), from left to right, from right to left or from both ends.

    The summary is the last state of each direction (Sutskever et al., 2014; Bahdanau et al., 2015)
    or what a pooling makes of all states. Dropout falls on the annotations and on the summary.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Reader,
        *,
        pooling: Pooling | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.pooling = pooling if pooling is not None else Last()
        self.embedding, self.cell, self.dropout = embedding, cell, Dropout(dropout)
        self.dim = self.summary = cell.out

    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        values, ends = self.cell.read(self.embedding(tokens), mask)
        summary = self.pooling(values, mask, ends)
        return Memory(self.dropout(values), mask, self.dropout(summary))


class StateEncoder(Encoder):
    """h_1..h_n = cell(x_1..x_n), whose last state is handed on whole (Sutskever et al., 2014).

    That is the state of every layer, of an LSTM both h and c. The summary is the top layer's h_n.
    Dropout falls on the annotations; the state is left as it is.
    """

    def __init__(self, embedding: Embedding, cell: Stack, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.embedding, self.cell, self.dropout = embedding, cell, Dropout(dropout)
        self.dim = self.summary = cell.out

    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        values, state = self.cell.finish(self.embedding(tokens), mask)
        return Memory(self.dropout(values), mask, state[-1][0], state=state)
