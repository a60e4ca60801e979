"""Parts that encoders and decoders share: embeddings with positions, residual sublayers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.dropout import Dropout

Norm = Literal["pre", "post"]
PositionKind = Literal["none", "sinusoidal", "learned"]


class Embedding(nn.Module):
    """E[x] * scale (+ position), then dropout.

    With positions the vectors are scaled by sqrt(dim) (Vaswani et al., 2017, 3.4).
    """

    def __init__(
        self,
        vocab: int,
        dim: int,
        *,
        positions: PositionKind = "none",
        longest: int = 1024,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dim, self.longest = dim, longest
        self.table = nn.Embedding(vocab, dim)
        self.scale = 1.0 if positions == "none" else math.sqrt(dim)
        nn.init.normal_(self.table.weight, std=dim**-0.5)
        self.dropout = Dropout(dropout)
        self.learned = nn.Embedding(longest, dim) if positions == "learned" else None
        if self.learned is not None:
            nn.init.normal_(self.learned.weight, std=dim**-0.5)
        table = sinusoids(longest, dim) if positions == "sinusoidal" else None
        self.register_buffer("sinusoids", table, persistent=False)
        self.sinusoids: Tensor | None

    def forward(
        self, tokens: Int[Tensor, "batch time"], first: int = 0
    ) -> Float[Tensor, "batch time dim"]:
        """Embed positions `first` onwards."""
        x = self.table(tokens) * self.scale if self.scale != 1.0 else self.table(tokens)
        places = self.learned.weight if self.learned is not None else self.sinusoids
        if places is not None:
            if first + tokens.shape[1] > len(places):
                raise ValueError(
                    f"a sequence of {first + tokens.shape[1]} tokens is longer than the "
                    f"{self.longest} positions of this model; cut it or train with a larger longest"
                )
            x = x + places[first : first + tokens.shape[1]]
        return self.dropout(x)


def sinusoids(longest: int, dim: int) -> Float[Tensor, "longest dim"]:
    """P[t, 2i] = sin(t / 10000^(2i/d)), P[t, 2i+1] = cos(...) (Vaswani et al., 2017, 3.5)."""
    if dim % 2:
        raise ValueError(f"sinusoidal positions: wanted an even dim, got {dim}")
    # In double: single precision is wrong by 6e-5 at the thousandth place.
    rates = torch.exp(torch.arange(0, dim, 2).double() * (-math.log(10000.0) / dim))
    angles = torch.arange(longest)[:, None] * rates
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)
    return waves.to(torch.get_default_dtype())


class Sublayer(nn.Module):
    """post: norm(x + f(x)) (Vaswani et al., 2017); pre: x + f(norm(x)) (Xiong et al., 2020)."""

    def __init__(self, dim: int, *, norm: Norm, dropout: float) -> None:
        super().__init__()
        self.norm, self.pre, self.dropout = nn.LayerNorm(dim), norm == "pre", Dropout(dropout)

    def forward(self, x: Tensor, inner: Callable[[Tensor], Tensor]) -> Tensor:
        if self.pre:
            return x + self.dropout(inner(self.norm(x)))
        return self.norm(x + self.dropout(inner(x)))


class FeedForward(nn.Module):
    """W_2 max(0, W_1 x + b_1) + b_2 (Vaswani et al., 2017, eq. 2)."""

    def __init__(self, dim: int, hidden: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(dim, hidden), nn.Linear(hidden, dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(self.dropout(self.up(x).relu_()))


class Activation(nn.Module, ABC):
    """What a layer does with its sums; it may take several sums for each of its outputs."""

    pieces: ClassVar[int]
    """How many sums make one output."""

    @abstractmethod
    def forward(self, sums: Float[Tensor, "*rows sums"]) -> Float[Tensor, "*rows dim"]:
        """From sums to outputs."""


class Tanh(Activation):
    """y = tanh(u)."""

    pieces = 1

    def forward(self, sums: Float[Tensor, "*rows sums"]) -> Float[Tensor, "*rows dim"]:
        return sums.tanh()


class Maxout(Activation):
    """y_j = max(u_j, u_{d+j}), of 2 d sums (Goodfellow et al., 2013).

    The deep output of Cho et al., 2014, and Bahdanau et al., 2015, A.2.2.
    """

    pieces = 2

    def forward(self, sums: Float[Tensor, "*rows sums"]) -> Float[Tensor, "*rows dim"]:
        return torch.maximum(*sums.chunk(2, -1))


ACTIVATIONS: dict[str, type[Activation]] = {"tanh": Tanh, "maxout": Maxout}
