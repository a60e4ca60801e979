"""Subwords that are taken apart by chance, so that a model meets rare words' pieces as well."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from regard.data.corpus import Row


def taken_apart(
    rows: Sequence[Row | NDArray[np.int64]],
    merges: NDArray[np.int64],
    *,
    share: float,
    random: np.random.Generator,
) -> list[NDArray[np.int64]]:
    """Undo the merge of each symbol with the probability `share`, and of its halves likewise.

    A cheap relative of BPE-dropout (Provilkov et al., 2020), which leaves merges out while it
    encodes: this one begins with the encoded text, and no text is read again.
    """
    symbols = np.concatenate([np.asarray(row, np.int64) for row in rows])
    owners = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    undecided = np.ones(len(symbols), bool)
    while undecided.any():
        apart = undecided & (merges[symbols, 0] > 0) & (random.random(len(symbols)) < share)
        times = np.where(apart, 2, 1)
        halves = merges[symbols[apart]].ravel()
        symbols, owners, undecided = (np.repeat(x, times) for x in (symbols, owners, apart))
        symbols[undecided] = halves
    return np.split(symbols, np.searchsorted(owners, np.arange(1, len(rows))))
