"""The decoder that is shown the picture once, before the first word."""

from __future__ import annotations

from torch import nn

from regard.blocks import Embedding
from regard.decoders.plain import Unlooking
from regard.memory import Memory
from regard.recurrent import Recurrent, RecurrentState


class PictureFirst(Unlooking):
    """s_0 = f(0, W z), s_t = f(s_{t-1}, E y_{t-1}): the picture is the first input.

    Like that of a word, its embedding W z has dropout, and z has none: pictures differ by a small
    part of z, which would be lost in the noise of the rest. Vinyals et al., 2015, eq. 10 to 12.
    """

    def __init__(
        self, embedding: Embedding, cell: Recurrent, *, summary: int, dropout: float = 0.0
    ) -> None:
        super().__init__(embedding, cell, dropout=dropout)
        self.picture = nn.Linear(summary, embedding.dim)

    def prepare(self, memory: Memory) -> RecurrentState:
        shown = self.embedding.dropout(self.picture(memory.summary))
        return self.cell.step(shown, self.cell.start(len(shown)))[1]
