"""How a model is asked: which search, how long, how many answers."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.data import Tokenizer
from regard.search import (
    Ending,
    Gnmt,
    Hypothesis,
    Penalty,
    Scorer,
    Symbols,
    Trace,
    beam,
    exhaustive,
    greedy,
    sample,
)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Draw answers at random instead of searching for the best."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 1


class Decode:
    """Beam search by default; a beam of 1 is greedy search.

    `coverage` is the weight of a penalty for source positions that an answer did not look at. An
    answer has at most `ratio` times the source's symbols plus `extra`. The unknown symbol is never
    said unless `unknown` allows it.
    """

    def __init__(
        self,
        *,
        beam: int = 5,
        nbest: int = 1,
        penalty: Penalty | None = None,
        coverage: float = 0.0,
        ratio: float = 2.0,
        extra: int = 20,
        unknown: bool = False,
    ) -> None:
        if beam < 1:
            raise ValueError(f"beam: wanted a width of 1 or more, got {beam}")
        if not 1 <= nbest <= beam:
            raise ValueError(
                f"nbest: wanted 1 to the beam's width {beam}, got {nbest}; widen the beam"
            )
        if not 0 <= coverage < math.inf:
            raise ValueError(f"coverage: wanted a weight of 0 or more, got {coverage}")
        if ratio < 0 or extra < 0 or ratio + extra < 1:
            raise ValueError(f"ratio and extra: wanted room for an answer, got {ratio} and {extra}")
        self.beam, self.nbest, self.ratio, self.extra = beam, nbest, ratio, extra
        self.penalty, self.coverage = penalty or Gnmt(0.6), coverage
        never = (Tokenizer.PAD, Tokenizer.BOS, *(() if unknown else (Tokenizer.UNK,)))
        self.unknown, self.symbols = unknown, Symbols(Tokenizer.BOS, Tokenizer.EOS, never)

    def limits(self, mask: Tensor, most: int | None = None) -> Tensor:
        """The most symbols that the answer to each source may have, and no more than `most`."""
        limits = (mask.sum(1) * self.ratio + self.extra).long()
        return limits if most is None else limits.clamp(max=most)

    def search(
        self,
        scorer: Scorer,
        source: Any,
        mask: Tensor,
        *,
        ending: Ending | None = None,
        prefix: Tensor | None = None,
        trace: Trace | None = None,
        most: int | None = None,
    ) -> list[list[Hypothesis]]:
        """The n best answers to each source; `ending` is what a scorer adds to their scores."""
        limits = self.limits(mask, most)
        if self.beam == 1 and trace is None and ending is None:
            found = greedy(scorer, source, symbols=self.symbols, limits=limits, prefix=prefix)
            return [[self._ranked(answer)] for answer in found]
        return beam(
            scorer,
            source,
            symbols=self.symbols,
            limits=limits,
            width=self.beam,
            nbest=self.nbest,
            penalty=self.penalty,
            ending=ending,
            prefix=prefix,
            trace=trace,
        )

    def draw(
        self,
        scorer: Scorer,
        source: Any,
        mask: Tensor,
        texts: list[str],
        how: Sampling,
        *,
        prefix: Tensor | None = None,
        most: int | None = None,
    ) -> list[list[Hypothesis]]:
        """`nbest` random answers to each source; the seed and the text decide, not the batch."""
        rounds = [
            sample(
                scorer,
                source,
                symbols=self.symbols,
                limits=self.limits(mask, most),
                seeds=[_seed(how.seed, text, number) for text in texts],
                temperature=how.temperature,
                top_k=how.top_k,
                top_p=how.top_p,
                prefix=prefix,
            )
            for number in range(self.nbest)
        ]
        return [
            [self._ranked(answer) for answer in answers] for answers in zip(*rounds, strict=True)
        ]

    def exhaust(
        self, scorer: Scorer, source: Any, mask: Tensor, *, ending: Ending | None = None
    ) -> list[list[Hypothesis]]:
        """The n best of everything that could be said, where that is little enough."""
        return exhaustive(
            scorer,
            source,
            symbols=self.symbols,
            limits=self.limits(mask),
            penalty=self.penalty,
            ending=ending,
            nbest=self.nbest,
        )

    def _ranked(self, answer: Hypothesis) -> Hypothesis:
        return answer._replace(score=answer.log_prob / self.penalty.divisor(len(answer.tokens) + 1))


def _seed(seed: int, text: str, number: int) -> int:
    digest = hashlib.sha256(f"{seed}\0{number}\0{text}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def forced(prefixes: list[list[int]]) -> Tensor:
    """Prefixes side by side, -1 where one is over."""
    longest = max(len(prefix) for prefix in prefixes)
    return torch.tensor([prefix + [-1] * (longest - len(prefix)) for prefix in prefixes])
