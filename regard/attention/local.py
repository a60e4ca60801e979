"""Where an attention may look: everywhere, or near one place."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention.choose import masked
from regard.memory import Keys, State


class Framed(NamedTuple):
    """Scores of what may be looked at, the lowest number elsewhere; and the next state."""

    scores: Float[Tensor, "batch width source"]
    state: State


class Window(nn.Module, ABC):
    """Which places an attention may look at, and which of them it favours."""

    def start(self, keys: Keys) -> State:  # noqa: ARG002
        """The state before the first look; None for windows that have none."""
        return None

    @abstractmethod
    def forward(
        self,
        scores: Float[Tensor, "batch width source"],
        query: Float[Tensor, "batch width query"],
        mask: Bool[Tensor, "batch source"],
        state: State,
    ) -> Framed:
        """Scores as the window shows them."""


class Everywhere(Window):
    """Every real place (global attention)."""

    def forward(
        self,
        scores: Float[Tensor, "batch width source"],
        query: Float[Tensor, "batch width query"],  # noqa: ARG002
        mask: Bool[Tensor, "batch source"],
        state: State,
    ) -> Framed:
        return Framed(masked(scores, mask[:, None]), state)


class Monotonic(Window):
    """|j - p_t| <= D around p_t = t, or the last place where t is beyond it (local-m).

    Luong et al., 2015, 3.2. The state is t.
    """

    def __init__(self, *, width: int) -> None:
        super().__init__()
        self.width = positive(width)

    def start(self, keys: Keys) -> State:
        return torch.zeros(len(keys.mask), dtype=torch.long, device=keys.mask.device)

    def forward(
        self,
        scores: Float[Tensor, "batch width source"],
        query: Float[Tensor, "batch width query"],
        mask: Bool[Tensor, "batch source"],
        state: State,
    ) -> Framed:
        time = state.view(query.shape[:2])
        place = torch.minimum(time, (mask.sum(1, keepdim=True) - 1).clamp(min=0))
        near = distances(mask, place).abs() <= self.width
        return Framed(masked(scores, mask[:, None] & near), state + 1)


class Predictive(Window):
    """|j - p_t| <= D around p_t = S sigmoid(v . tanh(W q)), S the source's own length (local-p).

    A Gaussian with sigma = D / 2 favours what is near: a_j ~ exp(e_j - (j - p_t)^2 / (2 sigma^2)).
    That is the product of Luong et al., 2015, eq. 10, made to sum to 1.
    """

    def __init__(self, query: int, *, width: int) -> None:
        super().__init__()
        self.width = positive(width)
        self.hidden = nn.Linear(query, query, bias=False)
        self.place = nn.Linear(query, 1, bias=False)

    def forward(
        self,
        scores: Float[Tensor, "batch width source"],
        query: Float[Tensor, "batch width query"],
        mask: Bool[Tensor, "batch source"],
        state: State,
    ) -> Framed:
        share = self.place(self.hidden(query).tanh()).squeeze(-1).sigmoid()
        away = distances(mask, share * mask.sum(1, keepdim=True))
        favoured = scores - 2 * (away / self.width).square()
        return Framed(masked(favoured, mask[:, None] & (away.abs() <= self.width)), state)


def distances(mask: Bool[Tensor, "batch source"], place: Tensor) -> Tensor:
    """How far every real place stands from the given one, for each of several looks."""
    places = mask.cumsum(1) - 1  # counted among what is real
    return places[:, None] - place[..., None]


def positive(width: int) -> int:
    """A width that leaves something to look at."""
    if width < 1:
        raise ValueError(f"width: wanted a window of 1 place or more to each side, got {width}")
    return width
