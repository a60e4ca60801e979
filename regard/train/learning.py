"""What the training loop sees of a task."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from regard import tree
from regard.data import Tokenizer
from regard.losses import Carried, Total

READ = 64
"""Batches that a fingerprint reads; all of them may be hours of pictures."""


class Sample(NamedTuple):
    """One validation output, to be read by a person."""

    source: str
    output: str
    reference: str | None = None


class Validation(NamedTuple):
    """What real decoding of the validation part gave."""

    scores: dict[str, float]
    goal: float
    """The score that training is after, turned so that lower is better."""
    samples: list[Sample]


class Order(Protocol):
    """Which examples stand together in a batch, and in which order the batches come."""

    def epoch(self, epoch: int) -> Sequence[np.ndarray]:
        """The batches of an epoch: a pure function of the epoch."""


class Learning(ABC):
    """What the training loop sees of a task."""

    next_words: ClassVar[tuple[str, ...]] = ("run {} TEXT", "look {} TEXT", "evaluate {} valid")
    """What to try with the trained model in a folder."""
    model: nn.Module
    batches: Order
    tokenizers: Mapping[str, Tokenizer]
    """By the names of their files in a model's folder."""
    facts: dict[str, Any]
    """Of the data: sizes and fingerprints, for the preflight and the card."""

    @abstractmethod
    def told(self) -> list[str]:
        """What a person should know of the data before training."""

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
    def loss(self, model: nn.Module, batch: Any, carried: Carried) -> Total:
        """The loss of one batch, as a sum; `carried` is what the batch before left, if anything."""

    def turned(self, carried: Carried) -> Carried:
        """What is left of `carried` where an epoch ends: all, unless a task says otherwise."""
        return carried

    def fingerprint(self) -> str:
        """Of what is learned from: the sizes of all batches, and the symbols in some of them.

        Fractions are left out, such as maps of pictures: another machine rounds them otherwise.
        """
        batches = self.batches.epoch(0)
        content = hashlib.sha256(repr([self.count(indices) for indices in batches]).encode())
        places = np.linspace(0, len(batches) - 1, min(len(batches), READ)).astype(int).tolist()
        with torch.random.fork_rng():
            torch.manual_seed(0)  # a batch may have parts that are drawn
            for place in places:
                for leaf in tree.leaves(self.batch(batches[place])):
                    if not leaf.is_floating_point():
                        content.update(leaf.numpy().tobytes())
        return content.hexdigest()

    @abstractmethod
    def validate(self, model: nn.Module) -> Validation:
        """Decode the validation part for real, and score it."""

    @abstractmethod
    def expected(self, folder: Path) -> list[str]:
        """What a person may expect of the trained model in a folder."""

    @abstractmethod
    def save(self, folder: Path, weights: Mapping[str, Tensor], card: dict[str, Any]) -> None:
        """Write the model's folder."""
