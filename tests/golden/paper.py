"""Formulas as the papers write them, in NumPy, one vector at a time. Nothing of Regard is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Array = NDArray[np.float64]
Weights = dict[str, Array]


def softmax(x: Array) -> Array:
    powers = np.exp(x - x.max())
    return powers / powers.sum()


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def read(scores: list[float], values: Array) -> tuple[Array, Array]:
    """c = sum_j softmax(e)_j h_j over the real positions, which are all that is given."""
    weights = softmax(np.array(scores))
    return sum(a * h for a, h in zip(weights, values, strict=True)), weights


def linear(weights: Weights, name: str, x: Array) -> Array:
    return weights[f"{name}.weight"] @ x + weights.get(f"{name}.bias", 0)


def rnn(weights: Weights, layer: int, x: Array, h: Array) -> Array:
    """h' = tanh(W x + b + U h + b')."""
    w, u, b, c = gates(weights, layer)
    return np.tanh(w @ x + b + u @ h + c)


def gru(weights: Weights, layer: int, x: Array, h: Array) -> Array:
    """r, z = sigmoid(...), n = tanh(W x + b + r (U h + b')), h' = (1 - z) n + z h."""
    w, u, b, c = (np.split(part, 3) for part in gates(weights, layer))
    r = sigmoid(w[0] @ x + b[0] + u[0] @ h + c[0])
    z = sigmoid(w[1] @ x + b[1] + u[1] @ h + c[1])
    n = np.tanh(w[2] @ x + b[2] + r * (u[2] @ h + c[2]))
    return (1 - z) * n + z * h


def lstm(weights: Weights, layer: int, x: Array, h: Array, c: Array) -> tuple[Array, Array]:
    """c' = f c + i g, h' = o tanh(c')."""
    w, u, b, d = (np.split(part, 4) for part in gates(weights, layer))
    i, f, g, o = (w[k] @ x + b[k] + u[k] @ h + d[k] for k in range(4))
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gates(weights: Weights, layer: int) -> list[Array]:
    return [
        weights[f"stack.{name}_l{layer}"]
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]


def heads(queries: Array, keys: Array, values: Array, count: int, seen: Any) -> Array:
    """concat_i softmax(Q_i K_i^T / sqrt(d)) V_i, where query t sees position j if seen(t, j)."""
    size, width = queries.shape[1] // count, values.shape[1] // count
    mixed = np.zeros((len(queries), values.shape[1]))
    for head in range(count):
        part, own = (slice(head * n, (head + 1) * n) for n in (size, width))
        for t, query in enumerate(queries[:, part]):
            places = [j for j in range(len(keys)) if seen(t, j)]
            scores = [query @ keys[j, part] / np.sqrt(size) for j in places]
            mixed[t, own], _ = read(scores, values[places, own])
    return mixed


def layer_norm(weights: Weights, name: str, x: Array) -> Array:
    spread = np.sqrt(((x - x.mean()) ** 2).mean() + 1e-5)
    return weights[f"{name}.weight"] * (x - x.mean()) / spread + weights[f"{name}.bias"]


def weights_of(module: nn.Module) -> Weights:
    return {key: value.detach().numpy() for key, value in module.state_dict().items()}


def below(weights: Weights, name: str) -> Weights:
    """The weights of one part."""
    return {key[len(name) + 1 :]: w for key, w in weights.items() if key.startswith(f"{name}.")}


def random_weights(module: nn.Module, seed: int = 0) -> Any:
    """The module in float64 with random weights, in evaluation mode."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in module.double().parameters():
            weight.normal_(std=0.7, generator=generator)
    return module.eval()


def numbers(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=shape)


def assert_is(got: Tensor, wanted: Any, tolerance: float = 1e-10) -> None:
    np.testing.assert_allclose(
        got.detach().numpy(), np.asarray(wanted), rtol=tolerance, atol=tolerance
    )
