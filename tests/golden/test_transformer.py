"""Positions, sublayers and layers of the Transformer, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from regard.blocks import Embedding, sinusoids
from regard.encoders import EncoderLayer, TransformerEncoder
from regard.systems import transformer

from .paper import (
    Array,
    Weights,
    assert_is,
    below,
    heads,
    layer_norm,
    linear,
    numbers,
    random_weights,
    weights_of,
)


def wave(t: int, i: int, dim: int) -> float:
    """Vaswani et al., 2017, 3.5."""
    angle = t / 10000 ** ((i - i % 2) / dim)
    return math.cos(angle) if i % 2 else math.sin(angle)


@pytest.mark.parametrize("dim", [2, 6, 64])
def test_sinusoids(dim: int) -> None:
    table = sinusoids(1024, dim)
    for t in (0, 1, 2, 17, 500, 1023):
        assert_is(table[t], [wave(t, i, dim) for i in range(dim)], 1e-6)


def test_embedding_is_scaled_and_has_its_place_added() -> None:
    for positions in ("sinusoidal", "learned", "none"):
        embedding = random_weights(Embedding(5, 4, positions=positions, longest=8))
        w = weights_of(embedding)
        got = embedding(torch.tensor([[3, 1, 3]]), torch.tensor([2]))
        for time, token in enumerate([3, 1, 3]):
            place = {
                "sinusoidal": [wave(time + 2, i, 4) for i in range(4)],
                "none": 0,
                "learned": w.get("learned.weight", np.zeros((8, 4)))[time + 2],
            }[positions]
            scale = 1 if positions == "none" else 2
            assert_is(got[0, time], w["table.weight"][token] * scale + place, 1e-6)


def encoder_layer(w: Weights, x: Array, length: int, norm: str) -> Array:
    """post: norm(x + f(x)); pre: x + f(norm(x)); attention, then max(0, W x + b) W + b."""

    def attention(rows: Array) -> Array:
        own = below(w, "attention")
        three = np.array([linear(own, "query_key_value", row) for row in rows])
        mixed = heads(*np.split(three, 3, axis=1), 2, lambda t, j: j < length)
        return np.array([linear(own, "output", row) for row in mixed])

    def think(rows: Array) -> Array:
        own = below(w, "feed_forward")
        return np.array([linear(own, "down", np.maximum(0, linear(own, "up", r))) for r in rows])

    def normed(name: str, rows: Array) -> Array:
        return np.array([layer_norm(w, f"{name}.norm", row) for row in rows])

    for name, inner in (("looking", attention), ("thinking", think)):
        x = x + inner(normed(name, x)) if norm == "pre" else normed(name, x + inner(x))
    return x


NONE: dict[str, Any] = {"dropout": 0.0, "attention_dropout": 0.0, "hidden_dropout": 0.0}


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_encoder_layer(norm: Any) -> None:
    layer = random_weights(EncoderLayer(6, heads=2, hidden=5, norm=norm, **NONE))
    x = numbers(2, 4, 6)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    got = layer(torch.from_numpy(x), mask)
    assert_is(got[0], encoder_layer(weights_of(layer), x[0], 4, norm))
    assert_is(got[1, :2], encoder_layer(weights_of(layer), x[1, :2], 2, norm))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_encoder_is_its_layers_and_only_pre_has_a_last_norm(norm: Any) -> None:
    embedding = Embedding(5, 6, positions="learned", longest=4)
    encoder = random_weights(
        TransformerEncoder(embedding, layers=2, heads=2, hidden=5, norm=norm, **NONE)
    )
    w, tokens = weights_of(encoder), [3, 1, 4]
    x = np.array(
        [
            w["embedding.table.weight"][token] * math.sqrt(6) + w["embedding.learned.weight"][time]
            for time, token in enumerate(tokens)
        ]
    )
    for number in range(2):
        x = encoder_layer(below(w, f"layers.{number}"), x, 3, norm)
    if norm == "pre":
        x = np.array([layer_norm(w, "last", row) for row in x])
    memory = encoder(torch.tensor([tokens]), torch.ones(1, 3, dtype=torch.bool))
    assert_is(memory.values[0], x)
    assert_is(memory.summary[0], x.mean(0))


@pytest.mark.parametrize(("size", "millions"), [("base", 65), ("big", 213)])
def test_named_sizes_have_as_many_weights_as_the_paper_says(size: Any, millions: int) -> None:
    """Vaswani et al., 2017, table 3, with the joint vocabulary of 37,000 symbols of 5.1."""
    with torch.device("meta"):
        model = transformer(37000, 37000, size=size, shared=True)
    count = sum(weight.numel() for weight in model.parameters())
    assert count / 1e6 == pytest.approx(millions, rel=0.04)


def test_what_is_given_goes_before_what_the_size_says() -> None:
    model = transformer(50, 60, size="small", layers=2, decoder_layers=1, heads=2, dropout=0.0)
    assert model.decoder.dim == 256
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (2, 1)
    assert model.decoder.layers[0].past.heads == 2
    assert model.encoder.embedding.dropout.p == 0.0
