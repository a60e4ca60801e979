"""Each score, its read and the many heads, against the papers' formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from regard import attention
from regard.attention.base import explicit_weights
from regard.memory import Memory

from .paper import (
    Array,
    assert_is,
    heads,
    linear,
    numbers,
    random_weights,
    read,
    sigmoid,
    softmax,
    weights_of,
)

QUERY, DIM, LENGTHS, WIDTH = 4, 4, [5, 2], 3


def dot(w: Any, q: Array, h: Array) -> float:
    return float(q @ h)


def scaled(w: Any, q: Array, h: Array) -> float:
    return float(q @ h / np.sqrt(len(q)))


def general(w: Any, q: Array, h: Array) -> float:
    return float(q @ w["weight.weight"] @ h)


def additive(w: Any, q: Array, h: Array) -> float:
    inner = w["query.weight"] @ q + w["key.weight"] @ h + w["key.bias"]
    return float(w["energy.weight"][0] @ np.tanh(inner))


def concat(w: Any, q: Array, h: Array) -> float:
    together = np.concatenate([w["query.weight"], w["key.weight"]], axis=1)
    return float(w["energy.weight"][0] @ np.tanh(together @ np.concatenate([q, h])))


SCORES = {
    "dot": (attention.Dot(), dot),
    "scaled": (attention.ScaledDot(), scaled),
    "general": (attention.General(QUERY, DIM), general),
    "general-of-other-size": (attention.General(QUERY, 3), general),
    "additive": (attention.Additive(QUERY, 3, dim=6), additive),
    "concat": (attention.Concat(QUERY, 3), concat),
}


@pytest.mark.parametrize(("module", "score"), SCORES.values(), ids=SCORES)
def test_content_attention(module: Any, score: Any) -> None:
    module = random_weights(module)
    own = weights_of(module)
    dim = 3 if any(w.shape[-1] == 3 for w in own.values()) else DIM
    values, queries = numbers(2, 5, dim), numbers(2, WIDTH, QUERY, seed=1)
    look = module(torch.from_numpy(queries).flatten(0, 1), module.keys(memory(values)))
    for row, length in enumerate(LENGTHS):
        for place in range(WIDTH):
            scores = [score(own, queries[row, place], h) for h in values[row, :length]]
            context, weights = read(scores, values[row, :length])
            assert_is(look.context[row * WIDTH + place], context)
            assert_is(look.weights[row * WIDTH + place, :length], weights)


@pytest.mark.parametrize("width", [1, 2, 7])
def test_predictive_window(width: int) -> None:
    """Luong et al., 2015, eq. 9 and 10, divided by its sum over the window."""
    window = attention.Predictive(QUERY, width=width)
    module = random_weights(attention.Dot(window=window))
    w, values, queries = weights_of(module), numbers(2, 5, DIM), numbers(2, WIDTH, QUERY, seed=1)
    look = module(torch.from_numpy(queries).flatten(0, 1), module.keys(memory(values)))
    for row, length in enumerate(LENGTHS):
        for number, q in enumerate(queries[row]):
            hidden = np.tanh(w["window.hidden.weight"] @ q)
            place = length * sigmoid(w["window.place.weight"][0] @ hidden)
            near = [j for j in range(length) if place - width <= j <= place + width]
            align = softmax(np.array([q @ values[row, j] for j in near]))
            spread = width / 2
            weights = align * np.exp(-((np.array(near) - place) ** 2) / (2 * spread**2))
            wanted = np.zeros(5)
            wanted[near] = weights / weights.sum()
            assert near
            assert_is(look.weights[row * WIDTH + number], wanted)
            assert_is(look.context[row * WIDTH + number], wanted @ values[row])


def test_monotonic_window() -> None:
    """p_t = t, within the source; two hypotheses of one source may stand at different steps."""
    module = attention.Dot(window=attention.Monotonic(width=1))
    values, queries = numbers(2, 5, DIM), numbers(4, QUERY, seed=1)
    keys = module.keys(memory(values))
    assert module.start(keys).tolist() == [0, 0]
    times = [0, 3, 1, 9]
    look = module(torch.from_numpy(queries), keys, torch.tensor(times))
    assert look.state.tolist() == [1, 4, 2, 10]
    near = [[0, 1], [2, 3, 4], [0, 1], [0, 1]]
    for row, places in enumerate(near):
        own = values[row // 2, places]
        context, weights = read([float(queries[row] @ h) for h in own], own)
        assert_is(look.context[row], context)
        assert_is(look.weights[row, places], weights)


@pytest.mark.parametrize("key", [None, 2, 5])
@pytest.mark.parametrize("openly", [False, True], ids=["fused", "explicit"])
def test_multi_head_attention(openly: bool, key: int | None) -> None:
    module = random_weights(attention.MultiHead(6, 2, memory=3, key=key))
    size = 6 if key is None else 2 * key
    w = weights_of(module)
    values, queries = numbers(2, 5, 3), numbers(2, WIDTH, 6, seed=1)
    arguments = (torch.from_numpy(queries).flatten(0, 1), module.keys(memory(values)))
    if openly:
        with explicit_weights():
            look = module(*arguments)
    else:
        look = module(*arguments)
    for row, length in enumerate(LENGTHS):
        asked = np.array([linear(w, "query", q) for q in queries[row]])
        both = np.array([linear(w, "key_value", h) for h in values[row, :length]])
        mixed = heads(asked, both[:, :size], both[:, size:], 2, lambda t, j: True)
        wanted = [linear(w, "output", x) for x in mixed]
        assert_is(look.context[row * WIDTH : (row + 1) * WIDTH], wanted)


@pytest.mark.parametrize("openly", [False, True], ids=["fused", "explicit"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
@pytest.mark.parametrize("key", [None, 1])
def test_self_attention(causal: bool, openly: bool, key: int | None) -> None:
    module = random_weights(attention.SelfAttention(6, 3, causal=causal, key=key))
    size = 6 if key is None else 3 * key
    w = weights_of(module)
    x = numbers(1, 4, 6)
    if openly:
        with explicit_weights():
            look = module(torch.from_numpy(x))
    else:
        look = module(torch.from_numpy(x))
    asked, keys, values = np.split(
        np.array([linear(w, "query_key_value", row) for row in x[0]]), [size, 2 * size], axis=1
    )
    mixed = heads(asked, keys, values, 3, lambda t, j: j <= t or not causal)
    assert_is(look.context, [linear(w, "output", row) for row in mixed])


def memory(values: Array) -> Memory:
    mask = torch.arange(values.shape[1]) < torch.tensor(LENGTHS)[:, None]
    kept = torch.from_numpy(values)
    return Memory(kept, mask, kept[:, 0])
