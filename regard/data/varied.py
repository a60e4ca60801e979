"""Training pairs that are never quite the same twice."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from regard.data.corpus import Row
from regard.data.respelling import Bits, respelt
from regard.data.taking_apart import taken_apart
from regard.data.tokenizer import Tokenizer

Rows: TypeAlias = Sequence[Row | NDArray[np.int64]]


class Varied:
    """Takes the share `apart` of the subwords apart, and spells the share `respell` of copies anew.

    What is drawn follows PyTorch's random numbers, which training seeds at every update: a resumed
    run meets what it would have met. No row becomes longer than `most` symbols.
    """

    def __init__(
        self, source: Tokenizer, target: Tokenizer, *, apart: float, respell: float, most: int
    ) -> None:
        self.sides, self.apart, self.respell, self.most = (source, target), apart, respell, most

    def __call__(self, rows: tuple[Rows, Rows]) -> tuple[Rows, Rows]:
        if not (self.apart or self.respell):
            return rows
        random = np.random.default_rng(int(torch.randint(2**62, ())))
        if self.respell:
            rows = self._respelt(rows, random)
        if self.apart:
            rows = self._apart(rows, random)
        return rows

    def _respelt(self, rows: tuple[Rows, Rows], random: np.random.Generator) -> tuple[Rows, Rows]:
        found = [list(side) for side in rows]
        written = [
            [known.decode(row.tolist()) for row in side]
            for known, side in zip(self.sides, rows, strict=True)
        ]
        bits = Bits.of(*written[0], *written[1])
        for place, (source, target) in enumerate(zip(*written, strict=True)):
            if Tokenizer.EOS in rows[0][place]:
                continue  # the turns of a dialogue, which are more than one text
            others = respelt(source, target, bits, share=self.respell, random=random)
            if others == (source, target):
                continue
            coded = [
                known.encode([text])[0] for known, text in zip(self.sides, others, strict=True)
            ]
            # An unknown symbol is nothing that anybody should learn to say.
            if not any(Tokenizer.UNK in row or len(row) > self.most for row in coded):
                for side, row in zip(found, coded, strict=True):
                    side[place] = np.array(row, np.int64)
        return found[0], found[1]

    def _apart(self, rows: tuple[Rows, Rows], random: np.random.Generator) -> tuple[Rows, Rows]:
        found = []
        for side, known in zip(rows, self.sides, strict=True):
            parts = taken_apart(side, known.merges, share=self.apart, random=random)
            pairs = zip(parts, side, strict=True)
            found.append([new if len(new) <= self.most else old for new, old in pairs])
        return found[0], found[1]
