"""RNN, LSTM, GRU: one set of weights, a fused pass over a sequence and a single step.

A state is a tuple with one entry per layer, each a tuple of tensors (rows, dim): (h,) or (h, c).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard import tree
from regard.dropout import Dropout
from regard.machine import knows_16_bits

LayerState = tuple[Tensor, ...]
RecurrentState = tuple[LayerState, ...]


class Reader(nn.Module, ABC):
    """Whatever reads a padded batch of sequences by recurrence."""

    out: int
    """Size of the outputs."""

    @abstractmethod
    def read(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim"]]:
        """Every output at its own place, 0 where padded, and the output where reading ends."""


class Stack(Reader):
    """A reader whose last state another stack of its kind and size can go on from."""

    @abstractmethod
    def finish(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], RecurrentState]:
        """Every output at its own place, and the state of every layer where reading ends."""


class Recurrent(Stack):
    """A stack of recurrent layers that reads from left to right, with dropout between the layers.

    `forward` runs PyTorch's fused kernel over whole sequences; `step` runs one step on the same
    weights. The two agree (tests/laws). What a step's input adds to the gates does not depend on
    the state, so `project` can compute it for all steps at once, outside the loop of `advance`.
    """

    kernel: ClassVar[type[nn.RNN] | type[nn.LSTM] | type[nn.GRU]]
    parts: ClassVar[int]
    """Tensors in a layer's state: 1 (h) or 2 (h and c)."""
    gates: ClassVar[int]
    """Sums that a layer computes, as multiples of its size."""

    def __init__(self, inputs: int, dim: int, *, layers: int = 1, dropout: float = 0.0) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"layers: wanted 1 or more, got {layers}")
        self.dim, self.layers, self.out = dim, layers, dim
        self.between = Dropout(dropout)
        self.stack = self.kernel(
            inputs, dim, num_layers=layers, batch_first=True, dropout=dropout if layers > 1 else 0.0
        )

    @abstractmethod
    def cell(
        self,
        projected: Float[Tensor, "rows gates"],
        state: LayerState,
        weight: Tensor,
        bias: Tensor,
    ) -> LayerState:
        """One step of one layer, from its projected input and its recurrent weights."""

    def start(self, rows: int) -> RecurrentState:
        """The zero state."""
        zero = self.stack.all_weights[0][0].new_zeros(rows, self.dim)
        return ((zero,) * self.parts,) * self.layers

    def project(
        self, x: Float[Tensor, "*rows inputs"], *, first: int | None = None
    ) -> Float[Tensor, "*rows gates"]:
        """W x + b: what an input adds to the first layer's gates.

        With `first`, x is only that part of the input which begins there; b goes with the part
        that begins at 0.
        """
        weight, _, bias, _ = self.stack.all_weights[0]
        if first is None:
            return F.linear(x, weight, bias)
        return F.linear(x, weight[:, first : first + x.shape[-1]], None if first else bias)

    def advance(
        self, projected: Float[Tensor, "rows gates"], state: RecurrentState
    ) -> tuple[Float[Tensor, "rows dim"], RecurrentState]:
        """One step of every layer, given the first layer's projected input."""
        after: list[LayerState] = []
        for before, (own, weight, own_bias, bias) in zip(
            state, self.stack.all_weights, strict=True
        ):
            if after:
                projected = F.linear(self.between(after[-1][0]), own, own_bias)
            after.append(self.cell(projected, before, weight, bias))
        return after[-1][0], tuple(after)

    def step(
        self, x: Float[Tensor, "rows inputs"], state: RecurrentState
    ) -> tuple[Float[Tensor, "rows dim"], RecurrentState]:
        """One step of every layer."""
        return self.advance(self.project(x), state)

    def forward(
        self,
        x: Float[Tensor, "batch time inputs"],
        state: RecurrentState | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch time dim"], RecurrentState]:
        """The outputs of all steps, and the state after the last, or after each row's own last."""
        first: Any = None
        if state is not None:
            first = tuple(torch.stack(part) for part in zip(*state, strict=True))
            first = first if self.parts > 1 else first[0]
        if lengths is None:
            outputs, last = self.stack(x, first)
        else:
            rows = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
            packed, last = self.stack(rows, first)
            outputs, _ = pad_packed_sequence(packed, batch_first=True, total_length=x.shape[1])
        tensors = last if self.parts > 1 else (last,)
        return outputs, tuple(zip(*(part.unbind(0) for part in tensors), strict=True))

    def read(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim"]]:
        """Every output, 0 where padded, and the output at each sequence's own end."""
        outputs, _ = self(x)  # padding stands behind what is real and cannot change it
        last = (mask.sum(1) - 1).clamp(min=0)
        ends = outputs[torch.arange(len(x), device=x.device), last]
        return outputs * mask[..., None].to(outputs.dtype), ends

    def finish(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], RecurrentState]:
        # The fused kernel shows only the state behind all padding.
        return self(x) if bool(mask.all()) else self(x, None, mask.sum(1).clamp(min=1))


class RNN(Recurrent):
    """Vanilla recurrence: h_t = tanh(W x_t + U h_{t-1} + b) (Elman, 1990)."""

    kernel = nn.RNN
    parts = 1
    gates = 1

    def cell(
        self,
        projected: Float[Tensor, "rows gates"],
        state: LayerState,
        weight: Tensor,
        bias: Tensor,
    ) -> LayerState:
        return ((projected + F.linear(state[0], weight, bias)).tanh(),)


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; forget gate: Gers et al., 2000).

    c_t = f * c_{t-1} + i * tanh(W_c x_t + U_c h_{t-1}),  h_t = o * tanh(c_t).
    """

    kernel = nn.LSTM
    parts = 2
    gates = 4

    def forward(
        self,
        x: Float[Tensor, "batch time inputs"],
        state: RecurrentState | None = None,
        lengths: Int[Tensor, " batch"] | None = None,
    ) -> tuple[Float[Tensor, "batch time dim"], RecurrentState]:
        if x.device.type != "cpu" or not torch.is_autocast_enabled("cpu") or knows_16_bits():
            return super().forward(x, state, lengths)
        with torch.autocast("cpu", enabled=False):  # the fused kernel would refuse 16 bits
            return super().forward(x.float(), tree.map(torch.Tensor.float, state), lengths)

    def cell(
        self,
        projected: Float[Tensor, "rows gates"],
        state: LayerState,
        weight: Tensor,
        bias: Tensor,
    ) -> LayerState:
        hidden, cell = state
        i, f, g, o = (projected + F.linear(hidden, weight, bias)).chunk(4, dim=1)
        cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
        return o.sigmoid() * cell.tanh(), cell


class GRU(Recurrent):
    """Gated recurrent unit: h_t = (1 - z) * n_t + z * h_{t-1} (Cho et al., 2014).

    n_t = tanh(W x_t + r * (U h_{t-1})).
    """

    kernel = nn.GRU
    parts = 1
    gates = 3

    def cell(
        self,
        projected: Float[Tensor, "rows gates"],
        state: LayerState,
        weight: Tensor,
        bias: Tensor,
    ) -> LayerState:
        sizes = [2 * self.dim, self.dim]
        gates, new = projected.split(sizes, dim=1)
        past_gates, past_new = F.linear(state[0], weight, bias).split(sizes, dim=1)
        r, z = (gates + past_gates).sigmoid().chunk(2, dim=1)
        n = (new + r * past_new).tanh()
        return (torch.lerp(n, state[0], z),)


CELLS: dict[str, type[Recurrent]] = {"rnn": RNN, "lstm": LSTM, "gru": GRU}
