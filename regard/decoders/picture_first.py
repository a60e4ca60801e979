"""The decoder that is shown the picture once, before the first word."""

from __future__ import annotations

import math

from torch import nn

from regard.blocks import Embedding
from regard.decoders.plain import Unlooking
from regard.memory import Memory
from regard.recurrent import Recurrent, RecurrentState


class PictureFirst(Unlooking):
    """s_0 = f(0, W z / sqrt(|z|)), s_t = f(s_{t-1}, E y_{t-1}): the picture is the first input.

    Vinyals et al., 2015, eq. 10 to 12. The root makes W's updates as small as they must be: all
    of the many numbers of z are positive, and if each weight moved as far as those of words do, all
    pictures would soon saturate the cell in the same way and leave the same caption.
    """

    def __init__(
        self, embedding: Embedding, cell: Recurrent, *, summary: int, dropout: float = 0.0
    ) -> None:
        super().__init__(embedding, cell, dropout=dropout)
        self.picture, self.root = nn.Linear(summary, embedding.dim), math.sqrt(summary)
        nn.init.uniform_(self.picture.weight, -1.0, 1.0)

    def prepare(self, memory: Memory) -> RecurrentState:
        shown = self.picture(memory.summary / self.root)
        return self.cell.step(shown, self.cell.start(len(shown)))[1]
