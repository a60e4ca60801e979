"""A search under way: it goes on a symbol at a time, can be looked into, and cut short."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from regard.search.scorer import Hypothesis


class Progress(NamedTuple):
    """The best beginning that a search has so far."""

    tokens: list[int]
    settled: int
    """How many of the tokens no other beginning could still change."""
    log_prob: float


class Search(ABC):
    """A search for several sentences at once, each of which leaves as soon as it is decided."""

    sentences: int
    """How many there have been; they are known by their numbers from 0 on."""

    @property
    @abstractmethod
    def live(self) -> Sequence[int]:
        """The sentences that are not decided yet."""

    @abstractmethod
    def step(self) -> None:
        """Say one more symbol for every live sentence."""

    @abstractmethod
    def drop(self, sentences: Collection[int]) -> None:
        """Give sentences up: nothing more is computed for them."""

    @abstractmethod
    def join(self, other: Any) -> int:
        """Go on with another search's sentences as well; the number of its first from now on.

        The other must be a search of the same scorer, asked in the same way, and is used up.
        """

    @abstractmethod
    def progress(self, sentence: int) -> Progress:
        """How far a live sentence has come."""

    @abstractmethod
    def answers(self, sentence: int) -> list[Hypothesis]:
        """The best answers to a sentence that is decided, best first."""

    @abstractmethod
    def forget(self, sentence: int) -> None:
        """Keep nothing of a sentence that is decided or was given up."""

    def finish(self) -> list[list[Hypothesis]]:
        """Go on until every sentence is decided."""
        while self.live:
            self.step()
        return [self.answers(sentence) for sentence in range(self.sentences)]


class Rounds(Search):
    """Several searches for the same sentences, such as random draws; each gives one answer."""

    def __init__(self, searches: Sequence[Search]) -> None:
        self.searches, self.sentences = searches, searches[0].sentences

    @property
    def live(self) -> Sequence[int]:
        return sorted({sentence for search in self.searches for sentence in search.live})

    def step(self) -> None:
        for search in self.searches:
            if search.live:
                search.step()

    def drop(self, sentences: Collection[int]) -> None:
        for search in self.searches:
            search.drop(sentences)

    def join(self, other: Any) -> int:
        first = self.sentences
        for search, more in zip(self.searches, other.searches, strict=True):
            search.join(more)
        self.sentences += other.sentences
        return first

    def forget(self, sentence: int) -> None:
        for search in self.searches:
            search.forget(sentence)

    def progress(self, sentence: int) -> Progress:
        """Of the first draw, which is the first answer."""
        first = self.searches[0]
        if sentence in first.live:
            return first.progress(sentence)
        answer = first.answers(sentence)[0]
        return Progress(answer.tokens, len(answer.tokens), answer.log_prob)

    def answers(self, sentence: int) -> list[Hypothesis]:
        return [answer for search in self.searches for answer in search.answers(sentence)]


def agreed(beginnings: Sequence[list[int]]) -> int:
    """How many first tokens all of these have in common."""
    first, last = min(beginnings), max(beginnings)
    common = zip(first, last, strict=False)
    return next(
        (n for n, (one, other) in enumerate(common) if one != other), min(len(first), len(last))
    )
