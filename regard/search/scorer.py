"""What a search sees of a model: a source, a start, a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.memory import State


@runtime_checkable
class Scorer(Protocol):
    """Anything that scores the next symbol: a model, an ensemble, a language model.

    A source is a tree with one row per sentence. A state has the same number of rows for every
    sentence of the source, those of one sentence standing together.
    """

    def start(self, source: Any) -> State:
        """The state before the first symbol, one row per sentence."""
        ...

    def step(
        self, token: Int[Tensor, " rows"], state: State, source: Any
    ) -> tuple[Float[Tensor, "rows vocab"], State]:
        """Log probabilities of the next symbol after `token`, and the new state."""
        ...


Ending = Callable[[State], Float[Tensor, " rows"]]
"""What is added to the score of a hypothesis that ends in a state: 0 or less."""


class Symbols(NamedTuple):
    """The symbols with a meaning to a search, and those that it must never say."""

    begin: int
    end: int
    never: tuple[int, ...] = ()


class Hypothesis(NamedTuple):
    """One thing that could be said."""

    tokens: list[int]
    """Without the end-of-sequence symbol."""
    log_prob: float
    """Of the whole sequence, end-of-sequence included."""
    score: float
    """What the search ranks by: the log probability after the penalties."""
    complete: bool = True
    """False where the length limit, not the model, ended it."""


class Ensemble:
    """log p = log mean_m p_m: several models of one vocabulary, of any architecture.

    Its source and its state are tuples with one entry per model.
    """

    def __init__(self, scorers: list[Scorer]) -> None:
        if not scorers:
            raise ValueError("an ensemble: wanted one model or more, got none")
        self.scorers = scorers

    def prepare(self, *inputs: Any) -> tuple[Any, ...]:
        """What each model makes of the inputs, for models that read the same ones."""
        return tuple(scorer.prepare(*inputs) for scorer in self.scorers)  # type: ignore[attr-defined]

    def start(self, source: tuple[Any, ...]) -> State:
        return tuple(s.start(own) for s, own in zip(self.scorers, source, strict=True))

    def step(
        self, token: Int[Tensor, " rows"], state: State, source: tuple[Any, ...]
    ) -> tuple[Float[Tensor, "rows vocab"], State]:
        steps = [s.step(token, *own) for s, *own in zip(self.scorers, state, source, strict=True)]
        mean = torch.stack([log_prob for log_prob, _ in steps]).logsumexp(0)
        count = mean.new_tensor(float(len(steps)))
        return mean - count.log(), tuple(after for _, after in steps)


def allowed(
    log_prob: Float[Tensor, "sentence width vocab"],
    *,
    step: Int[Tensor, " sentence"],
    limits: Int[Tensor, " sentence"],
    forced: Int[Tensor, "sentence prefix"],
    symbols: Symbols,
) -> Float[Tensor, "sentence width vocab"]:
    """Log probabilities, changed in place to -inf for what must not be said at each one's step.

    At a sentence's length limit only the end may be said, so that whatever a search returns is a
    whole sequence with its true probability; a forced prefix (-1 where it is over) has its way.
    """
    only = torch.full_like(limits, -1)
    if longest := forced.shape[1]:
        inside = forced.gather(1, step[:, None].clamp(max=longest - 1))[:, 0]
        only = torch.where(step < longest, inside, only)
    only = torch.where((limits <= step) & (only < 0), symbols.end, only)
    rows = (only >= 0).nonzero().squeeze(1)
    symbol = only[rows, None, None].expand(-1, log_prob.shape[1], 1)
    chance = log_prob[rows].gather(2, symbol)
    log_prob[..., list(symbols.never)] = -torch.inf
    if len(rows):
        log_prob[rows] = torch.full_like(log_prob[rows], -torch.inf).scatter(2, symbol, chance)
    return log_prob
