"""The coverage penalty: what a hypothesis loses for source positions that it left unseen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from regard.attention.base import Attention
from regard.look.watch import watch
from regard.memory import State

LEAST = 1e-9
"""What a place that was never looked at counts as having had: it costs much, but not everything."""


class Covered(NamedTuple):
    """A source, and which of its positions are real."""

    source: Any
    real: Bool[Tensor, "batch source"]


class Covering(NamedTuple):
    """A state, the real positions, and how much attention each has had so far."""

    state: State
    real: Bool[Tensor, "rows source"]
    had: Float[Tensor, "rows source"]


class Coverage:
    """A scorer that adds up where `decoders` look: cp(x, y) = beta sum_j log min(sum_t a_tj, 1).

    Wu et al., 2016, eq. 14. a_tj is the mean over all attentions of the decoders and all their
    heads. The probabilities are those of the scorer itself; a search adds `ending` to the score of
    what has ended. The penalty is 0 where every position had its full attention, else below 0.
    """

    def __init__(self, scorer: Any, decoders: Sequence[nn.Module], *, beta: float) -> None:
        self.scorer, self.beta = scorer, beta
        self.decoders = nn.ModuleList(decoders)
        self.looking = {
            name for name, part in self.decoders.named_modules() if isinstance(part, Attention)
        }
        if not self.looking:
            raise ValueError(
                f"coverage: wanted a model with attention, or coverage 0, got {beta} for one that "
                "looks nowhere"
            )

    def prepare(
        self, source: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Covered:
        """Read the sources once."""
        return Covered(self.scorer.prepare(source, mask), mask)

    def start(self, source: Covered) -> Covering:
        nothing = torch.zeros(source.real.shape, device=source.real.device)
        return Covering(self.scorer.start(source.source), source.real, nothing)

    def step(
        self, token: Int[Tensor, " rows"], state: Covering, source: Covered
    ) -> tuple[Float[Tensor, "rows vocab"], Covering]:
        with watch(self.decoders) as gaze:
            log_prob, after = self.scorer.step(token, state.state, source.source)
        looks = [gaze.looks[name][-1] for name in gaze.looks if name in self.looking]
        single = [look.mean(1) if look.dim() == 3 else look for look in looks]  # of all heads
        return log_prob, Covering(after, state.real, state.had + torch.stack(single).mean(0))

    def ending(self, state: Covering) -> Float[Tensor, " rows"]:
        """The penalty of a hypothesis that ends in a state."""
        return self.beta * state.had.clamp(LEAST, 1).log().masked_fill(~state.real, 0).sum(1)
