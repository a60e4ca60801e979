"""Length penalties: what a hypothesis' log probability is divided by."""

from __future__ import annotations

from abc import ABC, abstractmethod


class Penalty(ABC):
    """score = log p(y) / divisor(|y|); |y| counts the end-of-sequence symbol.

    The divisor must not fall with the length: a beam's early stopping relies on it.
    """

    @abstractmethod
    def divisor(self, length: int) -> float:
        """What a log probability of this many symbols is divided by."""


class Raw(Penalty):
    """score = log p(y): short sequences are favoured."""

    def divisor(self, length: int) -> float:  # noqa: ARG002
        return 1.0


class Average(Penalty):
    """score = log p(y) / |y|: the mean log probability of a symbol (Cho et al., 2014)."""

    def divisor(self, length: int) -> float:
        return float(length)


class Gnmt(Penalty):
    """score = log p(y) / ((5 + |y|) / 6)^alpha (Wu et al., 2016, eq. 14)."""

    def __init__(self, alpha: float = 0.6) -> None:
        if not 0 <= alpha <= 5:
            raise ValueError(f"alpha: wanted a number from 0 to 5, got {alpha}")
        self.alpha = alpha

    def divisor(self, length: int) -> float:
        return float(((5 + length) / 6) ** self.alpha)
