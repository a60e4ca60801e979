"""Parts that encoders and decoders share: embeddings with positions, residual sublayers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Literal

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.dropout import Dropout

HALF = math.sqrt(0.5)
"""What a sum of two things of one variance is multiplied by to have that variance again."""
Norm = Literal["pre", "post"]
PositionKind = Literal["none", "sinusoidal", "learned"]


class Embedding(nn.Module):
    """E[x] * scale (+ position), then dropout.

    With positions the scale is sqrt(dim), unless told (Vaswani et al., 2017, 3.4).
    """

    def __init__(
        self,
        vocab: int,
        dim: int,
        *,
        positions: PositionKind = "none",
        scale: float | None = None,
        longest: int = 1024,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.dim, self.longest = dim, longest
        self.table = nn.Embedding(vocab, dim)
        usual = 1.0 if positions == "none" else math.sqrt(dim)
        self.scale = usual if scale is None else scale
        nn.init.normal_(self.table.weight, std=dim**-0.5)
        self.dropout = Dropout(dropout)
        self.learned = nn.Embedding(longest, dim) if positions == "learned" else None
        if self.learned is not None:
            nn.init.normal_(self.learned.weight, std=dim**-0.5)
        table = sinusoids(longest, dim) if positions == "sinusoidal" else None
        self.register_buffer("sinusoids", table, persistent=False)
        self.sinusoids: Tensor | None

    def forward(
        self, tokens: Int[Tensor, "batch time"], first: Int[Tensor, " batch"] | None = None
    ) -> Float[Tensor, "batch time dim"]:
        """Embed positions from the beginning, or from each row's own `first` onwards."""
        x = self.table(tokens) * self.scale if self.scale != 1.0 else self.table(tokens)
        places = self.learned.weight if self.learned is not None else self.sinusoids
        if places is not None:
            time = tokens.shape[1]
            needed = time + (0 if first is None or not len(first) else int(first.max()))
            if needed > len(places):
                raise ValueError(
                    f"a sequence of {needed} tokens is longer than the {self.longest} positions of "
                    "this model; cut it or train with a larger longest"
                )
            if first is None:
                return self.dropout(x + places[:time])
            x = x + places[first[:, None] + torch.arange(time, device=first.device)]
        return self.dropout(x)


def reach(model: nn.Module) -> int | None:
    """How far a model's positions reach; None where it has none."""
    found = [
        part.longest
        for part in model.modules()
        if isinstance(part, Embedding) and (part.learned is not None or part.sinusoids is not None)
    ]
    return min(found, default=None)


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


class GatedConvolution(nn.Module):
    """A * sigmoid(B), [A; B] = W [x_{i-k+1}; ...; x_i] + b (Dauphin et al., 2017).

    Written as a linear map of k neighbours side by side, which on a CPU is faster than PyTorch's
    convolution, for a single step several times. Dropout falls on the inputs; the first weights are
    those of Gehring et al., 2017, 3.5.
    """

    def __init__(self, dim: int, *, width: int, dropout: float = 0.0) -> None:
        super().__init__()
        if width < 1:
            raise ValueError(f"width: wanted 1 position or more, got {width}")
        self.width, self.dropout = width, Dropout(dropout)
        self.weight = fitted(nn.Linear(width * dim, 2 * dim), gain=2.0 * math.sqrt(1 - dropout))

    def forward(self, x: Float[Tensor, "batch longer dim"]) -> Float[Tensor, "batch time dim"]:
        """One output for each k neighbours: k - 1 fewer than inputs."""
        neighbours = self.dropout(x).unfold(1, self.width, 1).transpose(2, 3).flatten(2)
        return F.glu(self.weight(neighbours), -1)


def fitted(layer: nn.Linear, *, gain: float = 1.0) -> nn.Linear:
    """Weights that keep the variance: N(0, gain sqrt(1 / inputs)) (Gehring et al., 2017, 3.5)."""
    nn.init.normal_(layer.weight, std=gain * layer.in_features**-0.5)
    nn.init.zeros_(layer.bias)
    return layer


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
