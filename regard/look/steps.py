"""Following a recurrence step by step: every state that it went through, with its gradient."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard import tree
from regard.recurrent import Recurrent, RecurrentState


@dataclass(frozen=True)
class Track:
    """What one recurrent part read, and its state after each step, in the order of reading."""

    cell: Recurrent
    inputs: Float[Tensor, "batch time inputs"]
    states: list[RecurrentState]


@contextmanager
def followed(model: nn.Module) -> Iterator[list[Track]]:
    """Have every recurrent part step by itself and keep its states; what is real stays the same.

    The fused kernel never shows the states between its first step and its last.
    """
    tracks: list[Track] = []
    hooks = [
        module.register_forward_hook(_stepping(tracks))
        for module in model.modules()
        if isinstance(module, Recurrent)
    ]
    try:
        yield tracks
    finally:
        for hook in hooks:
            hook.remove()


def _stepping(tracks: list[Track]):  # type: ignore[no-untyped-def]
    def hook(
        cell: Recurrent, given: tuple[Any, ...], _fused: object
    ) -> tuple[Tensor, RecurrentState]:
        x, first, lengths = (*given, None, None)[:3]
        state: RecurrentState = cell.start(len(x)) if first is None else first
        outputs, track = [], Track(cell, x, [])
        for projected in cell.project(x).unbind(1):
            output, state = cell.advance(projected, state)
            outputs.append(output)
            track.states.append(state)
        tracks.append(track)
        if lengths is not None:
            rows, last = torch.arange(len(x), device=x.device), lengths - 1
            state = tree.map(lambda *steps: torch.stack(steps)[last, rows], *track.states)
        return torch.stack(outputs, 1), state

    return hook
