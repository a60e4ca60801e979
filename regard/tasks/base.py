"""What a task is: from a recipe to what learns, from a folder to what runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from regard.train.learning import Learning


class Trained(ABC):
    """A model that can be used: it runs, is evaluated, and shows where it looked."""

    @abstractmethod
    def run(self, inputs: Sequence[str]) -> list[Any]:
        """One output per input."""


class Task(ABC):
    """A recipe: what is learned from what, and how."""

    @abstractmethod
    def prepare(self, *, progress: bool = True) -> Learning:
        """Read and prepare the data, and build the model."""

    @abstractmethod
    def restore(self, folder: Path) -> Trained:
        """The trained model in a folder."""
