"""Which symbols of a source go with which of its target: the units of a joint model."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

Rows = Sequence[Any]
"""Rows of numbers, arrays or lists."""
NEVER = -1e9
"""The logarithm of what cannot be: an infinity would have no gradient."""
UNMET = -100.0
"""The logarithm of a unit that no training pair was made of: the last resort."""
CELLS = 300_000
"""Of the tables that are worked on together: a place in a source and one in its target each."""
LEARNED = 30_000
"""Pairs that probabilities of units are learned from: more do not change them."""
MOST = 20_000_000
"""Units that there may be."""


class Move(NamedTuple):
    """So many symbols of the source with so many of the target."""

    source: int
    target: int


class Padded(NamedTuple):
    """Pairs of rows side by side, anything behind the shorter ones."""

    source: Int[Tensor, "batch source"]
    target: Int[Tensor, "batch target"]
    sources: Int[Tensor, " batch"]
    targets: Int[Tensor, " batch"]


class Units:
    """p(x, y) = sum over the ways to cut x and y into units of prod_u p(u).

    A unit is a symbol of x with up to two of y, or two with one: *x* with *K S*, *ph* with *F*, a
    silent *e* with nothing. Their probabilities are learned by expectation and maximisation
    (Jiampojamarn et al., 2007).
    """

    moves: ClassVar = (Move(1, 0), Move(1, 1), Move(1, 2), Move(2, 1))

    def __init__(self, source: int, target: int) -> None:
        sizes = [source**move.source * target**move.target for move in self.moves]
        if sum(sizes) > MOST:
            raise ValueError(
                f"ngrams: wanted alphabets, such as letters and sounds, got {source:,} source and "
                f"{target:,} target symbols; leave ngrams out, or use data.Characters"
            )
        self.source, self.target = source, target
        *self.firsts, self.size = np.cumsum([0, *sizes]).tolist()
        alike = -math.log(self.size)
        self.log_prob: Float[Tensor, " unit"] = torch.full((self.size,), alike)

    def learn(self, sources: Rows, targets: Rows, *, rounds: int = 8) -> Iterator[int]:
        """Expectation and maximisation; gives how many pairs were read, batch after batch."""
        chosen = np.linspace(0, len(sources) - 1, min(len(sources), LEARNED)).astype(int)
        batches = list(_batches([sources[i] for i in chosen], [targets[i] for i in chosen]))
        for _ in range(rounds):
            counts = torch.zeros(self.size, dtype=torch.float64)
            for places, pairs in batches:
                for units, shares in zip(*self._shares(pairs, best=False), strict=True):
                    counts.index_add_(0, units.flatten(), shares.flatten().double())
                yield len(places)
            share = counts / counts.sum().clamp(min=1e-9)
            self.log_prob = share.log().clamp(min=UNMET).float()

    def cut(self, sources: Rows, targets: Rows) -> list[NDArray[np.int64]]:
        """The units of the likeliest way to cut each pair; none where there is no way."""
        found = [np.zeros(0, np.int64)] * len(sources)
        for places, pairs in _batches(sources, targets):
            units, shares = self._shares(pairs, best=True)
            # Ordered by pair, then by where a unit ends in the source, where but one can end.
            taken = torch.stack(shares, 2) > 0.5
            ends = np.searchsorted(taken.nonzero()[:, 0].numpy(), np.arange(len(taken) + 1))
            said = torch.stack(units, 2)[taken].numpy()
            for place, (first, last) in zip(places, pairwise(ends.tolist()), strict=True):
                found[place] = said[first:last]
        return found

    @torch.inference_mode(mode=False)
    def _shares(self, pairs: Padded, *, best: bool) -> tuple[list[Tensor], list[Tensor]]:
        """Which unit each move into each cell would be, and the share of the ways that take it.

        The shares are the gradient of log p(x, y) by the logarithms of the moves' probabilities,
        with the `best` way alone that of its maximum.
        """
        units = self._units(pairs)
        with torch.enable_grad():
            moves = [self.log_prob[each].requires_grad_() for each in units]
            total = self._total(moves, pairs, best=best)
            possible = total[total > NEVER / 2].sum()
            # Short rows leave some moves unused.
            shares = torch.autograd.grad(possible, moves, materialize_grads=True)
        return units, list(shares)

    def _units(self, pairs: Padded) -> list[Int[Tensor, "batch source target"]]:
        return [
            first
            + _runs(pairs.source, move.source, self.source)[:, :, None] * self.target**move.target
            + _runs(pairs.target, move.target, self.target)[:, None]
            for first, move in zip(self.firsts, self.moves, strict=True)
        ]

    def _total(self, moves: list[Tensor], pairs: Padded, *, best: bool) -> Float[Tensor, " batch"]:
        """The logarithm of p(x, y): every unit reads something, so a row needs only those above."""
        batch, wide = len(pairs.source), pairs.target.shape[1] + 1
        start = torch.full((batch, wide), NEVER)
        start[:, 0] = 0.0
        rows = [start]
        steps = [scores.unbind(1) for scores in moves]  # each alone would have a whole gradient
        for place in range(1, pairs.source.shape[1] + 1):
            ways = torch.stack(
                [
                    F.pad(rows[place - read], (said, 0), value=NEVER)[:, :wide] + scores[place]
                    for (read, said), scores in zip(self.moves, steps, strict=True)
                    if read <= place
                ]
            )
            rows.append(ways.max(0).values if best else ways.logsumexp(0))
        ends = torch.arange(batch), pairs.sources, pairs.targets
        return torch.stack(rows, 1)[ends]


def _runs(symbols: Int[Tensor, "batch time"], length: int, size: int) -> Tensor:
    """The number of the run of so many symbols that ends before each place, one place more."""
    places = symbols.shape[1] + 1
    before = F.pad(symbols, (length, 0))
    total = symbols.new_zeros(len(symbols), places)
    for first in range(length):
        total = total * size + before[:, first : first + places]
    return total


def _batches(sources: Rows, targets: Rows) -> Iterator[tuple[list[int], Padded]]:
    """Pairs of like lengths side by side, with their places."""
    longer = [max(map(len, pair)) + 1 for pair in zip(sources, targets, strict=True)]
    order = sorted(range(len(longer)), key=longer.__getitem__)
    while order:
        # As many as fit if all were as long as the last of them, found in two guesses.
        count = max(1, CELLS // longer[order[0]] ** 2)
        count = max(1, CELLS // longer[order[:count][-1]] ** 2)
        batch, order = order[:count], order[count:]
        yield batch, _padded([sources[i] for i in batch], [targets[i] for i in batch])


@torch.inference_mode(mode=False)
def _padded(sources: Rows, targets: Rows) -> Padded:
    tables, lengths = [], []
    for rows in (sources, targets):
        sizes = [len(row) for row in rows]
        table = np.zeros((len(rows), max(sizes, default=0)), np.int64)
        for place, row in enumerate(rows):
            table[place, : len(row)] = row
        tables.append(torch.from_numpy(table))
        lengths.append(torch.tensor(sizes))
    return Padded(*tables, *lengths)
