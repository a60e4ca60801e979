"""Pairs that are learned in both directions before one of them is settled on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from regard.data.batches import Batches, Epoch, Indices
from regard.data.corpus import Corpus, Row


class BothWays:
    """In the first `epochs`, half of the pairs are turned round, drawn anew in each of them.

    What a model learns of one direction it has for the other: both ends of the memory see twice as
    many texts (Ding et al., 2021, Improving Neural Machine Translation by Bidirectional Training).
    A pair that is turned round has the corpus's size added to its index. The batches are those of
    the pairs as they stand: their longer side fills the budget, whichever way they are read.
    """

    def __init__(self, batches: Batches, corpus: Corpus, *, epochs: int) -> None:
        self.batches, self.corpus, self.epochs = batches, corpus, epochs

    def epoch(self, epoch: int) -> Sequence[Indices]:
        """The batches of an epoch: a pure function of seed and epoch."""
        straight = self.batches.epoch(epoch)
        if epoch >= self.epochs:
            return straight
        random = np.random.default_rng([self.batches.seed, epoch, 0, 1])  # not those that shuffle
        return Turned(straight, random.random(len(self.corpus)) < 0.5)

    def rows(self, indices: Indices) -> tuple[list[Row], list[Row]]:
        """What is read and what is said of some pairs."""
        turned, places = np.divmod(indices, len(self.corpus))
        pairs = zip(*self.corpus.rows(places), strict=True)
        ways = [pair[::-1] if turn else pair for pair, turn in zip(pairs, turned, strict=True)]
        return [source for source, _ in ways], [target for _, target in ways]

    def said(self, indices: Indices) -> int:
        """How many symbols are said of some pairs, without their end marks."""
        turned, places = np.divmod(indices, len(self.corpus))
        straight = self.corpus.target_lengths[places]
        return int(np.where(turned, self.corpus.source_lengths[places], straight).sum())


class Turned(Sequence[Indices]):
    """The batches of an epoch, some of whose pairs are turned round."""

    def __init__(self, straight: Epoch, turned: NDArray[np.bool_]) -> None:
        self.straight, self.turned = straight, turned

    def __len__(self) -> int:
        return len(self.straight)

    @overload
    def __getitem__(self, place: int) -> Indices: ...
    @overload
    def __getitem__(self, place: slice) -> list[Indices]: ...
    def __getitem__(self, place: int | slice) -> Indices | list[Indices]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        batch = self.straight[place]
        return batch + len(self.turned) * self.turned[batch]
