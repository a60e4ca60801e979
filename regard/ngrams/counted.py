"""How likely a sequence is by the runs of symbols that were counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[Any]


class Level(NamedTuple):
    """The runs of one length."""

    keys: Ints
    """The number of the run without its last symbol, times all symbols, plus the last; sorted."""
    log_prob: Floats
    """Of the last symbol behind the others."""
    back_off: Floats
    """What is added where a symbol follows this run that never did in training."""


class Runs(NamedTuple):
    """The runs of one length in a text."""

    keys: Ints
    counts: Ints
    at: Ints
    """Which run ends at each place of the text; -1: none, its sequence began too near."""
    first: Ints
    """Where each run ends for the first time."""


class Counted:
    """p(w | h) = (c(h w) - d) / c(h) + b(h) p(w | h'), h' = h without its first symbol.

    Interpolated Kneser-Ney with three discounts (Chen and Goodman, 1999): the longest runs are
    counted by how often they occur, shorter ones by how many symbols stand before them, unless
    they begin a sequence. What the empty history discounts is for all symbols alike.
    """

    def __init__(self, symbols: int, unseen: float, levels: Sequence[Level]) -> None:
        self.symbols, self.unseen, self.levels = symbols, unseen, list(levels)

    @classmethod
    def of(cls, sequences: Sequence[Ints], symbols: int, *, order: int) -> Counted:
        """Count sequences of numbers below `symbols`, each with a begin and an end around it."""
        found = _runs(*_joined(sequences, symbols), symbols + 2, order)
        found[0].counts[found[0].keys == symbols] = 0  # nothing leads to a begin
        lower = np.full(len(found[0].keys), 1 / (symbols + 1))
        levels: list[Level] = []
        unseen = 0.0
        for length, runs in enumerate(found):
            history = runs.keys // (symbols + 2)
            histories = len(found[length - 1].keys) if length else 1
            discount = _discount(runs.counts)
            total = np.bincount(history, runs.counts, histories)
            left = np.bincount(history, discount, histories) / total.clip(min=1)
            if length:
                lower = np.exp(levels[-1].log_prob)[found[length - 1].at[runs.first]]
                levels[-1] = levels[-1]._replace(back_off=np.log(np.where(total > 0, left, 1.0)))
            else:
                unseen = float(np.log(left[0] / (symbols + 1)))
            chance = (runs.counts - discount) / total.clip(min=1)[history] + left[history] * lower
            levels.append(Level(runs.keys, np.log(chance), np.zeros(len(chance))))
        return cls(symbols, unseen, levels)

    def log_prob(self, sequences: Sequence[Ints]) -> Floats:
        """Of each whole sequence, its end included."""
        text, begins = _joined(sequences, self.symbols)
        known = np.full(len(text), self.unseen)
        history = np.zeros(len(text), np.int64)
        back_off = np.zeros(1)
        for level in self.levels:
            run = _found(level.keys, history * (self.symbols + 2) + text)
            run[history < 0] = -1
            missed = known + np.where(history < 0, 0.0, back_off[history])
            known = np.where(run < 0, missed, level.log_prob[run])
            history = np.where(begins, -1, np.roll(run, 1))
            back_off = level.back_off
        known[begins] = 0.0
        return np.add.reduceat(known, np.flatnonzero(begins)) if len(text) else np.zeros(0)


def _joined(sequences: Sequence[Ints], symbols: int) -> tuple[Ints, NDArray[np.bool_]]:
    """All sequences one after the other, each between a begin and an end; where the begins are."""
    begin, end = np.array([symbols]), np.array([symbols + 1])
    parts = [part for row in sequences for part in (begin, row, end)]
    text = np.concatenate(parts) if parts else np.zeros(0, np.int64)
    return text, text == symbols


def _runs(text: Ints, begins: NDArray[np.bool_], size: int, order: int) -> list[Runs]:
    """The runs of every length; shorter ones are counted by the symbols that stand before them."""
    found: list[Runs] = []
    history = np.zeros(len(text), np.int64)
    for _ in range(order):
        there = np.flatnonzero(history >= 0)
        if not len(there):
            break  # no sequence is that long
        keys, first, inverse, counts = np.unique(
            history[there] * size + text[there],
            return_index=True,
            return_inverse=True,
            return_counts=True,
        )
        at = np.full(len(text), -1)
        at[there] = inverse
        found.append(Runs(keys, counts, at, there[first]))
        history = np.where(begins, -1, np.roll(at, 1))
    for shorter, longer in pairwise(found):
        before = np.bincount(shorter.at[longer.first], minlength=len(shorter.keys))
        np.copyto(shorter.counts, before, where=before > 0)
    return found


def _discount(counts: Ints) -> Floats:
    """What is taken from each count: of those of 1, of 2 and of more, as their numbers tell."""
    once, twice, three, four = (int((counts == number).sum()) for number in (1, 2, 3, 4))
    some = once / max(1, once + 2 * twice)
    taken = [0.0, 1 - 2 * some * twice / max(1, once), 2 - 3 * some * three / max(1, twice)]
    taken.append(3 - 4 * some * four / max(1, three))
    # Few counts tell nonsense, such as that of a corpus of one word: never all, never nothing.
    bounded = np.clip(taken, [0.0, 0.1, 0.2, 0.3], [0.0, 0.9, 1.8, 2.7])
    return bounded[np.minimum(counts, 3)]


def _found(keys: Ints, wanted: Ints) -> Ints:
    """Where each wanted key stands; -1: nowhere."""
    places = np.searchsorted(keys, wanted).clip(max=max(0, len(keys) - 1))
    return np.where(keys[places] == wanted, places, -1)
