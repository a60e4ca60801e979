"""The recurrent encoder: every state is an annotation of its place."""

from __future__ import annotations

from jaxtyping import Bool, Int
from torch import Tensor

from regard.blocks import Embedding
from regard.encoders.base import Encoder
from regard.memory import Memory
from regard.recurrent import Recurrent


class RecurrentEncoder(Encoder):
    """h_j = [forward h_j; backward h_j] (Bahdanau et al., 2015, 3.2; Schuster and Paliwal, 1997).

    The summary is the last state of each direction.
    """

    def __init__(self, embedding: Embedding, cell: Recurrent) -> None:
        super().__init__()
        self.embedding, self.cell = embedding, cell
        self.dim = self.summary = cell.dim * (2 if cell.bidirectional else 1)

    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        values, summary, _ = self.cell(self.embedding(tokens), mask)
        return Memory(values, mask, summary)
