"""What every decoder is: prepare once, start, then step by step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from regard.memory import Memory, Read, State, Step
from regard.recurrent import Recurrent, RecurrentState


class Decoded(NamedTuple):
    """A whole sequence decoded with the right symbols as input."""

    outputs: Float[Tensor, "batch time dim"]
    weights: Float[Tensor, "batch time *head source"] | None = None
    log_prob: Float[Tensor, "batch time"] | None = None
    entropy: Float[Tensor, "batch time"] | None = None


class Decoder(nn.Module, ABC):
    """Says the next symbol, given those before and a memory.

    The source (constant per sentence) and the state (one row per hypothesis) are apart; a state
    may have several rows per sentence, standing together. Nothing is kept on the module.
    """

    dim: int
    """Size of the outputs, which the head turns into symbols."""

    @abstractmethod
    def prepare(self, memory: Memory) -> Any:
        """Everything about the memory that no step changes."""

    @abstractmethod
    def start(self, source: Any) -> State:
        """The state before the first symbol, one row per sentence."""

    @abstractmethod
    def step(self, token: Int[Tensor, " rows"], state: State, source: Any) -> Step:
        """Take one symbol in and go on."""

    @abstractmethod
    def forward(self, tokens: Int[Tensor, "batch time"], memory: Memory) -> Decoded:
        """The same outputs as stepping through `tokens`, computed together where possible."""


class Bridge(nn.Module):
    """s_0 = tanh(W summary): a decoder's first state (Bahdanau et al., 2015, A.2.2)."""

    def __init__(self, summary: int, cell: Recurrent) -> None:
        super().__init__()
        self.shape = (cell.layers, cell.parts, cell.dim)
        self.weight = nn.Linear(summary, cell.layers * cell.parts * cell.dim)

    def forward(self, summary: Float[Tensor, "batch summary"]) -> RecurrentState:
        state = self.weight(summary).tanh().unflatten(1, self.shape)
        return tuple(tuple(layer.unbind(1)) for layer in state.unbind(1))


def gathered(outputs: Tensor, reads: list[Read]) -> Decoded:
    """Outputs of all steps, with what each step's look gave."""
    weights = [read.weights for read in reads if read.weights is not None]
    log_probs = [read.log_prob for read in reads if read.log_prob is not None]
    entropies = [read.entropy for read in reads if read.entropy is not None]
    return Decoded(
        outputs,
        torch.stack(weights, 1) if weights else None,
        torch.stack(log_probs, 1) if log_probs else None,
        torch.stack(entropies, 1) if entropies else None,
    )
