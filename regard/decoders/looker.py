"""What recurrent decoders with an attention have in common."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.base import Bridge, Decoder
from regard.dropout import Dropout
from regard.memory import Keys, Memory, Read, State
from regard.recurrent import Recurrent, RecurrentState


class Source(NamedTuple):
    """Keys of the memory and the first state."""

    keys: Keys
    first: RecurrentState


class Looking(NamedTuple):
    """The state of a decoder that looks: its cell's and its attention's."""

    cell: RecurrentState
    attention: State


class Looker(Decoder):
    """A recurrent decoder that looks at the memory at every step; a kind says when."""

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        attention: Attention,
        *,
        summary: int,
        dropout: float,
    ) -> None:
        super().__init__()
        self.embedding, self.cell, self.attention = embedding, cell, attention
        self.bridge, self.dropout = Bridge(summary, cell), Dropout(dropout)

    def prepare(self, memory: Memory) -> Source:
        return Source(self.attention.keys(memory), self.bridge(memory.summary))

    def start(self, source: Source) -> Looking:
        return Looking(source.first, self.attention.start(source.keys))


class LookThenStep(Looker):
    """c_i = attend(s_{i-1}), s_i = f(s_{i-1}, [y_{i-1}; c_i]); a kind says what comes of s_i.

    The weights of [y; c] are kept in two parts, so that in training the loop does only what depends
    on the step before: the symbols' part is computed for all steps at once.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        attention: Attention,
        *,
        memory: int,
        summary: int,
        dropout: float,
    ) -> None:
        super().__init__(embedding, cell, attention, summary=summary, dropout=dropout)
        self.context = nn.Linear(memory, cell.gates * cell.dim, bias=False)

    def _see(self, state: Looking, source: Source) -> Read:
        return self.attention(state.cell[-1][0], source.keys, state.attention)

    def _advance(
        self, projected: Float[Tensor, "rows gates"], state: Looking, source: Source
    ) -> tuple[Float[Tensor, "rows dim"], Looking, Read]:
        read = self._see(state, source)
        hidden, cell = self.cell.advance(projected + self.context(read.context), state.cell)
        return hidden, Looking(cell, read.state), read

    def _through(
        self, embedded: Float[Tensor, "batch time embedding"], state: Looking, source: Source
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch time memory"], list[Read]]:
        """States, contexts and looks of all steps."""
        hiddens: list[Tensor] = []
        reads: list[Read] = []
        for projected in self.cell.project(embedded).unbind(1):
            hidden, state, read = self._advance(projected, state, source)
            hiddens.append(hidden)
            reads.append(read)
        contexts = [read.context for read in reads]
        return torch.stack(hiddens, 1), torch.stack(contexts, 1), reads
