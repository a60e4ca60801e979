"""Gated convolutions, encoder and decoder of ConvS2S, one position at a time, by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.blocks import Embedding, GatedConvolution
from regard.decoders import ConvDecoder
from regard.encoders import ConvEncoder
from regard.memory import Memory

from .paper import (
    Array,
    Weights,
    assert_is,
    below,
    linear,
    numbers,
    random_weights,
    sigmoid,
    softmax,
    weights_of,
)

ROOT = np.sqrt(0.5)


def gated(w: Weights, neighbours: list[Array]) -> Array:
    """Dauphin et al., 2017: A * sigmoid(B) of one place."""
    a, b = np.split(linear(w, "weight", np.concatenate(neighbours)), 2)
    return a * sigmoid(b)


def around(x: Array, first: int, width: int) -> list[Array]:
    """Neighbours from `first` on, zeros beyond either end."""
    return [x[j] if 0 <= j < len(x) else np.zeros_like(x[0]) for j in range(first, first + width)]


def embedded(w: Weights, tokens: list[int]) -> Array:
    return np.array(
        [
            w["embedding.table.weight"][token] + w["embedding.learned.weight"][place]
            for place, token in enumerate(tokens)
        ]
    )


def embedding() -> Embedding:
    return Embedding(5, 3, positions="learned", scale=1.0, longest=8)


def encode(w: Weights, tokens: list[int], *, layers: int, width: int) -> tuple[Array, Array]:
    """z, and z + e."""
    e = embedded(w, tokens)
    x = np.array([linear(w, "enter", row) for row in e])
    for layer in range(layers):
        own = below(w, f"layers.{layer}")
        out = [gated(own, around(x, j - width // 2, width)) for j in range(len(x))]
        x = (np.array(out) + x) * ROOT
    z = np.array([linear(w, "leave", row) for row in x])
    return z, z + e


def test_gated_convolution() -> None:
    convolution = random_weights(GatedConvolution(3, width=2))
    x = numbers(2, 5, 3)
    got = convolution(torch.from_numpy(x))
    assert got.shape == (2, 4, 3)
    assert_is(got[1, 2], gated(weights_of(convolution), [x[1, 2], x[1, 3]]))


@pytest.mark.parametrize("width", [1, 3, 5])
def test_encoder(width: int) -> None:
    """Gehring et al., 2017, 3.2, of a padded sentence too."""
    encoder = random_weights(ConvEncoder(embedding(), hidden=4, layers=2, width=width))
    tokens, lengths = [[3, 1, 4, 2], [2, 4, 1, 1]], [4, 2]
    memory = encoder(torch.tensor(tokens), torch.arange(4) < torch.tensor(lengths)[:, None])
    for row, length in enumerate(lengths):
        z, values = encode(weights_of(encoder), tokens[row][:length], layers=2, width=width)
        assert_is(memory.keys[row, :length], z)
        assert_is(memory.values[row, :length], values)
        assert_is(memory.summary[row], z.mean(0))


@pytest.mark.parametrize("width", [1, 3])
def test_decoder(width: int) -> None:
    """Gehring et al., 2017, 3.3: d = W h + b + g, c = m sqrt(1/m) sum_j a_j (z_j + e_j)."""
    decoder = random_weights(ConvDecoder(embedding(), hidden=4, layers=2, width=width))
    w, tokens, lengths = weights_of(decoder), [1, 4, 2, 3], [3, 2]
    z, values = numbers(2, 3, 3), numbers(2, 3, 3, seed=1)
    mask = torch.arange(3) < torch.tensor(lengths)[:, None]
    memory = Memory(torch.from_numpy(values), mask, torch.zeros(2, 3), keys=torch.from_numpy(z))
    got = decoder(torch.tensor([tokens] * 2), memory).outputs
    g = embedded(w, tokens)
    for row, length in enumerate(lengths):
        x = np.array([linear(w, "enter", part) for part in g])
        for layer in range(2):
            own, out = below(w, f"layers.{layer}"), []
            for i in range(len(tokens)):
                v = gated(below(own, "convolution"), around(x, i - width + 1, width))
                d = linear(own, "query", v) + g[i]
                a = softmax(np.array([d @ z[row, j] for j in range(length)]))
                c = length * np.sqrt(1 / length) * (a @ values[row, :length])
                out.append(((v + linear(own, "context", c)) * ROOT + x[i]) * ROOT)
            x = np.array(out)
        assert_is(got[row], [linear(w, "leave", part) for part in x])
    source = decoder.prepare(memory)
    state = decoder.start(source)
    for time, token in enumerate(tokens):
        step = decoder.step(torch.tensor([token] * 2), state, source)
        state = step.state
        assert_is(step.output, got[:, time].detach())


def test_first_weights_keep_the_variance() -> None:
    """Gehring et al., 2017, 3.5: what comes out of a gate is about as large as what goes in."""
    torch.manual_seed(0)
    convolution = GatedConvolution(128, width=3, dropout=0.25)
    spread = float(convolution.weight.weight.detach().std())
    assert spread == pytest.approx(np.sqrt(4 * 0.75 / 384), rel=0.01)
    x = 0.3 * torch.randn(1, 2000, 128)
    assert float(convolution.eval()(x).detach().var()) == pytest.approx(0.75 * 0.3**2, rel=0.1)
