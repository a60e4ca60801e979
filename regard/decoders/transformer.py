"""The Transformer's decoder, whole or one step at a time with a cache."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.multihead import MultiHead, SelfAttention
from regard.blocks import Embedding, FeedForward, Norm, Sublayer
from regard.decoders.base import Decoded, Decoder
from regard.memory import Keys, Memory, Step


class Past(NamedTuple):
    """The position that comes next, and one cache per layer.

    A cache has the newest position first: hypotheses of different ages stand side by side, with
    nothing behind the younger.
    """

    time: Int[Tensor, " rows"]
    layers: tuple[Tensor, ...]


class DecoderLayer(nn.Module):
    """Self-attention over the past, attention over the memory, a feed-forward net."""

    def __init__(
        self,
        dim: int,
        *,
        memory: int,
        heads: int,
        hidden: int,
        norm: Norm,
        dropout: float,
        attention_dropout: float,
        hidden_dropout: float,
        key: int | None = None,
    ) -> None:
        super().__init__()
        self.recalling = Sublayer(dim, norm=norm, dropout=dropout)
        self.looking = Sublayer(dim, norm=norm, dropout=dropout)
        self.thinking = Sublayer(dim, norm=norm, dropout=dropout)
        self.past = SelfAttention(dim, heads, causal=True, key=key, dropout=attention_dropout)
        self.attention = MultiHead(dim, heads, memory=memory, key=key, dropout=attention_dropout)
        self.feed_forward = FeedForward(dim, hidden, dropout=hidden_dropout)

    def forward(
        self, x: Float[Tensor, "batch time dim"], keys: Keys
    ) -> Float[Tensor, "batch time dim"]:
        x = self.recalling(x, lambda y: self.past(y).context.view_as(y))
        # Every time step is a row of its sentence.
        return self._look_and_think(x.flatten(0, 1), keys).view_as(x)

    def step(
        self,
        x: Float[Tensor, "rows dim"],
        past: Tensor,
        keys: Keys,
        mask: Bool[Tensor, "rows time"] | None = None,
    ) -> tuple[Float[Tensor, "rows dim"], Tensor]:
        longer: list[Tensor] = []

        def recall(y: Tensor) -> Tensor:
            read = self.past.step(y, past, mask)
            longer.append(read.state)
            return read.context

        x = self.recalling(x, recall)
        return self._look_and_think(x, keys), longer[0]

    def _look_and_think(self, x: Float[Tensor, "rows dim"], keys: Keys) -> Tensor:
        x = self.looking(x, lambda y: self.attention(y, keys).context)
        return self.thinking(x, self.feed_forward)


class TransformerDecoder(Decoder):
    """A stack of layers that look back and at the memory (Vaswani et al., 2017, 3.1)."""

    def __init__(
        self,
        embedding: Embedding,
        *,
        memory: int,
        layers: int,
        heads: int,
        hidden: int,
        norm: Norm = "pre",
        dropout: float = 0.1,
        attention_dropout: float = 0.0,
        hidden_dropout: float = 0.0,
        key: int | None = None,
    ) -> None:
        super().__init__()
        self.dim = embedding.dim
        self.embedding = embedding
        self.layers: Any = nn.ModuleList(
            DecoderLayer(
                self.dim,
                memory=memory,
                heads=heads,
                hidden=hidden,
                norm=norm,
                dropout=dropout,
                attention_dropout=attention_dropout,
                hidden_dropout=hidden_dropout,
                key=key,
            )
            for _ in range(layers)
        )
        self.last = nn.LayerNorm(self.dim) if norm == "pre" else nn.Identity()

    def prepare(self, memory: Memory) -> tuple[Keys, ...]:
        return tuple(layer.attention.keys(memory) for layer in self.layers)

    def start(self, source: tuple[Keys, ...]) -> Past:
        mask = source[0].mask
        time = torch.zeros(len(mask), dtype=torch.long, device=mask.device)
        return Past(time, tuple(layer.past.start(len(mask)) for layer in self.layers))

    def step(self, token: Int[Tensor, " rows"], state: Past, source: tuple[Keys, ...]) -> Step:
        x = self.embedding(token[:, None], first=state.time)[:, 0]
        oldest, mask = _ages(state.time)
        after: list[Tensor] = []
        for layer, past, keys in zip(self.layers, state.layers, source, strict=True):
            x, longer = layer.step(x, past[:, :, :oldest], keys, mask)
            after.append(longer)
        return Step(self.last(x), Past(state.time + 1, tuple(after)))

    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        x = self.embedding(tokens)
        for layer, keys in zip(self.layers, self.prepare(memory), strict=True):
            x = layer(x, keys)
        return Decoded(self.last(x))


def _ages(time: Int[Tensor, " rows"]) -> tuple[int, Bool[Tensor, "rows time"] | None]:
    """How much of a cache is in use before a step, and which places are real after it.

    None where all rows are of one age, as in a search whose sentences began together.
    """
    if not len(time):
        return 0, None
    youngest, oldest = (int(age) for age in time.aminmax())
    if youngest == oldest:
        return oldest, None
    return oldest, torch.arange(oldest + 1, device=time.device) <= time[:, None]
