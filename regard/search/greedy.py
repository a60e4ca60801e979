"""One symbol after the other, never looking back: the likeliest, or one drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard import tree
from regard.search.scorer import Hypothesis, Scorer, Symbols, allowed

Pick = Callable[[Float[Tensor, "sentence vocab"], int, Int[Tensor, " sentence"]], Tensor]
"""From log probabilities, the step and the sentences' numbers to one symbol each."""


def greedy(
    scorer: Scorer,
    source: Any,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> list[Hypothesis]:
    """y_t = argmax p(y | y_<t)."""
    return follow(
        scorer,
        source,
        lambda log_prob, _step, _sentences: log_prob.argmax(-1),
        symbols=symbols,
        limits=limits,
        prefix=prefix,
    )


@torch.inference_mode()
def follow(
    scorer: Scorer,
    source: Any,
    pick: Pick,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> list[Hypothesis]:
    """Let `pick` choose every symbol; a sentence that has ended leaves the batch."""
    state = scorer.start(source)
    live = torch.arange(len(limits), device=limits.device)
    token = torch.full_like(live, symbols.begin)
    scores = torch.zeros(len(limits), device=limits.device)
    said: list[list[int]] = [[] for _ in range(len(limits))]
    complete = [True] * len(limits)
    step = 0
    while len(live):
        log_prob, state = scorer.step(token, state, source)
        own = prefix[live] if prefix is not None else None
        log_prob = allowed(
            log_prob[:, None], step=step, limits=limits[live], symbols=symbols, prefix=own
        )[:, 0]
        token = pick(log_prob, step, live)
        picked = log_prob.gather(1, token[:, None])[:, 0]
        scores = scores.to(picked.dtype).index_add(0, live, picked)
        for sentence, symbol in zip(live.tolist(), token.tolist(), strict=True):
            if symbol != symbols.end:
                said[sentence].append(symbol)
            elif step >= int(limits[sentence]):
                complete[sentence] = False
        going = (token != symbols.end).nonzero().squeeze(1)
        if len(going) < len(live):
            live, token = live[going], token[going]
            state, source = tree.select(state, going), tree.select(source, going)
        step += 1
    totals = scores.tolist()
    return [Hypothesis(*row) for row in zip(said, totals, totals, complete, strict=True)]
