"""How a gradient flows back through time, what the recurrent matrix does to it, and clipping."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.look.steps import Track, followed
from regard.recurrent import Recurrent

Vector = Float[Tensor, " parameters"]

_PARTS = ("h", "c")
_GATES = {1: ("U",), 3: ("reset", "update", "new"), 4: ("input", "forget", "cell", "output")}


class Flow(NamedTuple):
    """The norm of the loss gradient at one layer's state, from the last step back.

    norms[k] = mean over rows of ‖∂L_T / ∂h_{T-k}‖, or of the same for an LSTM's c.
    """

    layer: int
    part: str
    norms: Float[np.ndarray, " back"]

    @property
    def rate(self) -> float:
        """What a step back multiplies the norm by, in the geometric mean."""
        first, last = float(self.norms[0]), float(self.norms[-1])
        return (last / first) ** (1 / max(len(self.norms) - 1, 1)) if first else math.nan


class Matrix(NamedTuple):
    """The singular values of one gate's recurrent matrix, largest first."""

    layer: int
    gate: str
    values: Float[np.ndarray, " dim"]


class Clipped(NamedTuple):
    """What clipping did: the norm before and after, entries changed (share), angle (degrees)."""

    threshold: float
    before: float
    after: float
    changed: float
    angle: float


def gradient_flow(
    cell: Recurrent,
    inputs: Float[Tensor, "batch time inputs"],
    loss: Callable[[Float[Tensor, "batch dim"]], Float[Tensor, ""]],
    *,
    lengths: Int[Tensor, " batch"] | None = None,
) -> list[Flow]:
    """How the gradient of a loss on the last output reaches the states of earlier steps.

    ∂L_T/∂h_t = ∂L_T/∂h_T · Π_{t<k≤T} ∂h_k/∂h_{k-1}: the product vanishes where its factors are
    below 1 and explodes where they are above (Bengio, Simard and Frasconi, 1994; Pascanu, Mikolov
    and Bengio, 2013). The loss is a sum over rows that do not know each other.
    """
    if lengths is None:
        lengths = torch.full((len(inputs),), inputs.shape[1])
    with followed(cell) as tracks:
        outputs, _ = cell(inputs)
    return flows(tracks, loss(outputs[torch.arange(len(inputs)), lengths - 1]), lengths)


def flows(
    tracks: Sequence[Track], loss: Float[Tensor, ""], lengths: Int[Tensor, " batch"]
) -> list[Flow]:
    """One flow for each part of the state of each layer, counted back from each row's own end."""
    layers = [
        [[step[layer][part] for step in track.states] for part in range(track.cell.parts)]
        for track in tracks
        for layer in range(track.cell.layers)
    ]
    wanted = [state for parts in layers for states in parts for state in states]
    gradients = iter(torch.autograd.grad(loss, wanted, materialize_grads=True))
    back = lengths[:, None] - 1 - torch.arange(int(lengths.min()))
    found = []
    for layer, parts in enumerate(layers, 1):
        for name, states in zip(_PARTS, parts, strict=False):
            norms = torch.stack([next(gradients).norm(dim=1) for _ in states], 1)
            found.append(Flow(layer, name, norms.gather(1, back).mean(0).numpy()))
    return found


def singular_values(cell: Recurrent) -> list[Matrix]:
    """U = A Σ Bᵀ of every layer and gate.

    In a vanilla RNN σ_max < 1 is enough for the gradient to vanish, and σ_max > 1 is needed for it
    to explode (Pascanu, Mikolov and Bengio, 2013, 2.1); gates change both.
    """
    return [
        Matrix(layer, gate, torch.linalg.svdvals(part).detach().numpy())
        for layer, (_, weight, *_) in enumerate(cell.stack.all_weights, 1)
        for gate, part in zip(_GATES[cell.gates], weight.chunk(cell.gates), strict=True)
    ]


def clip_by_norm(gradient: Vector, threshold: float) -> Vector:
    """Shorter, in the same direction: g · min(1, θ / ‖g‖) (Pascanu, Mikolov and Bengio, 2013)."""
    return gradient * min(1.0, threshold / max(float(gradient.norm()), 1e-300))


def clip_by_value(gradient: Vector, threshold: float) -> Vector:
    """Shorter, in another direction: every entry cut to [-θ, θ] (Mikolov, 2012)."""
    return gradient.clamp(-threshold, threshold)


def clipped(gradient: Vector, after: Vector, threshold: float) -> Clipped:
    """A gradient beside what clipping left of it."""
    norms = float(gradient.norm()), float(after.norm())
    angle = 0.0
    if min(norms) > 0:
        apart = (gradient / norms[0] - after / norms[1]).norm()  # exact where a cosine is blind
        angle = math.degrees(2 * math.asin(min(1.0, float(apart) / 2)))
    changed = float((gradient != after).double().mean())
    return Clipped(threshold, *norms, changed, angle)


def value_for(gradient: Vector, norm: float) -> float:
    """The θ that leaves this norm when clipping by value: ‖clip(g, θ)‖ = norm."""
    entries = gradient.abs().sort().values
    squares = torch.cat([entries.new_zeros(1), entries.square().cumsum(0)])
    above = torch.arange(len(entries), 0, -1, dtype=entries.dtype)
    # What would be left if each entry in turn were the threshold; it grows with the entry.
    left = (squares[:-1] + above * entries.square()).sqrt()
    place = int(torch.searchsorted(left, norm))
    if place == len(entries):
        return float(entries[-1])
    return math.sqrt(max(norm**2 - float(squares[place]), 0.0) / float(above[place]))
