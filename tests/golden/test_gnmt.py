"""The deep stacks of GNMT, one layer after the other, by hand."""

from __future__ import annotations

import numpy as np
import torch

from regard import attention
from regard.blocks import Embedding
from regard.decoders import GnmtDecoder
from regard.encoders import ResidualStack
from regard.recurrent import GRU, LSTM

from . import paper
from .paper import Array, Weights, assert_is, below, linear, numbers, random_weights, weights_of
from .test_recurrent import SUMMARY, TOKENS, additive, check, widened


def run(w: Weights, rows: Array) -> Array:
    """All states of one LSTM, from left to right."""
    h, c, states = np.zeros(4), np.zeros(4), []
    for x in rows:
        h, c = paper.lstm(w, 0, x, h, c)
        states.append(h)
    return np.array(states)


def test_residual_stack() -> None:
    """Both directions, then one, then x + f(x) from the third layer on (Wu et al., 2016, 3)."""
    stack = random_weights(ResidualStack(LSTM, 3, 4, layers=4))
    w, x, lengths = weights_of(stack), numbers(2, 5, 3), [5, 2]
    mask = torch.arange(5) < torch.tensor(lengths)[:, None]
    values, ends = stack.read(torch.from_numpy(x), mask)
    for row, length in enumerate(lengths):
        own = x[row, :length]
        ahead = run(below(w, "bottom.forwards.0"), own)
        back = run(below(w, "bottom.backwards.0"), own[::-1])[::-1]
        states = run(below(w, "above.0"), np.concatenate([ahead, back], axis=1))
        states = states + run(below(w, "above.1"), states)
        states = states + run(below(w, "above.2"), states)
        assert_is(values[row, :length], states)
        assert_is(ends[row], states[-1])


def test_decoder() -> None:
    """c_i = attend(s^1_{i-1}) goes into every layer; residual connections from the third on."""
    decoder = random_weights(
        GnmtDecoder(
            Embedding(5, 3),
            GRU(3, 4),
            [GRU(10, 4) for _ in range(3)],
            attention.Additive(4, 6, dim=2),
            memory=6,
            summary=6,
        )
    )
    w = weights_of(decoder)
    bottom, wanted = widened(w, "context"), []
    s = [np.tanh(linear(w, f"{name}.weight", SUMMARY)) for name in bridges()]
    for token in TOKENS:
        c = additive(below(w, "attention"), s[0])
        y = w["embedding.table.weight"][token]
        s[0] = paper.gru(bottom, 0, np.concatenate([y, c]), s[0])
        x = s[0]
        for number in range(3):
            own = below(w, f"above.{number}")
            s[number + 1] = paper.gru(own, 0, np.concatenate([x, c]), s[number + 1])
            x = s[number + 1] + (x if number else 0)
        wanted.append(x)
    check(decoder, wanted)


def bridges() -> list[str]:
    return ["bridge", *(f"bridges.{number}" for number in range(3))]
