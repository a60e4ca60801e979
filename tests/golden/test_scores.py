"""Losses and penalties, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regard.heads import Categorical
from regard.losses import likelihood
from regard.search import Average, Gnmt, Penalty, Raw

from .paper import assert_is, numbers, random_weights, softmax, weights_of


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_label_smoothing(smoothing: float) -> None:
    """- sum_t sum_v q_t(v) log p_t(v), q = (1 - e) one-hot + e / V (Szegedy et al., 2016, 7)."""
    head = random_weights(Categorical(3, 5))
    w, outputs = weights_of(head), numbers(2, 3, 3)
    targets, lengths = [[4, 0, 2], [1, 3, 3]], [3, 2]
    loss = nll = 0.0
    for row, length in enumerate(lengths):
        for time in range(length):
            log_p = np.log(softmax(w["weight"] @ outputs[row, time] + w["bias"]))
            q = np.full(5, smoothing / 5)
            q[targets[row][time]] += 1 - smoothing
            loss -= q @ log_p
            nll -= log_p[targets[row][time]]
    mask = torch.arange(3) < torch.tensor(lengths)[:, None]
    total = likelihood(
        head, torch.from_numpy(outputs), torch.tensor(targets), mask, smoothing=smoothing
    )
    assert_is(total.loss, loss)
    assert_is(total.nll, nll)
    assert total.tokens == 5


@pytest.mark.parametrize(
    ("penalty", "divisors"),
    [
        (Raw(), {1: 1, 7: 1, 25: 1}),
        (Average(), {1: 1, 7: 7, 25: 25}),
        (Gnmt(1.0), {1: 1, 7: 2, 25: 5}),
        (Gnmt(0.5), {1: 1, 7: math.sqrt(2), 25: math.sqrt(5)}),
        (Gnmt(2.0), {1: 1, 7: 4, 25: 25}),
        (Gnmt(0.0), {1: 1, 7: 1, 25: 1}),
        (Gnmt(), {13: 3**0.6}),
    ],
    ids=["raw", "average", "gnmt-1", "gnmt-0.5", "gnmt-2", "gnmt-0", "gnmt"],
)
def test_penalties(penalty: Penalty, divisors: dict[int, float]) -> None:
    for length, divisor in divisors.items():
        assert penalty.divisor(length) == pytest.approx(divisor)
    # A beam's early stop relies on this.
    falling = [penalty.divisor(n) > penalty.divisor(n + 1) for n in range(1, 100)]
    assert not any(falling)
