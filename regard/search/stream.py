"""One text without end, symbol by symbol, as it is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from regard import tree
from regard.search.sample import drawn
from regard.search.scorer import Scorer


@torch.inference_mode()
def stream(
    scorer: Scorer,
    source: Any,
    said: Sequence[int],
    *,
    never: tuple[int, ...],
    seed: int,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Iterator[int]:
    """y_t ~ p(y | y_<t)^(1/temperature), after what was `said` already; never ends by itself."""
    chances = np.random.Generator(np.random.Philox(key=seed % 2**64))
    state, device = scorer.start(source), tree.leaves(source)[0].device
    for symbol in said[:-1]:
        _, state = scorer.step(torch.tensor([symbol], device=device), state, source)
    token = torch.tensor([said[-1]], device=device)
    while True:
        log_prob, state = scorer.step(token, state, source)
        log_prob[:, list(never)] = -torch.inf
        chance = torch.tensor([chances.random()], dtype=torch.float64, device=device)
        token = drawn(log_prob, chance, temperature=temperature, top_k=top_k, top_p=top_p)
        yield int(token)
