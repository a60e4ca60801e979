"""What every attention is: keys once per source, then one look after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.choose import Soft
from regard.attention.local import Everywhere, Window
from regard.memory import Keys, Memory, Read, State

_explicit: ContextVar[bool] = ContextVar("explicit", default=False)


@contextmanager
def explicit_weights() -> Iterator[None]:
    """Within, every attention computes its weights openly, where it else uses a fused kernel."""
    token = _explicit.set(True)
    try:
        yield
    finally:
        _explicit.reset(token)


def weights_are_wanted() -> bool:
    """Whether somebody is watching."""
    return _explicit.get()


class Attention(nn.Module, ABC):
    """A way to look at a memory.

    Queries come as rows: hypotheses of a beam, or the time steps of a sequence that is known. The
    rows of one source stand together, so a memory is never copied per hypothesis.
    """

    @abstractmethod
    def keys(self, memory: Memory) -> Keys:
        """Everything about the memory that no query changes, computed once."""

    def start(self, keys: Keys) -> State:  # noqa: ARG002
        """The state before the first look; None for attentions that have none."""
        return None

    @abstractmethod
    def forward(self, query: Float[Tensor, "rows query"], keys: Keys, state: State = None) -> Read:
        """Look once per row."""


class Content(Attention):
    """Attention by content: a = choose(score(q, k_j)), c = sum_j a_j v_j.

    A kind is one `score`; the window that masks, choosing and the weighted sum are written here,
    once.
    """

    def __init__(self, choice: nn.Module | None = None, window: Window | None = None) -> None:
        super().__init__()
        self.window = window if window is not None else Everywhere()
        self.choice = choice if choice is not None else Soft()

    @abstractmethod
    def score(
        self, query: Float[Tensor, "batch width query"], keys: Float[Tensor, "batch source key"]
    ) -> Float[Tensor, "batch width source"]:
        """How well each query fits each key."""

    def project(self, values: Float[Tensor, "batch source dim"]) -> Tensor:
        """Keys from values; the values themselves unless a kind says otherwise."""
        return values

    def keys(self, memory: Memory) -> Keys:
        compared = memory.values if memory.keys is None else memory.keys
        return Keys(self.project(compared), memory.values, memory.mask)

    def start(self, keys: Keys) -> State:
        return self.window.start(keys)

    def forward(self, query: Float[Tensor, "rows query"], keys: Keys, state: State = None) -> Read:
        rows = query.unflatten(0, (keys.mask.shape[0], -1))
        framed = self.window(self.score(rows, keys.keys), rows, keys.mask, state)
        chosen = self.choice(framed.scores)
        context = torch.bmm(chosen.weights, keys.values).flatten(0, 1)
        log_prob = None if chosen.log_prob is None else chosen.log_prob.flatten()
        return Read(context, chosen.weights.flatten(0, 1), framed.state, log_prob)
