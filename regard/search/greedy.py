"""One symbol after the other, never looking back: the likeliest, or one drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard import tree
from regard.search.front import Fronted
from regard.search.penalties import Penalty
from regard.search.scorer import Hypothesis, Scorer, Symbols, allowed
from regard.search.underway import Progress


@runtime_checkable
class Pick(Protocol):
    """Chooses one symbol for each sentence; as a tree, it has a row for each."""

    def __call__(
        self, log_prob: Float[Tensor, "sentence vocab"], step: Int[Tensor, " sentence"]
    ) -> Int[Tensor, " sentence"]:
        """From log probabilities and how many symbols have been said to the next."""
        ...


class Likeliest(NamedTuple):
    """y_t = argmax p(y | y_<t)."""

    def __call__(
        self,
        log_prob: Float[Tensor, "sentence vocab"],
        step: Int[Tensor, " sentence"],  # noqa: ARG002
    ) -> Int[Tensor, " sentence"]:
        """The symbol of the largest probability."""
        return log_prob.argmax(-1)


def greedy(
    scorer: Scorer,
    source: Any,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> list[Hypothesis]:
    """The likeliest symbol at every step."""
    search = Follow(scorer, source, Likeliest(), symbols=symbols, limits=limits, prefix=prefix)
    return [answer for [answer] in search.finish()]


class Follow(Fronted):
    """Let `pick` choose every symbol; a sentence that has ended leaves the batch."""

    def __init__(
        self,
        scorer: Scorer,
        source: Any,
        pick: Pick,
        *,
        symbols: Symbols,
        limits: Int[Tensor, " sentence"],
        penalty: Penalty | None = None,
        prefix: Int[Tensor, "sentence prefix"] | None = None,
    ) -> None:
        super().__init__(
            scorer, source, symbols=symbols, limits=limits, penalty=penalty, prefix=prefix
        )
        self.pick = pick

    @torch.inference_mode()
    def step(self) -> None:
        front = self._front
        log_prob, self._state = self.scorer.step(front.token[:, 0], self._state, self._source)
        log_prob = allowed(
            log_prob[:, None],
            step=front.step,
            limits=front.limit,
            forced=front.forced,
            symbols=self.symbols,
        )[:, 0]
        token = self.pick(log_prob, front.step)[:, None]
        scores = front.scores.to(log_prob.dtype) + log_prob.gather(1, token)
        ended = token[:, 0] == self.symbols.end
        for place in ended.nonzero().squeeze(1).tolist():
            self._end(place, float(scores[place, 0]))
        self._front = front.longer(scores, torch.zeros_like(token), token)
        if bool(ended.any()):
            self._keep((~ended).nonzero().squeeze(1))

    def _end(self, place: int, score: float) -> None:
        """Write down what a sentence has said before its end."""
        [said], step = self._front.spelt(place), int(self._front.step[place])
        ranked = score / self.penalty.divisor(step + 1)
        complete = step < int(self._front.limit[place])
        number = int(self._front.number[place])
        self._done[number].append(Hypothesis(said, score, ranked, complete))

    def _keep(self, stay: Int[Tensor, " stay"]) -> None:
        super()._keep(stay)
        self.pick = tree.select(self.pick, stay)

    @torch.inference_mode()
    def join(self, other: Any) -> int:
        self.pick = tree.join([self.pick, other.pick])
        return super().join(other)

    def progress(self, sentence: int) -> Progress:
        place = self.live.index(sentence)
        [said] = self._front.spelt(place)
        return Progress(said, len(said), float(self._front.scores[place, 0]))

    def answers(self, sentence: int) -> list[Hypothesis]:
        return self._done[sentence]
