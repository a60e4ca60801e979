"""The Transformer's encoder."""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.multihead import SelfAttention
from regard.blocks import Embedding, FeedForward, Norm, Sublayer
from regard.encoders.base import Encoder
from regard.memory import Memory


class EncoderLayer(nn.Module):
    """Self-attention, then a feed-forward net, each in a residual sublayer."""

    def __init__(
        self,
        dim: int,
        *,
        heads: int,
        hidden: int,
        norm: Norm,
        dropout: float,
        attention_dropout: float,
        hidden_dropout: float,
        key: int | None = None,
    ) -> None:
        super().__init__()
        self.looking = Sublayer(dim, norm=norm, dropout=dropout)
        self.thinking = Sublayer(dim, norm=norm, dropout=dropout)
        self.attention = SelfAttention(dim, heads, causal=False, key=key, dropout=attention_dropout)
        self.feed_forward = FeedForward(dim, hidden, dropout=hidden_dropout)

    def forward(
        self, x: Float[Tensor, "batch time dim"], mask: Bool[Tensor, "batch time"] | None
    ) -> Float[Tensor, "batch time dim"]:
        x = self.looking(x, lambda y: self.attention(y, mask).context.view_as(y))
        return self.thinking(x, self.feed_forward)


class TransformerEncoder(Encoder):
    """A stack of self-attention layers (Vaswani et al., 2017, 3.1); the summary is the mean."""

    def __init__(
        self,
        embedding: Embedding,
        *,
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
        self.dim = self.summary = embedding.dim
        self.embedding = embedding
        self.layers = nn.ModuleList(
            EncoderLayer(
                self.dim,
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

    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        x = self.embedding(tokens)
        seen = None if bool(mask.all()) else mask
        for layer in self.layers:
            x = layer(x, seen)
        values = self.last(x)
        real = mask[..., None].to(values.dtype)
        summary = (values * real).sum(1) / real.sum(1).clamp(min=1)
        return Memory(values, mask, summary)
