"""What recurrent decoders with an attention have in common."""

from __future__ import annotations

from typing import NamedTuple

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.base import Bridge, Decoder
from regard.dropout import Dropout
from regard.memory import Keys, Memory, State
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
