"""How a model is asked: which search, how long, how many answers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.data import Tokenizer
from regard.search import (
    Beam,
    Ending,
    Follow,
    Forks,
    Gnmt,
    Hypothesis,
    Likeliest,
    Penalty,
    Rounds,
    Scorer,
    Search,
    Symbols,
    drawing,
    exhaustive,
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

    def begin(
        self,
        scorer: Scorer,
        source: Any,
        mask: Tensor,
        *,
        ending: Ending | None = None,
        prefix: Tensor | None = None,
        forks: Forks | None = None,
        most: int | None = None,
    ) -> Search:
        """A search for the n best answers to each source; `ending` is what a scorer adds."""
        limits = self.limits(mask, most)
        asked: dict[str, Any] = {"symbols": self.symbols, "limits": limits, "prefix": prefix}
        if self.beam == 1 and forks is None and ending is None:
            return Follow(scorer, source, Likeliest(), penalty=self.penalty, **asked)
        return Beam(
            scorer,
            source,
            width=self.beam,
            nbest=self.nbest,
            penalty=self.penalty,
            ending=ending,
            forks=forks,
            **asked,
        )

    def search(
        self,
        scorer: Scorer,
        source: Any,
        mask: Tensor,
        *,
        ending: Ending | None = None,
        most: int | None = None,
    ) -> list[list[Hypothesis]]:
        """The n best answers to each source."""
        return self.begin(scorer, source, mask, ending=ending, most=most).finish()

    def draw(
        self,
        scorer: Scorer,
        source: Any,
        mask: Tensor,
        names: Sequence[str],
        how: Sampling,
        *,
        prefix: Tensor | None = None,
        most: int | None = None,
    ) -> Search:
        """`nbest` random answers to each source; the seed and the name decide, not the batch."""
        limits = self.limits(mask, most)
        asked: dict[str, Any] = {"symbols": self.symbols, "limits": limits, "prefix": prefix}
        rounds = []
        for number in range(self.nbest):
            pick = drawing(
                limits,
                [_seed(how.seed, name, number) for name in names],
                temperature=how.temperature,
                top_k=how.top_k,
                top_p=how.top_p,
                prefix=prefix,
            )
            rounds.append(Follow(scorer, source, pick, penalty=self.penalty, **asked))
        return Rounds(rounds)

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


def _seed(seed: int, text: str, number: int) -> int:
    digest = hashlib.sha256(f"{seed}\0{number}\0{text}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def forced(prefixes: list[list[int]]) -> Tensor:
    """Prefixes side by side, -1 where one is over."""
    longest = max(len(prefix) for prefix in prefixes)
    return torch.tensor([prefix + [-1] * (longest - len(prefix)) for prefix in prefixes])
