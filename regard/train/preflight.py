"""Before the first step: what the run will take."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from regard.train.learning import Learning


class Preflight(NamedTuple):
    """Measured on a few real batches, without changing anything."""

    parameters: int
    tokens: int
    """Target tokens of an epoch."""
    batches: int
    seconds: float
    """Of one batch."""
    memory: int
    """Bytes at the peak of the largest batch, the program itself included."""

    def lines(self, updates: int, accumulate: int) -> list[str]:
        """What a person wants to know before leaving the machine alone."""
        epoch = self.seconds * self.batches
        whole = self.seconds * updates * accumulate
        return [
            f"{self.parameters:,} parameters; {self.tokens:,} target tokens in {self.batches:,} "
            f"batches an epoch",
            f"about {self.tokens / max(epoch, 1e-9):,.0f} tokens/s: {clock(epoch)} an epoch, "
            f"{clock(whole)} for {updates:,} updates (validation comes on top)",
            f"about {self.memory / 2**20:,.0f} MiB of memory at the peak",
        ]


def preflight(
    learning: Learning,
    batches: Sequence[np.ndarray],
    backward: Callable[[np.ndarray], object],
    *,
    measured: int = 8,
    rounds: int = 1,
) -> Preflight:
    """Time some batches spread over the epoch, after the largest has warmed everything up.

    With several `rounds` the last one counts: kernels of 16 bits are made when a shape first comes.
    """
    sizes = [learning.count(indices) for indices in batches]
    order = np.argsort(sizes, kind="stable")
    spread = order[np.linspace(0, len(order) - 1, measured).astype(int)].tolist()
    seconds = []
    for index in [int(order[-1])] * 3 + spread * rounds:
        indices = batches[index]  # which may take a pool to be sorted, now and then in an epoch
        begin = time.perf_counter()
        backward(indices)
        seconds.append((time.perf_counter() - begin) / max(1, sizes[index]))
    per_token = float(np.median(seconds[-measured:]))
    trained = sum(p.numel() for p in learning.model.parameters() if p.requires_grad)
    return Preflight(
        trained,
        sum(sizes),
        len(batches),
        per_token * sum(sizes) / len(batches),
        peak_memory() + 8 * trained,
    )


def peak_memory() -> int:
    """The most memory that this process has held, on its accelerator or in main memory."""
    if torch.cuda.is_available():
        return int(torch.cuda.max_memory_allocated())
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def clock(seconds: float) -> str:
    """A duration as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
