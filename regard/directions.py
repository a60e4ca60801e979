"""Recurrent stacks that read from the end, or from both ends."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.dropout import Dropout
from regard.recurrent import Reader, Recurrent, RecurrentState, Stack


class Reversed(Stack):
    """A stack that reads each sequence from its own end (Sutskever et al., 2014, 3.3).

    Every output stays at its own place; the last one read is that of the first place.
    """

    def __init__(self, cell: Recurrent) -> None:
        super().__init__()
        self.cell, self.out = cell, cell.out

    def read(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim"]]:
        turn = turned(mask)
        outputs, ends = self.cell.read(taken(x, turn), mask)
        return taken(outputs, turn), ends

    def finish(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], RecurrentState]:
        turn = turned(mask)
        outputs, state = self.cell.finish(taken(x, turn), mask)
        return taken(outputs, turn), state


class Bidirectional(Reader):
    """Two stacks, one from each end; every layer sees both directions of the one below.

    h_j = [forward h_j; backward h_j] (Schuster and Paliwal, 1997). The backward stack reads each
    sequence from its own end: padding stays behind what is real in both directions.
    """

    def __init__(
        self,
        kind: type[Recurrent],
        inputs: int,
        dim: int,
        *,
        layers: int = 1,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if layers < 1:
            raise ValueError(f"layers: wanted 1 or more, got {layers}")
        self.out = 2 * dim
        sizes = [inputs] + [self.out] * (layers - 1)
        self.forwards: Any = nn.ModuleList(kind(size, dim) for size in sizes)
        self.backwards: Any = nn.ModuleList(kind(size, dim) for size in sizes)
        self.between = Dropout(dropout)

    def read(
        self, x: Float[Tensor, "batch time inputs"], mask: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time dim"], Float[Tensor, "batch dim"]]:
        """Every output, 0 where padded, and the last output of each direction."""
        turn = turned(mask)
        ends: tuple[Tensor, ...] = ()
        for layer, (ahead, back) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            x = self.between(x) if layer else x
            left, left_end = ahead.read(x, mask)
            right, right_end = back.read(taken(x, turn), mask)
            x, ends = torch.cat([left, taken(right, turn)], -1), (left_end, right_end)
        return x, torch.cat(ends, -1)


def turned(mask: Bool[Tensor, "batch time"]) -> Tensor:
    """Flat places that turn each sequence around within its own length."""
    batch, time = mask.shape
    places = torch.arange(time, device=mask.device)
    ends = mask.sum(1, keepdim=True)
    inside = torch.where(places < ends, ends - 1 - places, places)
    return (inside + torch.arange(batch, device=mask.device)[:, None] * time).flatten()


def taken(x: Float[Tensor, "batch time dim"], places: Tensor) -> Float[Tensor, "batch time dim"]:
    """The vectors at flat places."""
    return x.flatten(0, 1).index_select(0, places).view_as(x)
