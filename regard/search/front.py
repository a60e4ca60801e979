"""The front of a search: what it knows of every sentence that is not decided yet."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard import tree
from regard.search.penalties import Penalty, Raw
from regard.search.scorer import Hypothesis, Scorer, Symbols
from regard.search.underway import Search


class Front(NamedTuple):
    """One row for each live sentence, with the hypotheses that go on, best first.

    Sentences may have begun at different times: each has its own step.
    """

    number: Int[Tensor, " sentence"]
    limit: Int[Tensor, " sentence"]
    """The most symbols that may be said."""
    forced: Int[Tensor, "sentence prefix"]
    """What must be said first, -1 where that is over."""
    step: Int[Tensor, " sentence"]
    """How many symbols have been said."""
    scores: Float[Tensor, "sentence width"]
    """Log probabilities, -inf where there is no hypothesis."""
    token: Int[Tensor, "sentence width"]
    """What was said last."""
    said: Int[Tensor, "sentence width time"]
    """All that was said, anything behind it."""

    @property
    def width(self) -> int:
        """The hypotheses of each sentence."""
        return self.scores.shape[1]

    def rows(self, parent: Int[Tensor, "sentence chosen"]) -> Int[Tensor, "sentence chosen"]:
        """Where the state has these hypotheses of each sentence."""
        first = torch.arange(len(parent), device=parent.device)[:, None] * self.width
        return first + parent

    def every(self, width: int) -> Int[Tensor, "sentence chosen"]:
        """All hypotheses of each sentence, the last of them again where there are not so many."""
        chosen = torch.arange(width, device=self.number.device).clamp(max=self.width - 1)
        return self.rows(chosen.expand(len(self.number), -1))

    def longer(
        self,
        scores: Float[Tensor, "sentence width"],
        parent: Int[Tensor, "sentence width"],
        token: Int[Tensor, "sentence width"],
    ) -> Front:
        """One symbol more: hypotheses that continue those before."""
        said = self.said.gather(1, parent[:, :, None].expand(-1, -1, self.said.shape[2]))
        said = F.pad(said, (0, max(0, int(self.step.max()) + 1 - said.shape[2])))
        place = self.step[:, None, None].expand(-1, token.shape[1], 1)
        said = said.scatter(2, place, token[:, :, None])
        return self._replace(step=self.step + 1, scores=scores, token=token, said=said)

    def spelt(self, place: int) -> list[list[int]]:
        """What the hypotheses of a sentence have said."""
        there = self.scores[place] > -torch.inf
        said: list[list[int]] = self.said[place, there, : int(self.step[place])].tolist()
        return said

    def joined(self, other: Front, *, first: int) -> Front:
        """Both, as wide as the wider; the numbers of the other begin with `first`."""
        other = other._replace(number=other.number + first)
        both = tree.join([self, other])
        return both._replace(
            forced=tree.join([self.forced, other.forced], fill=-1.0),
            scores=tree.join([self.scores, other.scores], fill=-torch.inf),
        )


class Fronted(Search):
    """A search for sentences side by side; more of them may join it at any time.

    Rows of the state are live sentences times the width of the front.
    """

    def __init__(
        self,
        scorer: Scorer,
        source: Any,
        *,
        symbols: Symbols,
        limits: Int[Tensor, " sentence"],
        penalty: Penalty | None = None,
        prefix: Int[Tensor, "sentence prefix"] | None = None,
    ) -> None:
        self.scorer, self.symbols, self.penalty = scorer, symbols, penalty or Raw()
        self.sentences = len(limits)
        with torch.inference_mode():
            self._source, self._state = source, scorer.start(source)
        number = torch.arange(self.sentences, device=limits.device)
        self._front = Front(
            number=number,
            limit=limits,
            forced=number.new_empty(self.sentences, 0) if prefix is None else prefix,
            step=torch.zeros_like(number),
            scores=torch.zeros(self.sentences, 1, device=limits.device),
            token=torch.full_like(number, symbols.begin)[:, None],
            said=number.new_empty(self.sentences, 1, 0),
        )
        self._done: dict[int, list[Hypothesis]] = {sentence: [] for sentence in self.live}
        """What each sentence was answered, in the order in which it was found."""

    @property
    def live(self) -> Sequence[int]:
        numbers: list[int] = self._front.number.tolist()
        return numbers

    @torch.inference_mode()
    def drop(self, sentences: Collection[int]) -> None:
        stay = [place for place, number in enumerate(self.live) if number not in sentences]
        if len(stay) < len(self._front.number):
            self._keep(self._front.number.new_tensor(stay))

    def _keep(self, stay: Int[Tensor, " stay"]) -> None:
        """Go on with some of the sentences and all their hypotheses."""
        rows = self._front.every(self._front.width)[stay]
        self._state = tree.select(self._state, rows.flatten())
        self._source = tree.select(self._source, stay)
        self._front = tree.select(self._front, stay)

    @torch.inference_mode()
    def join(self, other: Any) -> int:
        first = self.sentences
        self._done.update({first + number: said for number, said in other._done.items()})
        width = max(self._front.width, other._front.width)
        states = [search._widened(width) for search in (self, other)]
        self._state = tree.join(states)
        self._source = tree.join([self._source, other._source])
        self._front = self._front.joined(other._front, first=first)
        self.sentences += other.sentences
        return first

    def forget(self, sentence: int) -> None:
        self._done.pop(sentence, None)

    def _widened(self, width: int) -> Any:
        """The state with so many hypotheses for each sentence; those that are none are copies."""
        if self._front.width == width:
            return self._state
        return tree.select(self._state, self._front.every(width).flatten())
