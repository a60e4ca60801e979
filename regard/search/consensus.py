"""Consensus: of the answers that a search found, the one that is most like all of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
from jaxtyping import Float, Int

from regard.search.scorer import Hypothesis

END = -1
"""No symbol: it stands behind every answer, so that none is empty and endings count, too."""


class Consensus:
    """y* = argmax_y sum_y' q(y') BLEU(y, y'), q(y') ~ p(y')^sharpness, y and y' of one beam.

    The likeliest answer is often short and odd; what likely answers agree on is rarely wrong
    (minimum Bayes risk: Kumar and Byrne, 2004). BLEU counts symbols and runs of up to `order` of
    them, runs with 1 added to both sides (Lin and Och, 2004). An answer's score is its expected
    BLEU.
    """

    def __init__(self, *, sharpness: float = 0.3, order: int = 2) -> None:
        if not 0 <= sharpness <= 100:
            raise ValueError(f"sharpness: wanted a number from 0 to 100, got {sharpness}")
        if order < 1:
            raise ValueError(f"order: wanted runs of 1 symbol or more, got {order}")
        self.sharpness, self.order = sharpness, order

    def __call__(self, answers: list[Hypothesis]) -> list[Hypothesis]:
        """The same answers, best first."""
        log_q = self.sharpness * np.array([answer.log_prob for answer in answers])
        q = np.exp(log_q - log_q.max())
        rows = [[*answer.tokens, END] for answer in answers]
        # Rounded: where two are as good, the one that the search liked better stays in front.
        expected = (alike(rows, self.order) @ (q / q.sum())).round(9)
        order = np.argsort(-expected, kind="stable")
        return [answers[place]._replace(score=float(expected[place])) for place in order]


def alike(rows: list[list[int]], order: int) -> Float[np.ndarray, "row row"]:
    """BLEU of every row of symbols, with every other as its one reference; all have an end."""
    lengths = np.array([len(row) for row in rows])
    log_bleu = np.minimum(0.0, 1 - lengths[None] / lengths[:, None])
    for run in range(1, order + 1):
        counts = _counts(rows, run)
        common = np.minimum(counts[:, None], counts[None]).sum(2)
        added = 0 if run == 1 else 1
        possible = np.maximum(lengths - run + 1, 0)[:, None]
        log_bleu = log_bleu + np.log((common + added) / (possible + added)) / order
    return np.exp(log_bleu)


def _counts(rows: list[list[int]], run: int) -> Int[np.ndarray, "row kind"]:
    """How often each run of symbols stands in each row."""
    found = [Counter(zip(*(row[first:] for first in range(run)), strict=False)) for row in rows]
    every = dict.fromkeys(kind for own in found for kind in own)
    kinds = {kind: place for place, kind in enumerate(every)}
    counts = np.zeros((len(rows), len(kinds)), np.int64)
    for row, own in enumerate(found):
        for kind, count in own.items():
            counts[row, kinds[kind]] = count
    return counts
