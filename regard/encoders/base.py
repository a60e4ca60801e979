"""What every encoder of symbols is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Bool, Int
from torch import Tensor, nn

from regard.memory import Memory


class Encoder(nn.Module, ABC):
    """Turns a padded batch of sources into a memory."""

    dim: int
    """Size of the memory's values."""
    summary: int
    """Size of the memory's summary."""

    @abstractmethod
    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        """Read the sources."""
