"""The decoder whose bottom layer looks for all layers."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.base import Bridge, Decoded, gathered
from regard.decoders.looker import Looker, Looking, Source
from regard.memory import Memory, Read, Step
from regard.recurrent import Recurrent, RecurrentState


class Foundation(NamedTuple):
    """What the bottom layer has of a source, and the first states of the layers above."""

    bottom: Source
    above: tuple[RecurrentState, ...]


class Storeys(NamedTuple):
    """The state of the bottom layer, which looks, and of the layers above."""

    bottom: Looking
    above: tuple[RecurrentState, ...]


class GnmtDecoder(Looker):
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
        super().__init__(embedding, cell, attention, summary=summary, dropout=dropout)
        self.context = nn.Linear(memory, cell.gates * cell.dim, bias=False)
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
        x, bottom, read = self._look(projected, state.bottom, source.bottom)
        above: list[RecurrentState] = []
        for number, (layer, before) in enumerate(zip(self.above, state.above, strict=True)):
            more, after = layer.step(torch.cat([self.dropout(x), read.context], -1), before)
            x = x + more if number else more
            above.append(after)
        return Step(self.dropout(x), Storeys(bottom, tuple(above)), read)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source = self.prepare(memory)
        state = self.start(source).bottom
        hiddens: list[Tensor] = []
        reads: list[Read] = []
        for projected in self.cell.project(self.embedding(tokens)).unbind(1):
            hidden, state, read = self._look(projected, state, source.bottom)
            hiddens.append(hidden)
            reads.append(read)
        x, contexts = torch.stack(hiddens, 1), torch.stack([read.context for read in reads], 1)
        for number, (layer, first) in enumerate(zip(self.above, source.above, strict=True)):
            more, _ = layer(torch.cat([self.dropout(x), contexts], -1), first)
            x = x + more if number else more
        return gathered(self.dropout(x), reads)

    def _look(
        self, projected: Float[Tensor, "rows gates"], state: Looking, source: Source
    ) -> tuple[Float[Tensor, "rows dim"], Looking, Read]:
        read = self.attention(state.cell[-1][0], source.keys, state.attention)
        hidden, cell = self.cell.advance(projected + self.context(read.context), state.cell)
        return hidden, Looking(cell, read.state), read
