"""The decoder whose bottom layer looks for all layers."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.base import Bridge, Decoded, gathered
from regard.decoders.looker import Looking, LookThenStep, Source
from regard.memory import Memory, Step
from regard.recurrent import Recurrent, RecurrentState


class Foundation(NamedTuple):
    """What the bottom layer has of a source, and the first states of the layers above."""

    bottom: Source
    above: tuple[RecurrentState, ...]


class Storeys(NamedTuple):
    """The state of the bottom layer, which looks, and of the layers above."""

    bottom: Looking
    above: tuple[RecurrentState, ...]


class GnmtDecoder(LookThenStep):
    """c_i = attend(s^1_{i-1}), s^1_i = f([y_{i-1}; c_i]), s^l_i = f([s^{l-1}_i; c_i]) + s^{l-1}_i.

    What the bottom layer sees goes into every layer; residual connections begin with the third (Wu
    et al., 2016, 3). No layer above changes what is looked at, so that training loops over the
    bottom layer only and runs all others fused over whole sequences. Dropout falls on what each
    layer above reads and on the output.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        above: list[Recurrent],
        attention: Attention,
        *,
        memory: int,
        summary: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            embedding, cell, attention, memory=memory, summary=summary, dropout=dropout
        )
        self.above: Any = nn.ModuleList(above)
        self.bridges: Any = nn.ModuleList(Bridge(summary, layer) for layer in above)
        self.dim = above[-1].dim

    def prepare(self, memory: Memory) -> Foundation:  # type: ignore[override]
        above = tuple(bridge(memory.summary) for bridge in self.bridges)
        return Foundation(super().prepare(memory), above)

    def start(self, source: Foundation) -> Storeys:  # type: ignore[override]
        return Storeys(super().start(source.bottom), source.above)

    def step(self, token: Int[Tensor, " rows"], state: Storeys, source: Foundation) -> Step:
        projected = self.cell.project(self.embedding(token[:, None])[:, 0])
        x, bottom, read = self._advance(projected, state.bottom, source.bottom)
        above: list[RecurrentState] = []
        for number, (layer, before) in enumerate(zip(self.above, state.above, strict=True)):
            more, after = layer.step(torch.cat([self.dropout(x), read.context], -1), before)
            x = x + more if number else more
            above.append(after)
        return Step(self.dropout(x), Storeys(bottom, tuple(above)), read)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source = self.prepare(memory)
        bottom, embedded = self.start(source).bottom, self.embedding(tokens)
        x, contexts, reads = self._through(embedded, bottom, source.bottom)
        for number, (layer, first) in enumerate(zip(self.above, source.above, strict=True)):
            more, _ = layer(torch.cat([self.dropout(x), contexts], -1), first)
            x = x + more if number else more
        return gathered(self.dropout(x), reads)
