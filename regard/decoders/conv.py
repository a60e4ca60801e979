"""The convolutional decoder: each layer sees a few positions before, and looks at the source."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention.content import Dot
from regard.blocks import HALF, Embedding, GatedConvolution, fitted
from regard.decoders.base import Decoded, Decoder
from regard.dropout import Dropout
from regard.memory import Keys, Memory, Step


class Recent(NamedTuple):
    """The position that comes next, and the last k - 1 inputs of every layer."""

    time: Int[Tensor, " rows"]
    inputs: tuple[Tensor, ...]


class ConvLayer(nn.Module):
    """v_i = GLU(W [h_{i-k+1}; ...; h_i]), then a look, both in residual connections.

    The query is W_d v_i + b_d + g_i, g_i the embedding of the last symbol; of what is seen, c_i,
    h'_i = ((v_i + W_c c_i) sqrt(0.5) + h_i) sqrt(0.5) (Gehring et al., 2017, 3.3 and 3.4).
    """

    def __init__(self, hidden: int, *, embedding: int, width: int, dropout: float) -> None:
        super().__init__()
        self.convolution = GatedConvolution(hidden, width=width, dropout=dropout)
        self.query = fitted(nn.Linear(hidden, embedding))
        self.attention = Dot()
        self.context = fitted(nn.Linear(embedding, hidden))

    def forward(
        self,
        x: Float[Tensor, "rows longer hidden"],
        embedded: Float[Tensor, "rows time embedding"],
        keys: Keys,
    ) -> Float[Tensor, "rows time hidden"]:
        """Of inputs that begin k - 1 positions earlier."""
        seen = self.convolution(x)
        # Every time step is a row of its sentence.
        query = (self.query(seen) + embedded).flatten(0, 1)
        context = self.context(self.attention(query, keys).context).view_as(seen)
        return ((seen + context) * HALF + x[:, x.shape[1] - seen.shape[1] :]) * HALF


class ConvDecoder(Decoder):
    """A stack of convolutions over the past, each with a look at the source.

    c_i = m sqrt(1/m) sum_j a_ij (z_j + e_j), m the source's own length: what a sum of m vectors
    loses in size is given back (Gehring et al., 2017, 3.4).
    """

    def __init__(
        self, embedding: Embedding, *, hidden: int, layers: int, width: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.embedding, self.hidden, self.width = embedding, hidden, width
        self.enter = fitted(nn.Linear(embedding.dim, hidden))
        self.layers: Any = nn.ModuleList(
            ConvLayer(hidden, embedding=embedding.dim, width=width, dropout=dropout)
            for _ in range(layers)
        )
        self.leave = fitted(nn.Linear(hidden, embedding.dim))
        self.dropout, self.dim = Dropout(dropout), embedding.dim

    def prepare(self, memory: Memory) -> Keys:
        size = memory.mask.sum(1).to(memory.values.dtype).sqrt()[:, None, None]
        # The keys of a dot product are the memory's own, the same for every layer.
        return self.layers[0].attention.keys(memory._replace(values=memory.values * size))

    def start(self, source: Keys) -> Recent:
        rows = len(source.mask)
        nothing = source.values.new_zeros(rows, self.width - 1, self.hidden)
        time = torch.zeros(rows, dtype=torch.long, device=source.mask.device)
        return Recent(time, (nothing,) * len(self.layers))

    def step(self, token: Int[Tensor, " rows"], state: Recent, source: Keys) -> Step:
        embedded = self.embedding(token[:, None], first=state.time)
        x, after = self.enter(embedded), []
        for layer, before in zip(self.layers, state.inputs, strict=True):
            inputs = torch.cat([before, x], 1)
            x = layer(inputs, embedded, source)
            after.append(inputs[:, 1:])
        return Step(self.dropout(self.leave(x[:, 0])), Recent(state.time + 1, tuple(after)))

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        source, embedded = self.prepare(memory), self.embedding(tokens)
        x = self.enter(embedded)
        for layer in self.layers:
            x = layer(F.pad(x, (0, 0, self.width - 1, 0)), embedded, source)
        return Decoded(self.dropout(self.leave(x)))
