"""The decoder that starts from all of a picture's fields and keeps its start in sight."""

from __future__ import annotations

from torch import nn

from regard.blocks import Embedding, Tanh
from regard.decoders.context import Context, InSight
from regard.memory import Memory
from regard.recurrent import Recurrent


class Spatial(Context):
    """h_0 = MLP(z), c = h_0 at every step: s_t = f(s_{t-1}, [E y_{t-1}; c]).

    z are the fields of the map one after the other, so that the MLP knows their places:
    MLP(z) = tanh(W_2 tanh(W_1 z + b_1) + b_2). Of a deep cell, c is the last layer's h_0; an LSTM's
    memory cell starts from the MLP as well. Image captioning before attention, as Stanford's CS231n
    teaches it (https://cs231n.stanford.edu, lecture on attention).
    """

    def __init__(
        self,
        embedding: Embedding,
        cell: Recurrent,
        *,
        memory: int,
        fields: int,
        dim: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(
            embedding, cell, summary=cell.dim, dim=dim, activation=Tanh(), dropout=dropout
        )
        self.hidden = nn.Linear(fields * memory, cell.dim)

    def see(self, memory: Memory) -> InSight:
        first = self.bridge(self.hidden(memory.values.flatten(1)).tanh())
        return InSight(first[-1][0], first)
