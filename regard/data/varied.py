"""Training pairs that are never quite the same twice."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus import Row
from regard.data.respelling import respelt
from regard.data.taking_apart import taken_apart
from regard.data.tokenizer import Tokenizer

Rows: TypeAlias = Sequence[Row | NDArray[np.int64]]


class Varied:
    """Takes the share `apart` of the subwords apart, and spells the share `respell` of copies anew.

    A pure function of seed and batch, so that a resumed run meets what it would have met. Batches
    are drawn anew in each epoch: none of them comes twice, and so does no variant.
    """

    def __init__(
        self, source: Tokenizer, target: Tokenizer, *, apart: float, respell: float, seed: int
    ) -> None:
        self.sides, self.apart, self.respell, self.seed = (source, target), apart, respell, seed

    def __call__(self, indices: NDArray[np.int64], rows: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
        random = np.random.default_rng([self.seed, *indices.tolist()])
        if self.respell:
            rows = self._respelt(rows, random)
        if self.apart:
            rows = self._apart(rows, random)
        return rows

    def _respelt(self, rows: tuple[Rows, Rows], random: np.random.Generator) -> tuple[Rows, Rows]:
        found = [list(side) for side in rows]
        for place, pair in enumerate(zip(*rows, strict=True)):
            if Tokenizer.EOS in pair[0]:
                continue  # the turns of a dialogue, which are more than one text
            texts = [known.decode(row) for known, row in zip(self.sides, pair, strict=True)]
            others = respelt(*texts, share=self.respell, random=random)
            if list(others) == texts:
                continue
            coded = [
                known.encode([text])[0] for known, text in zip(self.sides, others, strict=True)
            ]
            if not any(Tokenizer.UNK in row for row in coded):  # which nobody should learn to say
                for side, row in zip(found, coded, strict=True):
                    side[place] = np.array(row, np.int64)
        return found[0], found[1]

    def _apart(self, rows: tuple[Rows, Rows], random: np.random.Generator) -> tuple[Rows, Rows]:
        source, target = (
            taken_apart(side, known.merges, share=self.apart, random=random)
            for side, known in zip(rows, self.sides, strict=True)
        )
        return source, target
