"""One step of each recurrence, and one step of each recurrent decoder, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard import attention, systems
from regard.blocks import Embedding, Maxout
from regard.decoders import AttendFirst, InputFeeding, Plain, StepFirst
from regard.memory import Memory
from regard.recurrent import CELLS, GRU, LSTM, RNN

from . import paper
from .paper import (
    Array,
    Weights,
    assert_is,
    below,
    linear,
    numbers,
    random_weights,
    read,
    weights_of,
)


def test_vanilla_step() -> None:
    cell = random_weights(RNN(3, 4))
    x, h = numbers(3), numbers(4, seed=1)
    output, ((after,),) = cell.step(row(x), ((row(h),),))
    assert_is(output[0], paper.rnn(weights_of(cell), 0, x, h))
    assert_is(after, output.detach())


def test_gru_step() -> None:
    cell = random_weights(GRU(3, 4))
    x, h = numbers(3), numbers(4, seed=1)
    output, ((after,),) = cell.step(row(x), ((row(h),),))
    assert_is(output[0], paper.gru(weights_of(cell), 0, x, h))
    assert_is(after, output.detach())


def test_lstm_step() -> None:
    cell = random_weights(LSTM(3, 4))
    x, h, c = numbers(3), numbers(4, seed=1), numbers(4, seed=2)
    output, ((hidden, inner),) = cell.step(row(x), ((row(h), row(c)),))
    wanted_h, wanted_c = paper.lstm(weights_of(cell), 0, x, h, c)
    assert_is(output[0], wanted_h)
    assert_is(hidden[0], wanted_h)
    assert_is(inner[0], wanted_c)


def test_deep_step_hands_each_layer_the_one_below() -> None:
    cell = random_weights(GRU(3, 4, layers=2))
    w, x, h = weights_of(cell), numbers(3), numbers(2, 4, seed=1)
    output, _ = cell.step(row(x), ((row(h[0]),), (row(h[1]),)))
    assert_is(output[0], paper.gru(w, 1, paper.gru(w, 0, x, h[0]), h[1]))


TOKENS = [1, 4, 2, 3]
VALUES, SUMMARY = numbers(3, 6), numbers(6, seed=5)


def additive(w: Weights, query: Array) -> Array:
    """Bahdanau et al., 2015: the context of VALUES for a query."""
    scores = [
        float(
            w["energy.weight"][0]
            @ np.tanh(w["query.weight"] @ query + w["key.weight"] @ h + w["key.bias"])
        )
        for h in VALUES
    ]
    return read(scores, VALUES)[0]


def general(w: Weights, query: Array) -> Array:
    """Luong et al., 2015."""
    return read([float(query @ w["weight.weight"] @ h) for h in VALUES], VALUES)[0]


def maxout(sums: Array) -> Array:
    """Goodfellow et al., 2013: the larger of two sums."""
    half = len(sums) // 2
    return np.array([max(sums[j], sums[half + j]) for j in range(half)])


@pytest.mark.parametrize(
    ("activation", "formula"), [(None, np.tanh), (Maxout(), maxout)], ids=["tanh", "maxout"]
)
def test_attend_first(activation: Any, formula: Any) -> None:
    """c_i = attend(s_{i-1}), s_i = GRU([y; c_i], s_{i-1}), o = g(W [s_i; y; c_i])."""
    decoder = random_weights(
        AttendFirst(
            Embedding(5, 3),
            GRU(3, 4, layers=2),
            attention.Additive(4, 6, dim=2),
            memory=6,
            summary=6,
            dim=5,
            activation=activation,
        )
    )
    w = weights_of(decoder)
    cell = widened(w, "context")
    (low, s), wanted = np.split(np.tanh(linear(w, "bridge.weight", SUMMARY)), 2), []
    for token in TOKENS:
        y = w["embedding.table.weight"][token]
        c = additive(below(w, "attention"), s)
        low = paper.gru(cell, 0, np.concatenate([y, c]), low)
        s = paper.gru(cell, 1, low, s)
        wanted.append(formula(linear(w, "readout", np.concatenate([s, y, c]))))
    check(decoder, wanted)


def test_step_first() -> None:
    """s_t = LSTM(y, s_{t-1}), c_t = attend(s_t), o_t = tanh(W [c_t; s_t])."""
    decoder = random_weights(
        StepFirst(
            Embedding(5, 3),
            LSTM(3, 4),
            attention.General(4, 6),
            memory=6,
            summary=6,
        )
    )
    w = weights_of(decoder)
    (h, c), wanted = np.split(np.tanh(linear(w, "bridge.weight", SUMMARY)), 2), []
    for token in TOKENS:
        h, c = paper.lstm(below(w, "cell"), 0, w["embedding.table.weight"][token], h, c)
        context = general(below(w, "attention"), h)
        wanted.append(np.tanh(w["combine.weight"] @ np.concatenate([context, h])))
    check(decoder, wanted)


def test_input_feeding() -> None:
    """s_t = LSTM([y; o_{t-1}], s_{t-1}), with o_0 = 0."""
    decoder = random_weights(
        InputFeeding(
            Embedding(5, 3),
            LSTM(3, 4),
            attention.General(4, 6),
            memory=6,
            summary=6,
        )
    )
    w = weights_of(decoder)
    cell = widened(w, "fed")
    (h, c), o, wanted = np.split(np.tanh(linear(w, "bridge.weight", SUMMARY)), 2), np.zeros(4), []
    for token in TOKENS:
        y = w["embedding.table.weight"][token]
        h, c = paper.lstm(cell, 0, np.concatenate([y, o]), h, c)
        o = np.tanh(w["combine.weight"] @ np.concatenate([general(below(w, "attention"), h), h]))
        wanted.append(o)
    check(decoder, wanted)


@pytest.mark.parametrize("kind", CELLS)
def test_plain(kind: str) -> None:
    """s_t = f(y, s_{t-1}), s_0 from the summary."""
    decoder = random_weights(Plain(Embedding(5, 3), CELLS[kind](3, 4), summary=6))
    w = weights_of(decoder)
    first = np.tanh(linear(w, "bridge.weight", SUMMARY))
    state, wanted = np.split(first, decoder.cell.parts), []
    for token in TOKENS:
        y = w["embedding.table.weight"][token]
        after = getattr(paper, kind)(below(w, "cell"), 0, y, *state)
        state = list(after) if kind == "lstm" else [after]
        wanted.append(state[0])
    check(decoder, wanted)


@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("longer", [0, 2], ids=["alone", "padded"])
def test_sutskever(kind: str, longer: int) -> None:
    """All layers of the decoder go on from where those of the encoder ended, h and c alike."""
    model = random_weights(systems.sutskever(6, 5, cell=kind, embedding=3, dim=4, layers=2))
    source = [[5, 3, 4] + [0] * longer, [3, 4, 5] + [3] * longer]
    w, states = weights_of(model), [[np.zeros(4)] * model.decoder.cell.parts for _ in range(2)]
    encoder = (below(w, "encoder.cell.cell"), w["encoder.embedding.table.weight"], [4, 3, 5])
    decoder = (below(w, "decoder.cell"), w["decoder.embedding.table.weight"], TOKENS)
    for cell, table, symbols in (encoder, decoder):
        wanted = []
        for symbol in symbols:
            x = table[symbol]
            for layer, state in enumerate(states):
                after = getattr(paper, kind)(cell, layer, x, *state)
                states[layer] = list(after) if kind == "lstm" else [after]
                x = states[layer][0]
            wanted.append(x)
    mask = torch.tensor([[True] * 3 + [False] * longer, [True] * (3 + longer)])
    memory = model.encoder(torch.tensor(source), mask)
    found = model.decoder(torch.tensor([TOKENS, TOKENS]), memory).outputs[0]
    assert_is(found, wanted)


def widened(w: Weights, more: str) -> Weights:
    """The cell's weights for [y; more], which are kept in two parts, as the paper's one."""
    cell = below(w, "cell")
    both = np.concatenate([cell["stack.weight_ih_l0"], w[f"{more}.weight"]], axis=1)
    return cell | {"stack.weight_ih_l0": both}


def check(decoder: Any, wanted: list[Array]) -> None:
    """Both ways of a decoder, whole and stepwise."""
    values = torch.from_numpy(VALUES)[None]
    memory = Memory(values, torch.ones(1, 3, dtype=torch.bool), row(SUMMARY))
    assert_is(decoder(torch.tensor([TOKENS]), memory).outputs[0], wanted)
    source = decoder.prepare(memory)
    state = decoder.start(source)
    for token, output in zip(TOKENS, wanted, strict=True):
        step = decoder.step(torch.tensor([token]), state, source)
        state = step.state
        assert_is(step.output[0], output)


def row(x: Array) -> torch.Tensor:
    return torch.from_numpy(x)[None]
