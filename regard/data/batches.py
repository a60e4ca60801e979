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
        """Sort a pool by the longer side, then by how far the sides differ, to and fro.

        Turning back at each length keeps neighbours alike on both sides, and the longer side is
        the one that fills the budget.
        """
        size = self.batches.pool
        members = self._order[pool * size : (pool + 1) * size]
        source, target = self._lengths(members)
        longer = np.maximum(source, target)
        turning = np.where(longer % 2 == 0, target - source, source - target)
        return members[np.lexsort((turning, longer))]

    def _lengths(self, members: Indices) -> tuple[Indices, Indices]:
        """Give the lengths of both sides with their end marks."""
        source = np.asarray(self.batches.source_lengths[members], dtype=np.int64)
        target = np.asarray(self.batches.target_lengths[members], dtype=np.int64)
        return source + 1, target + 1

    def _bounds(self, members: Indices) -> list[int]:
        """Cut sorted members greedily: as many as the budgets of both sides allow."""
        budget, most = self.batches.tokens, self.batches.sentences
        longer = np.maximum(*self._lengths(members))
        bounds = [0]
        while (start := bounds[-1]) < len(members):
            # Lengths only grow from here on: no batch can hold more rows than this.
            room = longer[start : start + max(1, min(most, budget // int(longer[start])))]
            fits = np.searchsorted(room * np.arange(1, len(room) + 1), budget, side="right")
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
