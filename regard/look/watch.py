"""Watching: which place every attention of a model looked at."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn

from regard.attention.base import Attention, explicit_weights
from regard.attention.multihead import SelfAttention
from regard.memory import Read


@dataclass
class Gaze:
    """Every look of every attention, by the attention's name in the model, in order."""

    looks: dict[str, list[Tensor]] = field(default_factory=dict)

    def maps(self, batch: int) -> dict[str, Float[Tensor, "batch time *head source"]]:
        """For each attention where it looked at each step.

        A decoder that steps looks once per step; one that runs in parallel looks once with a row
        per step. Both give the same map.
        """
        return {
            name: torch.cat([look.unflatten(0, (batch, -1)) for look in looks], dim=1)
            for name, looks in self.looks.items()
        }


@contextmanager
def watch(model: nn.Module) -> Iterator[Gaze]:
    """Capture the weights of every attention that is used within; outputs stay the same."""
    gaze = Gaze()
    hooks = [
        module.register_forward_hook(_capture(gaze, name))
        for name, module in model.named_modules()
        if isinstance(module, Attention | SelfAttention)
    ]
    try:
        with explicit_weights():
            yield gaze
    finally:
        for hook in hooks:
            hook.remove()


def _capture(gaze: Gaze, name: str):  # type: ignore[no-untyped-def]
    def hook(_module: nn.Module, _inputs: tuple[object, ...], read: Read) -> None:
        if read.weights is not None:
            gaze.looks.setdefault(name, []).append(read.weights.detach())

    return hook
