"""A deep stack to read with: both directions at the bottom, residual connections above."""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.directions import Bidirectional
from regard.dropout import Dropout
from regard.recurrent import Reader, Recurrent


class ResidualStack(Reader):
    """x_1 = both directions, x_2 = f_2(x_1), x_l = x_{l-1} + f_l(x_{l-1}) (Wu et al., 2016, 3).

    Only the bottom layer reads from both ends; residual connections begin with the third layer.
    Dropout falls on what each layer above the bottom reads.
    """

    def __init__(
        self, kind: type[Recurrent], inputs: int, dim: int, *, layers: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if layers < 2:
            raise ValueError(f"layers: wanted 2 or more, both directions and one, got {layers}")
        self.out = dim
        self.bottom = Bidirectional(kind, inputs, dim)
        sizes = [self.bottom.out] + [dim] * (layers - 2)
        self.above: Any = nn.ModuleList(kind(size, dim) for size in sizes)
        self.between = Dropout(dropout)

    def read(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim"]]:
        second, *residual = self.above
        x, ends = second.read(self.between(self.bottom.read(x, mask)[0]), mask)
        for layer in residual:
            more, more_ends = layer.read(self.between(x), mask)
            x, ends = x + more, ends + more_ends
        return x, ends
