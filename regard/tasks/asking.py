"""Inputs that a model is answering, a symbol at a time."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float
from torch import Tensor

from regard.look.places import Place
from regard.search import Forks, Search
from regard.tasks.output import Output

if TYPE_CHECKING:
    from regard.look.trace import Trace
    from regard.tasks.answering import Answering


class Given(NamedTuple):
    """Inputs as a model reads them."""

    names: list[str]
    """What each is called in its output; a random draw depends on nothing else."""
    source: Tensor
    mask: Tensor
    places: list[Place]
    unknown: list[list[str]]
    """The parts of each that the model has no symbol for."""


class Partial(NamedTuple):
    """What a model has said so far."""

    text: str
    tokens: list[str]
    settled: int
    """How many of the tokens will not change any more."""
    log_prob: float
    attention: Float[np.ndarray, "time source"] | None = None
    source: Place | None = None
    """What the attention lies on, where there is any."""


class Asking:
    """A search for the answers to some inputs; they do not depend on each other's company."""

    def __init__(
        self, asked: Answering, given: Given, search: Search, forks: Forks | None = None
    ) -> None:
        self.asked, self.given, self.search, self.forks = asked, given, search, forks

    @property
    def live(self) -> Sequence[int]:
        """The places of the inputs that are not answered yet."""
        return self.search.live

    def step(self) -> None:
        """Say one more symbol to every live input."""
        self.search.step()

    def drop(self, places: Collection[int]) -> None:
        """Give inputs up: nothing more is computed for them."""
        self.search.drop(places)

    def partial(self, place: int, *, look: bool = False) -> Partial:
        """What a live input has been answered so far and, if asked, where the model looked."""
        tokens, settled, log_prob = self.search.progress(place)
        said = self.asked.target
        begun = Partial(said.decode(tokens), said.tokens(tokens), settled, log_prob)
        if (
            look
            and (trace := self.asked.replayed(self.given, [place], [tokens])[0]).weights is not None
        ):
            return begun._replace(attention=trace.alignment[: len(tokens)], source=trace.source)
        return begun

    def output(self, place: int) -> Output:
        """The answers to an input that is not live any more."""
        said, name, unknown = self.asked.target, self.given.names[place], self.given.unknown[place]
        first, *others = (
            Output(
                name,
                said.decode(answer.tokens),
                said.tokens(answer.tokens),
                answer.log_prob,
                answer.score,
                answer.complete,
                unknown,
            )
            for answer in self.search.answers(place)
        )
        return Output(**{**vars(first), "others": others})

    def trace(self, place: int) -> Trace:
        """How the best answer to an input that is not live any more came about."""
        best = self.search.answers(place)[0].tokens
        return self.asked.replayed(self.given, [place], [best], self.forks)[0]

    def finish(self, *, look: bool = False) -> list[Output]:
        """Answer every input; with `look`, each best answer comes with its trace."""
        best = [answers[0].tokens for answers in self.search.finish()]
        outputs = [self.output(place) for place in range(len(best))]
        if not look:
            return outputs
        traces = self.asked.replayed(self.given, range(len(best)), best)
        return [
            Output(**{**vars(output), "seen": None if trace.weights is None else trace})
            for output, trace in zip(outputs, traces, strict=True)
        ]
