"""How a model is asked: which search, how long, how many answers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.data import Tokenizer
from regard.search import (
    Beam,
    Consensus,
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
)


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """Draw answers at random instead of searching for the best."""

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float | None = None
    seed: int = 1


class Room(NamedTuple):
    """The most symbols of an answer: so many for each symbol of the source, and some more."""

    ratio: float = 2.0
    extra: int = 20

    @classmethod
    def of(cls, source: np.ndarray, target: np.ndarray) -> Room:
        """Half as long again as answers are on average, and room for 999 of 1,000 of them.

        A search goes on until nothing better can come, so that every symbol of room costs time.
        """
        ratio = math.ceil(1500 * int(target.sum()) / max(1, int(source.sum()))) / 1000
        beyond = float(np.quantile(target - ratio * source, 0.999))
        return cls(ratio, max(5, math.ceil(beyond)))

    @classmethod
    def told(cls, room: object) -> Room:
        """As a model's card says; a card is a file like any other, and may say anything."""
        match room:
            case [int() | float() as ratio, int() as extra] if 0 <= ratio <= 1000 and extra > 0:
                return cls(float(ratio), extra)
        return cls()


class Decode:
    """Beam search by default; a beam of 1 is greedy search.

    `coverage` is the weight of a penalty for source positions that an answer did not look at. A
    `consensus` chooses what is most like the other answers of the beam, not the likeliest. An
    answer has at most `ratio` times the source's symbols plus `extra`; left out, they are fitted to
    the texts of the training data. The unknown symbol is never said unless `unknown` allows it.
    """

    NULL: ClassVar[dict[str, Any]] = {"penalty": {"is": "search.Gnmt", "alpha": 0.6}}

    def __init__(
        self,
        *,
        beam: int = 5,
        nbest: int = 1,
        penalty: Penalty | None = None,
        coverage: float = 0.0,
        consensus: Consensus | None = None,
        ratio: float | None = None,
        extra: int | None = None,
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
        for name, value in {"ratio": ratio, "extra": extra}.items():
            if value is not None and value < 0:
                raise ValueError(f"{name}: wanted room for an answer, got {value}")
        if ratio is not None and extra is not None and ratio + extra < 1:
            raise ValueError(f"ratio and extra: wanted room for an answer, got {ratio} and {extra}")
        self.beam, self.nbest, self.ratio, self.extra = beam, nbest, ratio, extra
        self.penalty, self.coverage, self.consensus = penalty or Gnmt(0.6), coverage, consensus
        never = (Tokenizer.PAD, Tokenizer.BOS, *(() if unknown else (Tokenizer.UNK,)))
        self.unknown, self.symbols = unknown, Symbols(Tokenizer.BOS, Tokenizer.EOS, never)

    def asked(
        self,
        *,
        beam: int | None = None,
        nbest: int = 1,
        penalty: Penalty | None = None,
        sampled: bool = False,
    ) -> Decode:
        """The same with what somebody wants changed; the beam is as wide as it must be."""
        width = beam if beam is not None else max(self.beam, nbest)
        return Decode(
            beam=max(width, nbest) if sampled else width,
            nbest=nbest,
            penalty=penalty or self.penalty,
            coverage=self.coverage,
            consensus=self.consensus,
            ratio=self.ratio,
            extra=self.extra,
            unknown=self.unknown,
        )

    def fitted(self, room: Room) -> Decode:
        """The same, with this room for an answer where it does not say how much itself."""
        own = self.asked(beam=self.beam, nbest=self.nbest)
        own.ratio, own.extra = self._room(room)
        return own

    def _room(self, room: Room) -> Room:
        ratio = room.ratio if self.ratio is None else self.ratio
        return Room(ratio, room.extra if self.extra is None else self.extra)

    def limits(self, mask: Tensor, most: int | None = None) -> Tensor:
        """The most symbols that the answer to each source may have, and no more than `most`."""
        room = self._room(Room())
        limits = (mask.sum(1) * room.ratio + room.extra).long()
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
        listed: bool = False,
    ) -> Search:
        """A search for the n best answers to each source, or `listed` for all of the beam.

        `ending` is what a scorer adds.
        """
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
            consensus=self.consensus,
            listed=listed,
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


def _seed(seed: int, text: str, number: int) -> int:
    digest = hashlib.sha256(f"{seed}\0{number}\0{text}".encode()).digest()
    return int.from_bytes(digest[:8], "little")


def forced(prefixes: list[list[int]]) -> Tensor:
    """Prefixes side by side, -1 where one is over."""
    longest = max(len(prefix) for prefix in prefixes)
    return torch.tensor([prefix + [-1] * (longest - len(prefix)) for prefix in prefixes])
