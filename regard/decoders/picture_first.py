"""The decoder that is shown the picture once, before the first word."""

from __future__ import annotations

from jaxtyping import Int
from torch import Tensor, nn

from regard.blocks import Embedding
from regard.decoders.base import Decoded, Decoder
from regard.dropout import Dropout
from regard.memory import Memory, Step
from regard.recurrent import Recurrent, RecurrentState


class PictureFirst(Decoder):
    """s_0 = f(0, W z), s_t = f(s_{t-1}, E y_{t-1}): the picture is the first input.

    Vinyals et al., 2015, eq. 10 to 12. Dropout falls on the outputs.
    """

    def __init__(
        self, embedding: Embedding, cell: Recurrent, *, summary: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding, self.cell = embedding, cell
        self.picture = nn.Linear(summary, embedding.dim)
        self.dropout, self.dim = Dropout(dropout), cell.dim

    def prepare(self, memory: Memory) -> RecurrentState:
        shown = self.picture(memory.summary)
        return self.cell.step(shown, self.cell.start(len(shown)))[1]

    def start(self, source: RecurrentState) -> RecurrentState:
        return source

    def step(
        self,
        token: Int[Tensor, " rows"],
        state: RecurrentState,
        source: RecurrentState,  # noqa: ARG002
    ) -> Step:
        output, state = self.cell.step(self.embedding(token[:, None])[:, 0], state)
        return Step(self.dropout(output), state)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        outputs, _ = self.cell(self.embedding(tokens), self.prepare(memory))
        return Decoded(self.dropout(outputs))
