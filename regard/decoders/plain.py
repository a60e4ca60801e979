"""The decoder without attention: all it knows of the source is one vector."""

from __future__ import annotations

from abc import abstractmethod

from jaxtyping import Int
from torch import Tensor

from regard.blocks import Embedding
from regard.decoders.base import Bridge, Decoded, Decoder
from regard.dropout import Dropout
from regard.memory import Memory, Step
from regard.recurrent import Recurrent, RecurrentState


class Unlooking(Decoder):
    """s_i = f(s_{i-1}, y_{i-1}): a kind says what s_0 is. Dropout falls on the outputs."""

    def __init__(self, embedding: Embedding, cell: Recurrent, *, dropout: float) -> None:
        super().__init__()
        self.embedding, self.cell = embedding, cell
        self.dropout, self.dim = Dropout(dropout), cell.dim

    @abstractmethod
    def prepare(self, memory: Memory) -> RecurrentState: ...

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


class Continued(Unlooking):
    """s_i = f(s_{i-1}, y_{i-1}), s_0 the encoder's last state (Sutskever et al., 2014).

    The cell is of the encoder's kind, and has its size and layers.
    """

    def __init__(self, embedding: Embedding, cell: Recurrent, *, dropout: float = 0.0) -> None:
        super().__init__(embedding, cell, dropout=dropout)

    def prepare(self, memory: Memory) -> RecurrentState:
        assert memory.state is not None, "wants an encoder that hands on its state"
        return memory.state  # type: ignore[no-any-return]


class Plain(Unlooking):
    """s_i = f(s_{i-1}, y_{i-1}), s_0 = tanh(W summary)."""

    def __init__(
        self, embedding: Embedding, cell: Recurrent, *, summary: int, dropout: float = 0.0
    ) -> None:
        super().__init__(embedding, cell, dropout=dropout)
        self.bridge = Bridge(summary, cell)

    def prepare(self, memory: Memory) -> RecurrentState:
        return self.bridge(memory.summary)
