"""The content attentions: each is one score."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.base import Content
from regard.attention.local import Window


class Dot(Content):
    """score(q, k) = q . k (Luong et al., 2015, eq. 8)."""

    def score(
        self, query: Float[Tensor, "batch width dim"], keys: Float[Tensor, "batch source dim"]
    ) -> Float[Tensor, "batch width source"]:
        return torch.bmm(query, keys.transpose(1, 2))


class ScaledDot(Dot):
    """score(q, k) = q . k / sqrt(d) (Vaswani et al., 2017, eq. 1)."""

    def score(
        self, query: Float[Tensor, "batch width dim"], keys: Float[Tensor, "batch source dim"]
    ) -> Float[Tensor, "batch width source"]:
        return super().score(query / math.sqrt(query.shape[-1]), keys)


class General(Dot):
    """score(q, k) = q . W k (Luong et al., 2015, eq. 8); W k is computed once per source."""

    def __init__(
        self,
        query: int,
        memory: int,
        *,
        choice: nn.Module | None = None,
        window: Window | None = None,
    ) -> None:
        super().__init__(choice, window)
        self.weight = nn.Linear(memory, query, bias=False)

    def project(self, values: Float[Tensor, "batch source dim"]) -> Tensor:
        return self.weight(values)


class Additive(Content):
    """score(q, k) = v . tanh(W q + U k + b) (Bahdanau et al., 2015, A.1.2); U k once per source."""

    def __init__(
        self,
        query: int,
        memory: int,
        *,
        dim: int,
        bias: bool = True,
        choice: nn.Module | None = None,
        window: Window | None = None,
    ) -> None:
        super().__init__(choice, window)
        self.query = nn.Linear(query, dim, bias=False)
        self.key = nn.Linear(memory, dim, bias=bias)
        self.energy = nn.Linear(dim, 1, bias=False)

    def project(self, values: Float[Tensor, "batch source dim"]) -> Tensor:
        return self.key(values)

    def score(
        self, query: Float[Tensor, "batch width query"], keys: Float[Tensor, "batch source dim"]
    ) -> Float[Tensor, "batch width source"]:
        met = self.query(query)[:, :, None] + keys[:, None]
        return self.energy(met.tanh_()).squeeze(-1)


class Concat(Additive):
    """score(q, k) = v . tanh(W [q; k]) (Luong et al., 2015, eq. 8).

    W [q; k] is W_q q + W_k k: the additive score of the query's own size, without a bias.
    """

    def __init__(
        self,
        query: int,
        memory: int,
        *,
        choice: nn.Module | None = None,
        window: Window | None = None,
    ) -> None:
        super().__init__(query, memory, dim=query, bias=False, choice=choice, window=window)
