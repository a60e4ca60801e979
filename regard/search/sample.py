"""Sampling: every symbol is drawn, each sentence from its own stream of random numbers."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.search.greedy import Follow
from regard.search.scorer import Hypothesis, Scorer, Symbols


def sample(
    scorer: Scorer,
    source: Any,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    seeds: list[int],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> list[Hypothesis]:
    """One random answer to each sentence; see `drawing`."""
    pick = drawing(limits, seeds, temperature=temperature, top_k=top_k, top_p=top_p, prefix=prefix)
    search = Follow(scorer, source, pick, symbols=symbols, limits=limits, prefix=prefix)
    return [answer for [answer] in search.finish()]


class Draw(NamedTuple):
    """y_t ~ p(y | y_<t)^(1/temperature), within the top k symbols or the top p of the mass.

    Nucleus (top-p) sampling: Holtzman et al., 2020.
    """

    chances: Float[Tensor, "sentence time"]
    """A number from 0 to 1 for each step of each sentence."""
    temperature: float
    top_k: int | None
    top_p: float | None

    def __call__(
        self, log_prob: Float[Tensor, "sentence vocab"], step: Int[Tensor, " sentence"]
    ) -> Int[Tensor, " sentence"]:
        """One symbol for each sentence."""
        return drawn(
            log_prob,
            self.chances.gather(1, step[:, None])[:, 0],
            temperature=self.temperature,
            top_k=self.top_k,
            top_p=self.top_p,
        )


def drawing(
    limits: Int[Tensor, " sentence"],
    seeds: list[int],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> Draw:
    """`seeds` has one number per sentence: a sample does not depend on the batch around it."""
    check(temperature, top_k, top_p)
    if len(seeds) != len(limits):
        raise ValueError(
            f"seeds: wanted one for each of the {len(limits)} sentences, got {len(seeds)}"
        )
    # A forced prefix may go beyond the limit.
    longest = max(int(limits.max()), 0 if prefix is None else prefix.shape[1]) + 1
    streams = [np.random.Generator(np.random.Philox(key=seed % 2**64)) for seed in seeds]
    # Enough numbers for the longest sentence; a stream's start does not depend on how many.
    chances = torch.from_numpy(np.stack([s.random(longest) for s in streams])).to(limits.device)
    return Draw(chances, temperature, top_k, top_p)


def drawn(
    log_prob: Float[Tensor, "sentence vocab"],
    chances: Float[Tensor, " sentence"],
    *,
    temperature: float,
    top_k: int | None,
    top_p: float | None,
) -> Int[Tensor, " sentence"]:
    """The symbols that numbers drawn evenly from 0 to 1 stand for."""
    ordered, symbol = (log_prob.double() / temperature).sort(dim=-1, descending=True)
    mass = trimmed(ordered.softmax(-1), top_k, top_p).cumsum(-1)
    place = (mass < chances[:, None] * mass[:, -1:]).sum(-1, keepdim=True)
    return symbol.gather(1, place)[:, 0]


def trimmed(
    probabilities: Float[Tensor, "sentence vocab"], top_k: int | None, top_p: float | None
) -> Float[Tensor, "sentence vocab"]:
    """Falling probabilities with 0 for all that stand behind the top k or beyond the mass p."""
    if top_k is not None:
        probabilities = probabilities.clone()
        probabilities[:, top_k:] = 0
    if top_p is not None:
        before = probabilities.cumsum(-1) - probabilities
        probabilities = probabilities.masked_fill(before >= top_p * probabilities.sum(-1, True), 0)
    return probabilities


def check(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Refuse what cannot be drawn from."""
    if not 0 < temperature < math.inf:
        raise ValueError(f"temperature: wanted a number above 0, got {temperature}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k: wanted 1 or more, got {top_k}")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p: wanted a share above 0 and up to 1, got {top_p}")
