"""Batches of like lengths under a budget of tokens, in an order that seed and epoch decide."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]


class Batches:
    """Cuts a corpus into batches that hold at most `tokens` padded tokens on either side."""

    def __init__(
        self,
        source_lengths: NDArray[Any],
        target_lengths: NDArray[Any],
        *,
        tokens: int = 4096,
        sentences: int | None = None,
        seed: int = 1,
        pool: int = 100_000,
    ) -> None:
        limits = {"tokens": tokens, "sentences": sentences, "pool": pool}
        for name, value in limits.items():
            if value is not None and value < 1:
                raise ValueError(f"Batches: {name} wanted a number above 0, got {value}")
        if len(source_lengths) != len(target_lengths):
            counts = f"{len(source_lengths)} source and {len(target_lengths)} target lengths"
            raise ValueError(f"Batches: wanted as many source as target lengths, got {counts}")
        self.source_lengths, self.target_lengths = source_lengths, target_lengths
        self.tokens, self.seed, self.pool = tokens, seed, pool
        self.sentences = tokens if sentences is None else min(tokens, sentences)

    def epoch(self, epoch: int) -> "Epoch":
        """Give the batches of an epoch as a sequence, cut pool by pool when they are asked for."""
        return Epoch(self, epoch)

    def count(self, epoch: int) -> int:
        """Say how many batches an epoch has."""
        return len(self.epoch(epoch))


class Epoch(Sequence[Indices]):
    """The batches of one epoch: every index of the corpus stands in exactly one."""

    def __init__(self, batches: Batches, epoch: int) -> None:
        self.batches, self.epoch = batches, epoch
        self._latest: tuple[int, list[Indices]] = (-1, [])

    def __iter__(self) -> Iterator[Indices]:
        for pool in range(self._pools):
            yield from self._cut(pool)

    def __len__(self) -> int:
        return int(self._ends[-1])

    @overload
    def __getitem__(self, place: int) -> Indices: ...
    @overload
    def __getitem__(self, place: slice) -> list[Indices]: ...
    def __getitem__(self, place: int | slice) -> Indices | list[Indices]:
        """Give the batch at a place, so that a resumed run can go on from anywhere."""
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        pool = int(np.searchsorted(self._ends, place, side="right")) - 1
        return self._cut(pool)[place - int(self._ends[pool])]

    @property
    def _pools(self) -> int:
        return -(-len(self.batches.source_lengths) // self.batches.pool)

    @cached_property
    def _ends(self) -> Indices:
        counts = [len(self._bounds(self._sorted(pool))) - 1 for pool in range(self._pools)]
        return np.cumsum([0, *counts], dtype=np.int64)

    @cached_property
    def _order(self) -> Indices:
        return self._random(0).permutation(len(self.batches.source_lengths))

    def _random(self, stream: int) -> np.random.Generator:
        mixed = np.random.SeedSequence([self.batches.seed, self.epoch, stream])
        return np.random.Generator(np.random.PCG64(mixed))

    def _sorted(self, pool: int) -> Indices:
        """Sort a pool by target, then source length, which turns back at each target length.

        Neighbours across a change of the target length then have like source lengths too.
        """
        size = self.batches.pool
        members = self._order[pool * size : (pool + 1) * size]
        target = np.asarray(self.batches.target_lengths[members], dtype=np.int64)
        source = np.asarray(self.batches.source_lengths[members], dtype=np.int64)
        turning = np.where(target % 2 == 0, source, -source)
        return members[np.lexsort((turning, target))]

    def _bounds(self, members: Indices) -> list[int]:
        """Cut sorted members greedily: as many as the budgets of both sides allow."""
        budget, most = self.batches.tokens, self.batches.sentences
        target = np.asarray(self.batches.target_lengths[members], dtype=np.int64) + 1
        source = np.asarray(self.batches.source_lengths[members], dtype=np.int64) + 1
        bounds = [0]
        while (start := bounds[-1]) < len(members):
            # The first target is the shortest: no batch from here can hold more rows.
            room = slice(start, start + max(1, min(most, budget // int(target[start]))))
            widest = np.maximum(np.maximum.accumulate(source[room]), target[room])
            fits = np.searchsorted(widest * np.arange(1, len(widest) + 1), budget, side="right")
            bounds.append(start + max(1, int(fits)))
        return bounds

    def _cut(self, pool: int) -> list[Indices]:
        if self._latest[0] != pool:
            members = self._sorted(pool)
            bounds = self._bounds(members)
            cut = [members[a:b] for a, b in pairwise(bounds)]
            order = self._random(pool + 1).permutation(len(cut))
            self._latest = pool, [cut[place] for place in order]
        return self._latest[1]
