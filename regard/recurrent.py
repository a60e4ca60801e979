"""RNN, LSTM, GRU: one set of weights, a fused pass over a sequence and a single step.

A state is a tuple with one entry per layer, each a tuple of tensors (rows, dim): (h,) or (h, c).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from regard.dropout import Dropout

LayerState = tuple[Tensor, ...]
RecurrentState = tuple[LayerState, ...]


class Recurrent(nn.Module, ABC):
    """A stack of recurrent layers, with dropout between them.

    `forward` runs PyTorch's fused kernel over a whole padded batch; `step` runs the single cell on
    the same weights. The two agree (tests/laws).
    """

    kernel: ClassVar[type[nn.RNNBase]]
    parts: ClassVar[int]
    """Tensors in a layer's state: 1 (h) or 2 (h and c)."""

    def __init__(
        self, inputs: int, dim: int, *, layers: int = 1, bidirectional: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"layers: wanted 1 or more, got {layers}")
        self.dim, self.layers, self.bidirectional = dim, layers, bidirectional
        self.between = Dropout(dropout)
        self.stack = self.kernel(
            inputs, dim, num_layers=layers, bidirectional=bidirectional, batch_first=True,
            dropout=dropout if layers > 1 else 0.0,
        )

    @abstractmethod
    def cell(self, x: Tensor, state: LayerState, weights: list[Tensor]) -> LayerState:
        """One step of one layer."""

    def start(self, rows: int) -> RecurrentState:
        """The zero state."""
        zero = self.stack.weight_hh_l0.new_zeros(rows, self.dim)
        return ((zero,) * self.parts,) * self.layers

    def step(
        self, x: Float[Tensor, "rows inputs"], state: RecurrentState
    ) -> tuple[Float[Tensor, "rows dim"], RecurrentState]:
        """Advance every layer by one step."""
        after: list[LayerState] = []
        for layer, (before, weights) in enumerate(zip(state, self.stack.all_weights, strict=True)):
            x = self.between(x) if layer else x
            after.append(self.cell(x, before, weights))
            x = after[-1][0]
        return x, tuple(after)

    def forward(
        self,
        x: Float[Tensor, "batch time inputs"],
        mask: Bool[Tensor, "batch time"] | None = None,
        state: RecurrentState | None = None,
    ) -> tuple[Float[Tensor, "batch time outputs"], Tensor, RecurrentState]:
        """Outputs of all steps (zero where padded), the top layer's last state, and all states."""
        first = None if state is None else self._stacked(state)
        if mask is None or bool(mask.all()):
            outputs, last = self.stack(x, first)
        else:
            # Lengths must be on the CPU; a source of nothing still takes one (zero) step.
            lengths = mask.sum(1).clamp(min=1).cpu()
            packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
            outputs, last = self.stack(packed, first)
            outputs, _ = pad_packed_sequence(outputs, batch_first=True, total_length=x.shape[1])
        tensors = last if isinstance(last, tuple) else (last,)
        top = tensors[0][-2:] if self.bidirectional else tensors[0][-1:]
        states = tuple(zip(*(part.unbind(0) for part in tensors), strict=True))
        return outputs, top.transpose(0, 1).flatten(1), states

    def _stacked(self, state: RecurrentState) -> Tensor | tuple[Tensor, ...]:
        parts = tuple(torch.stack(part) for part in zip(*state, strict=True))
        return parts if self.parts > 1 else parts[0]


class RNN(Recurrent):
    """Vanilla recurrence: h_t = tanh(W x_t + U h_{t-1} + b) (Elman, 1990)."""

    kernel = nn.RNN
    parts = 1

    def cell(self, x: Tensor, state: LayerState, weights: list[Tensor]) -> LayerState:
        return (torch.rnn_tanh_cell(x, state[0], *weights),)


class LSTM(Recurrent):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997; forget gate: Gers et al., 2000).

    c_t = f * c_{t-1} + i * tanh(W_c x_t + U_c h_{t-1}),  h_t = o * tanh(c_t).
    """

    kernel = nn.LSTM
    parts = 2

    def cell(self, x: Tensor, state: LayerState, weights: list[Tensor]) -> LayerState:
        return torch.lstm_cell(x, state, *weights)


class GRU(Recurrent):
    """Gated recurrent unit: h_t = (1 - z) * n_t + z * h_{t-1} (Cho et al., 2014).

    n_t = tanh(W x_t + r * (U h_{t-1})).
    """

    kernel = nn.GRU
    parts = 1

    def cell(self, x: Tensor, state: LayerState, weights: list[Tensor]) -> LayerState:
        return (torch.gru_cell(x, state[0], *weights),)


CELLS: dict[str, type[Recurrent]] = {"rnn": RNN, "lstm": LSTM, "gru": GRU}
