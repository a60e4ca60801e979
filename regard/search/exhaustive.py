"""Exhaustive search: everything that could be said, scored. Only for very small spaces."""

from __future__ import annotations

from itertools import count
from typing import Any

import torch
from jaxtyping import Int
from torch import Tensor

from regard import tree
from regard.search.penalties import Penalty, Raw
from regard.search.scorer import Ending, Hypothesis, Scorer, Symbols, allowed


@torch.inference_mode()
def exhaustive(
    scorer: Scorer,
    source: Any,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    penalty: Penalty | None = None,
    ending: Ending | None = None,
    nbest: int = 1,
    most: int = 200_000,
    prefix: Int[Tensor, "sentence prefix"] | None = None,
) -> list[list[Hypothesis]]:
    """Argmax over all y of score(y), by enumeration of every sequence up to the length limit."""
    if nbest < 1:
        raise ValueError(f"nbest: wanted 1 or more, got {nbest}")
    found: list[list[Hypothesis]] = []
    for sentence in range(len(limits)):
        row = torch.tensor([sentence], device=limits.device)
        own = row.new_empty(1, 0) if prefix is None else prefix[row]
        everything = _enumerate(
            scorer,
            tree.select(source, row),
            symbols,
            limits[row],
            penalty or Raw(),
            ending,
            own,
            most,
        )
        everything.sort(key=lambda hypothesis: -hypothesis.score)
        found.append(everything[:nbest])
    return found


def _enumerate(
    scorer: Scorer,
    source: Any,
    symbols: Symbols,
    limit: Tensor,
    penalty: Penalty,
    ending: Ending | None,
    forced: Tensor,
    most: int,
) -> list[Hypothesis]:
    state, said = scorer.start(source), torch.empty(1, 0, dtype=torch.long, device=limit.device)
    token, scores = torch.full_like(limit, symbols.begin), None
    done: list[Hypothesis] = []
    for step in count():  # to the limit, or to the end of a forced prefix beyond it
        log_prob, state = scorer.step(token, state, source)
        _refuse_if_too_large(log_prob.shape[1] - 1 - len(symbols.never), int(limit), most)
        now = torch.full_like(limit, step)
        [log_prob] = allowed(log_prob[None], step=now, limits=limit, forced=forced, symbols=symbols)
        total = log_prob if scores is None else log_prob + scores[:, None]
        ended = total[:, symbols.end]
        added = torch.zeros_like(ended) if ending is None else ending(state)
        for tokens, value, more in zip(said.tolist(), ended.tolist(), added.tolist(), strict=True):
            if value > -torch.inf:
                score = value / penalty.divisor(step + 1) + more
                done.append(Hypothesis(tokens, value, score, step < int(limit)))
        total[:, symbols.end] = -torch.inf
        row, token = (total > -torch.inf).nonzero(as_tuple=True)
        if not len(row):
            break
        said = torch.cat([said[row], token[:, None]], 1)
        scores, state = total[row, token], tree.select(state, row)
    return done


def _refuse_if_too_large(words: int, limit: int, most: int) -> None:
    space = sum(words**length for length in range(limit + 1))
    if space > most:
        raise ValueError(
            f"exhaustive search: {words} symbols up to length {limit} make {space:.3g} sequences, "
            f"more than the {most} that it takes on; lower the length limit or use a beam"
        )
