"""Systems that look through one vector: how it is made, and how a decoder keeps it in sight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard.blocks import Embedding, Maxout, Tanh
from regard.decoders import Context
from regard.encoders import Attend, Last, Max, Mean
from regard.recurrent import GRU, LSTM

from . import paper
from .paper import Array, assert_is, below, linear, numbers, random_weights, read, weights_of
from .test_recurrent import SUMMARY, TOKENS, check, maxout

LENGTHS = [4, 2]


def attended(w: Any, states: Array) -> Array:
    """Lin et al., 2017: c = sum_j softmax(v . tanh(W h_j + b)) h_j."""
    scores = [float(w["energy.weight"][0] @ np.tanh(linear(w, "key", h))) for h in states]
    return read(scores, states)[0]


POOLINGS = {
    "last": (Last(), lambda w, states: states[-1]),
    "mean": (Mean(), lambda w, states: states.mean(0)),
    "max": (Max(), lambda w, states: states.max(0)),
    "attend": (Attend(3, dim=5), attended),
}


@pytest.mark.parametrize(("module", "formula"), POOLINGS.values(), ids=POOLINGS)
def test_pooling(module: Any, formula: Any) -> None:
    module, values = random_weights(module), numbers(2, 4, 3) - 5  # padding would be the largest
    values[1, 2:] = 0
    mask = torch.arange(4) < torch.tensor(LENGTHS)[:, None]
    ends = np.stack([values[0, 3], values[1, 1]])
    got = module(torch.from_numpy(values), mask, torch.from_numpy(ends))
    for row, length in enumerate(LENGTHS):
        assert_is(got[row], formula(weights_of(module), values[row, :length]))


def test_maxout() -> None:
    sums = numbers(3, 2, 8)
    got = Maxout()(torch.from_numpy(sums))
    assert got.shape == (3, 2, 4)
    assert_is(got[1, 0], maxout(sums[1, 0]))


@pytest.mark.parametrize(
    ("activation", "formula"), [(Maxout(), maxout), (Tanh(), np.tanh)], ids=["maxout", "tanh"]
)
def test_context(activation: Any, formula: Any) -> None:
    """s_t = GRU([y; c], s_{t-1}), o = maxout(W [s_t; y; c] + b), s_0 = tanh(V c)."""
    decoder = random_weights(
        Context(Embedding(5, 3), GRU(9, 4, layers=2), summary=6, dim=5, activation=activation)
    )
    w = weights_of(decoder)
    weight = np.concatenate([w["readout.weight"], w["context.weight"]], axis=1)
    (low, s), wanted = np.split(np.tanh(linear(w, "bridge.weight", SUMMARY)), 2), []
    for token in TOKENS:
        y = w["embedding.table.weight"][token]
        low = paper.gru(below(w, "cell"), 0, np.concatenate([y, SUMMARY]), low)
        s = paper.gru(below(w, "cell"), 1, low, s)
        wanted.append(formula(weight @ np.concatenate([s, y, SUMMARY]) + w["readout.bias"]))
    check(decoder, wanted)


def test_parts_of_an_input_add_up_to_the_whole() -> None:
    cell = random_weights(LSTM(5, 4))
    x = torch.from_numpy(numbers(2, 3, 5))
    whole = cell.project(x).detach()
    assert_is(cell.project(x[..., :2], first=0) + cell.project(x[..., 2:], first=2), whole)
