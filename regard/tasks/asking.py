"""Inputs that a model is answering, a symbol at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float
from torch import Tensor

from regard.look.places import Place
from regard.search import Forks, Hypothesis, Search
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


Judge = Callable[[list[list[int]], list[list[Hypothesis]]], list[list[Hypothesis]]]
"""Given the symbols of some inputs, puts the answers that a search found to each in order anew."""


class Partial(NamedTuple):
    """What a model has said so far."""

    text: str
    tokens: list[str]
    settled: int
    """How many of the tokens will not change any more."""
    log_prob: float
    attention: Float[np.ndarray, "time source"] | None = None
    source: dict[str, Any] | None = None
    """What the attention lies on, where there is any, for JSON: a picture is only named by it."""


class Asking:
    """A search for the answers to some inputs; they do not depend on each other's company.

    With a `judge`, the search lists all that it finds, and the `nbest` of them are its choice.
    """

    def __init__(
        self,
        asked: Answering,
        given: Given,
        search: Search,
        forks: Forks | None = None,
        *,
        judge: Judge | None = None,
        nbest: int = 1,
    ) -> None:
        self.asked, self.search, self.forks = asked, search, forks
        self.judge, self.nbest = judge, nbest
        self._chosen: dict[int, list[Hypothesis]] = {}
        """What the judge said, who is slow."""
        self._given = {place: (given, place) for place in range(len(given.names))}

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

    def join(self, other: Asking) -> int:
        """Answer the inputs of another as well; the place of its first input from now on.

        It must ask the same model in the same way, and is used up.
        """
        first = self.search.join(other.search)
        self._given.update({first + place: own for place, own in other._given.items()})
        return first

    def forget(self, place: int) -> None:
        """Keep nothing of an input that is answered or was given up."""
        self._given.pop(place, None)
        self._chosen.pop(place, None)
        self.search.forget(place)

    def partial(self, place: int, *, look: bool = False) -> Partial:
        """What a live input has been answered so far and, if asked, where the model looked."""
        tokens, settled, log_prob = self.search.progress(place)
        said = self.asked.target
        begun = Partial(said.decode(tokens), said.tokens(tokens), settled, log_prob)
        if not look:
            return begun
        given, row = self._given[place]
        [trace] = self.asked.replayed(given, [row], [tokens])
        if trace.weights is None:
            return begun
        return begun._replace(
            attention=trace.alignment[: len(tokens)], source=trace.source.as_dict()
        )

    def output(self, place: int) -> Output:
        """The answers to an input that is not live any more."""
        return self._output(place, self.answers(place))

    def answers(self, place: int) -> list[Hypothesis]:
        """What was found for an input that is not live any more, best first."""
        if place not in self._chosen:
            self._chosen[place] = self._judged([place], [self.search.answers(place)])[0]
        return self._chosen[place]

    def _judged(
        self, places: Sequence[int], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        if self.judge is None:
            return found
        asked = [self._given[place] for place in places]
        read = [given.source[row][given.mask[row]].tolist() for given, row in asked]
        return [answers[: self.nbest] for answers in self.judge(read, found)]

    def _output(self, place: int, answers: list[Hypothesis]) -> Output:
        given, row = self._given[place]
        said, name, unknown = self.asked.target, given.names[row], given.unknown[row]
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
            for answer in answers
        )
        return Output(**{**vars(first), "others": others})

    def trace(self, place: int) -> Trace:
        """How the best answer to an input that is not live any more came about."""
        best = self.answers(place)[0].tokens
        tree = None if self.forks is None else self.asked.tree(self.forks, place, best)
        given, row = self._given[place]
        return self.asked.replayed(given, [row], [best], [tree])[0]

    def finish(self, *, look: bool = False) -> list[Output]:
        """Answer every input; with `look`, each best answer comes with its trace."""
        found = self._judged(range(self.search.sentences), self.search.finish())
        outputs = [self._output(place, answers) for place, answers in enumerate(found)]
        if not look:
            return outputs
        best = [answers[0].tokens for answers in found]
        traces: list[Trace] = []
        for _, own in groupby(range(len(best)), key=lambda place: id(self._given[place][0])):
            places = list(own)
            given, rows = self._given[places[0]][0], [self._given[place][1] for place in places]
            traces += self.asked.replayed(given, rows, [best[place] for place in places])
        return [
            Output(**{**vars(output), "seen": None if trace.weights is None else trace})
            for output, trace in zip(outputs, traces, strict=True)
        ]
