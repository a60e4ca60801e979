"""Luong's order: step, look with the new state, then say."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.blocks import Embedding
from regard.decoders.base import Decoded, gathered
from regard.decoders.looker import Looker, Looking, Source
from regard.memory import Keys, Memory, Read, Step
from regard.recurrent import Recurrent


class StepFirst(Looker):
    """s_i = f(s_{i-1}, y_{i-1}), c_i = attend(s_i), o_i = tanh(W [c_i; s_i]) (Luong et al., 2015).

    No step needs another's look, so training runs the recurrence fused and all looks at once; only
    an attention with a state of its own must look step by step.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        attention: Attention,
        *,
        memory: int,
        summary: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(embedding, cell, attention, summary=summary, dropout=dropout)
        self.combine = nn.Linear(memory + cell.dim, cell.dim, bias=False)
        self.dim = cell.dim

    def step(self, token: Int[Tensor, " rows"], state: Looking, source: Source) -> Step:
        hidden, cell = self.cell.step(self.embedding(token[:, None])[:, 0], state.cell)
        read = self.attention(hidden, source.keys, state.attention)
        return Step(self._combined(read.context, hidden), Looking(cell, read.state), read)

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source = self.prepare(memory)
        hidden, _ = self.cell(self.embedding(tokens), source.first)
        looks = self._looks(hidden, source.keys)
        return looks._replace(outputs=self._combined(looks.outputs, hidden))

    def _looks(self, hidden: Float[Tensor, "batch time dim"], keys: Keys) -> Decoded:
        """What every step sees: contexts as outputs, with their weights."""
        state = self.attention.start(keys)
        if state is None:
            # Every time step is a row of its sentence, just as every hypothesis is in a beam.
            read, shape = self.attention(hidden.flatten(0, 1), keys), hidden.shape[:2]
            weights, log_prob = (
                x if x is None else x.unflatten(0, shape) for x in (read.weights, read.log_prob)
            )
            return Decoded(read.context.unflatten(0, shape), weights, log_prob)
        reads: list[Read] = []
        for query in hidden.unbind(1):
            reads.append(self.attention(query, keys, state))
            state = reads[-1].state
        return gathered(torch.stack([read.context for read in reads], 1), reads)

    def _combined(
        self, context: Float[Tensor, "*rows memory"], hidden: Float[Tensor, "*rows hidden"]
    ) -> Float[Tensor, "*rows dim"]:
        return self.dropout(self.combine(torch.cat([context, hidden], -1)).tanh())


class Fed(NamedTuple):
    """The state with input feeding: the last attentional vector goes in with the next symbol."""

    looking: Looking
    output: Float[Tensor, "rows dim"]


class InputFeeding(StepFirst):
    """s_i = f(s_{i-1}, [y_{i-1}; o_{i-1}]), else as StepFirst (Luong et al., 2015, 3.3).

    The weights of [y; o] are kept in two parts, so that the symbols' part can be computed for all
    steps at once.
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        attention: Attention,
        *,
        memory: int,
        summary: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            embedding, cell, attention, memory=memory, summary=summary, dropout=dropout
        )
        self.fed = nn.Linear(self.dim, cell.gates * cell.dim, bias=False)

    def start(self, source: Source) -> Fed:  # type: ignore[override]
        hidden = source.first[-1][0]
        return Fed(super().start(source), torch.zeros_like(hidden))

    def step(self, token: Int[Tensor, " rows"], state: Fed, source: Source) -> Step:  # type: ignore[override]
        embedded = self.embedding(token[:, None])[:, 0]
        return Step(*self._advance(self.cell.project(embedded), state, source))

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source = self.prepare(memory)
        state = self.start(source)
        outputs: list[Tensor] = []
        reads: list[Read] = []
        for projected in self.cell.project(self.embedding(tokens)).unbind(1):
            output, state, read = self._advance(projected, state, source)
            outputs.append(output)
            reads.append(read)
        return gathered(torch.stack(outputs, 1), reads)

    def _advance(
        self, projected: Float[Tensor, "rows gates"], state: Fed, source: Source
    ) -> tuple[Float[Tensor, "rows dim"], Fed, Read]:
        hidden, cell = self.cell.advance(projected + self.fed(state.output), state.looking.cell)
        read = self.attention(hidden, source.keys, state.looking.attention)
        output = self._combined(read.context, hidden)
        return output, Fed(Looking(cell, read.state), output), read
