"""One symbol after the other, never looking back: the likeliest, or one drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard import tree
from regard.search.penalties import Penalty, Raw
from regard.search.scorer import Hypothesis, Scorer, Symbols, allowed
from regard.search.underway import Progress, Search

Pick = Callable[[Float[Tensor, "sentence vocab"], int, Int[Tensor, " sentence"]], Tensor]
"""From log probabilities, the step and the sentences' numbers to one symbol each."""


def greedy(
    scorer: Scorer,
    source: Any,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> list[Hypothesis]:
    """y_t = argmax p(y | y_<t)."""
    search = Follow(scorer, source, likeliest, symbols=symbols, limits=limits, prefix=prefix)
    return [answer for [answer] in search.finish()]


def likeliest(
    log_prob: Float[Tensor, "sentence vocab"],
    step: int,  # noqa: ARG001
    sentences: Tensor,  # noqa: ARG001
) -> Int[Tensor, " sentence"]:
    """The symbol of the largest probability."""
    return log_prob.argmax(-1)


class Follow(Search):
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
        self.scorer, self.pick, self.symbols = scorer, pick, symbols
        self.limits, self.prefix, self.penalty = limits, prefix, penalty or Raw()
        self.sentences, self.steps = len(limits), 0
        with torch.inference_mode():
            self._source, self._state = source, scorer.start(source)
        self._live = torch.arange(self.sentences, device=limits.device)
        self._token = torch.full_like(self._live, symbols.begin)
        self._scores = torch.zeros(self.sentences, device=limits.device)
        self._said: list[list[int]] = [[] for _ in range(self.sentences)]
        self._complete = [True] * self.sentences

    @property
    def live(self) -> Sequence[int]:
        numbers: list[int] = self._live.tolist()
        return numbers

    @torch.inference_mode()
    def step(self) -> None:
        log_prob, self._state = self.scorer.step(self._token, self._state, self._source)
        log_prob = allowed(
            log_prob[:, None],
            step=self.steps,
            limits=self.limits[self._live],
            symbols=self.symbols,
            prefix=self.prefix[self._live] if self.prefix is not None else None,
        )[:, 0]
        self._token = self.pick(log_prob, self.steps, self._live)
        picked = log_prob.gather(1, self._token[:, None])[:, 0]
        self._scores = self._scores.to(picked.dtype).index_add(0, self._live, picked)
        for sentence, symbol in zip(self.live, self._token.tolist(), strict=True):
            if symbol != self.symbols.end:
                self._said[sentence].append(symbol)
            elif self.steps >= int(self.limits[sentence]):
                self._complete[sentence] = False
        self._keep((self._token != self.symbols.end).nonzero().squeeze(1))
        self.steps += 1

    @torch.inference_mode()
    def drop(self, sentences: Collection[int]) -> None:
        stay = [place for place, number in enumerate(self.live) if number not in sentences]
        self._keep(self._live.new_tensor(stay))

    def _keep(self, places: Tensor) -> None:
        if len(places) < len(self._live):
            self._live, self._token = self._live[places], self._token[places]
            self._state = tree.select(self._state, places)
            self._source = tree.select(self._source, places)

    def progress(self, sentence: int) -> Progress:
        said = self._said[sentence]
        return Progress(list(said), len(said), float(self._scores[sentence]))

    def answers(self, sentence: int) -> list[Hypothesis]:
        tokens, total = self._said[sentence], float(self._scores[sentence])
        score = total / self.penalty.divisor(len(tokens) + 1)
        return [Hypothesis(tokens, total, score, self._complete[sentence])]
