"""What the training loop sees of a task."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor, nn

from regard.data import Batches
from regard.losses import Total


class Sample(NamedTuple):
    """One validation output, to be read by a person."""

    source: str
    output: str
    reference: str


class Validation(NamedTuple):
    """What real decoding of the validation part gave."""

    scores: dict[str, float]
    goal: float
    """The score that training is after, turned so that lower is better."""
    samples: list[Sample]


class Learning(ABC):
    """What the training loop sees of a task."""

    model: nn.Module
    batches: Batches
    facts: dict[str, Any]
    """Of the data: sizes and fingerprints, for the preflight and the card."""

    @abstractmethod
    def blank(self) -> nn.Module:
        """A new model of the same shape."""

    @abstractmethod
    def batch(self, indices: np.ndarray) -> Any:
        """A tree of padded tensors."""

    @abstractmethod
    def count(self, indices: np.ndarray) -> int:
        """What the loss of these examples is a sum over."""

    @abstractmethod
    def loss(self, model: nn.Module, batch: Any) -> Total:
        """The loss of one batch, as a sum."""

    @abstractmethod
    def validate(self, model: nn.Module) -> Validation:
        """Decode the validation part for real, and score it."""

    @abstractmethod
    def save(self, folder: Path, weights: Mapping[str, Tensor], card: dict[str, Any]) -> None:
        """Write the model's folder."""
