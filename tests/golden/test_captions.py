"""The decoders of pictures, one step after the other, by hand."""

from __future__ import annotations

import numpy as np
import torch

from regard import attention
from regard.blocks import Embedding
from regard.decoders import Gated, PictureFirst, Spatial
from regard.encoders import MeanPictureEncoder, PictureEncoder, Pictures
from regard.losses_sampled import (
    doubly_stochastic,
    moved,
    of_the_others,
    reinforce,
    self_critical,
)
from regard.recurrent import LSTM

from . import paper
from .paper import assert_is, below, linear, numbers, random_weights, sigmoid, weights_of
from .test_recurrent import SUMMARY, TOKENS, VALUES, additive, check, widened


def test_gated() -> None:
    """z_t = sigmoid(w . h_{t-1}) c_t; h_0, c_0 from the mean annotation (Xu et al., 3.1.2)."""
    decoder = random_weights(
        Gated(
            Embedding(5, 3),
            LSTM(3, 4),
            attention.Additive(4, 6, dim=2),
            memory=6,
            summary=6,
            dim=7,
        )
    )
    w = weights_of(decoder)
    first = np.tanh(linear(w, "bridge.weight", SUMMARY))
    h, c, wanted = first[:4], first[4:], []
    for token in TOKENS:
        y = w["embedding.table.weight"][token]
        z = sigmoid(linear(w, "gate", h)) * additive(below(w, "attention"), h)
        h, c = paper.lstm(widened(w, "context"), 0, np.concatenate([y, z]), h, c)
        wanted.append(np.tanh(linear(w, "readout", np.concatenate([h, y, z]))))
    check(decoder, wanted)


def test_picture_first() -> None:
    """x_{-1} = W z / sqrt(|z|), and never again (Vinyals et al., 2015, eq. 10)."""
    decoder = random_weights(PictureFirst(Embedding(5, 3), LSTM(3, 4), summary=6))
    w = weights_of(decoder)
    cell = below(w, "cell")
    h, c = paper.lstm(cell, 0, linear(w, "picture", SUMMARY / np.sqrt(6)), np.zeros(4), np.zeros(4))
    wanted = []
    for token in TOKENS:
        h, c = paper.lstm(cell, 0, w["embedding.table.weight"][token], h, c)
        wanted.append(h)
    check(decoder, wanted)


def test_spatial() -> None:
    """h_0 = MLP(z) of all fields, c = h_0 at every step; an LSTM's c_0 comes with it."""
    decoder = random_weights(Spatial(Embedding(5, 3), LSTM(3 + 4, 4), memory=6, fields=3, dim=5))
    w = weights_of(decoder)
    cell = below(w, "cell")
    first = np.tanh(linear(w, "bridge.weight", np.tanh(linear(w, "hidden", VALUES.reshape(18)))))
    seen, h, c, wanted = first[:4], first[:4], first[4:], []
    for token in TOKENS:
        y = w["embedding.table.weight"][token]
        h, c = paper.lstm(cell, 0, np.concatenate([y, seen]), h, c)
        read_out = linear(w, "readout", np.concatenate([h, y])) + w["context.weight"] @ seen
        wanted.append(np.tanh(read_out))
    check(decoder, wanted)


def test_picture_encoder() -> None:
    encoder = random_weights(PictureEncoder(Pictures(3, (2, 2)), dim=5))
    w, maps = weights_of(encoder), numbers(2, 4, 3)
    memory = encoder(torch.from_numpy(maps), torch.ones(2, 4, dtype=torch.bool))
    values = maps @ w["annotation.weight"].T + w["annotation.bias"]
    assert_is(memory.values, values)
    assert_is(memory.summary, values.mean(1))
    assert memory.grid == (2, 2)


def test_mean_picture_encoder() -> None:
    encoder = random_weights(MeanPictureEncoder(Pictures(3, (2, 2)), dim=5))
    w, maps = weights_of(encoder), numbers(2, 4, 3)
    memory = encoder(torch.from_numpy(maps), torch.ones(2, 4, dtype=torch.bool))
    wanted = maps.mean(1) @ w["annotation.weight"].T + w["annotation.bias"]
    assert_is(memory.summary, wanted)
    assert_is(memory.values, wanted[:, None])
    assert memory.mask.shape == (2, 1)


def test_doubly_stochastic() -> None:
    weights, mask = np.abs(numbers(2, 3, 4)), np.array([[True] * 3, [True, False, False]])
    wanted = sum(
        (1 - sum(weights[b, t, i] for t in range(3) if mask[b, t])) ** 2
        for b in range(2)
        for i in range(4)
    )
    got = doubly_stochastic(torch.from_numpy(weights), torch.from_numpy(mask))
    assert_is(got, wanted)


def test_reinforce() -> None:
    """Every choice times what all later words brought above the baseline."""
    log_prob, rewards = -np.abs(numbers(2, 3)), -np.abs(numbers(2, 3, seed=1))
    mask = np.array([[True] * 3, [True, True, False]])
    wanted = 0.0
    for b, length in enumerate((3, 2)):
        for t in range(length):
            left = sum(rewards[b, later] + 0.5 for later in range(t, length))
            wanted -= left * log_prob[b, t]
    numbers_of = [torch.from_numpy(x) for x in (log_prob, rewards, mask)]
    assert_is(reinforce(*numbers_of, torch.tensor(-0.5)), wanted)


def test_self_critical() -> None:
    """-(r(w) - r(w')) log p(w), and no gradient but that of log p (Rennie et al., eq. 7 and 9)."""
    log_prob, rewards, greedy = -np.abs(numbers(3)), numbers(3, seed=1), numbers(3, seed=2)
    wanted = -sum((rewards[b] - greedy[b]) * log_prob[b] for b in range(3))
    tensors = [torch.from_numpy(x).requires_grad_() for x in (log_prob, rewards, greedy)]
    loss = self_critical(*tensors)
    assert_is(loss.detach(), wanted)
    loss.backward()
    assert_is(tensors[0].grad, greedy - rewards)
    assert tensors[1].grad is tensors[2].grad is None


def test_the_others() -> None:
    rewards = numbers(2, 3)
    wanted = [[np.delete(row, k).mean() for k in range(3)] for row in rewards]
    assert_is(of_the_others(torch.from_numpy(rewards)), np.array(wanted))


def test_baseline() -> None:
    rewards = torch.tensor([[-1.0, -3.0], [-2.0, 0.0]])
    mask = torch.tensor([[True, True], [True, False]])
    assert float(moved(None, rewards, mask)) == -2.0
    np.testing.assert_allclose(float(moved(torch.tensor(-1.0), rewards, mask)), -1.1)
