"""What a task is: from a recipe to what learns, from a folder to what runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from jaxtyping import Float

from regard.data.sources import OnError
from regard.look.trace import Trace
from regard.train.learning import Learning

if TYPE_CHECKING:
    from regard.look.probe import Gradients
    from regard.tasks.evaluate import Evaluation


class Trained(ABC):
    """A model that can be used: it runs, is evaluated, and shows where it looked."""

    writes: ClassVar[bool] = False
    """Whether it writes on from a prompt instead of answering it."""
    sees: ClassVar[bool] = False
    """Whether its inputs are pictures."""

    @abstractmethod
    def run(self, inputs: Sequence[str]) -> list[Any]:
        """One output per input."""

    @abstractmethod
    def evaluate(
        self,
        data: Any,
        *,
        metrics: list[str] | None = None,
        decode: Any = None,
        most: int | None = None,
        on_error: OnError = "stop",
    ) -> Evaluation:
        """Score the model on files, or on a part of the recipe's own data.

        With `on_error="skip"`, bad lines are left out and counted.
        """

    def look(self, text: Any, *, answer: str | None = None) -> Trace:  # noqa: ARG002
        """Where the model looks while it answers an input."""
        raise ValueError("this model has no attention: there is nowhere that it looked")

    def gradients(self, data: Any, *, steps: int = 100, rows: int = 32) -> Gradients:  # noqa: ARG002
        """How the gradient of its loss on files, or on a part of its data, flows back in time."""
        raise ValueError("this model has no recurrence that a gradient could flow back through")

    def summaries(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:  # noqa: ARG002
        """What its encoder makes of each text as a whole."""
        raise ValueError("this model has no encoder: it makes no vector of a sentence")


class Task(ABC):
    """A recipe: what is learned from what, and how."""

    @classmethod
    def filled(cls, recipe: dict[str, Any]) -> dict[str, Any]:
        """The recipe with what it leaves out to be chosen by its data."""
        return recipe

    def anchored(self, recipe: dict[str, Any]) -> dict[str, Any]:
        """The recipe as its model is to have it, wherever that is used."""
        return recipe

    @abstractmethod
    def prepare(self, *, progress: bool = True) -> Learning:
        """Read and prepare the data, and build the model."""

    @abstractmethod
    def part(self, name: Literal["valid", "test"]) -> Any:
        """A part of the data that a trained model can be evaluated on; None where there is none."""

    @abstractmethod
    def restore(self, folder: Path) -> Trained:
        """The trained model in a folder."""
