"""Beam search, batched over sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard import tree
from regard.memory import State
from regard.search.penalties import Penalty, Raw
from regard.search.scorer import Ending, Hypothesis, Scorer, Symbols, allowed
from regard.search.trace import Trace


@torch.inference_mode()
def beam(
    scorer: Scorer,
    source: Any,
    *,
    symbols: Symbols,
    limits: Int[Tensor, " sentence"],
    width: int = 5,
    nbest: int = 1,
    penalty: Penalty | None = None,
    ending: Ending | None = None,
    prefix: Int[Tensor, "sentence prefix"] | None = None,
    trace: Trace | None = None,
) -> list[list[Hypothesis]]:
    """Keep the `width` likeliest beginnings at each step (Graves, 2012; Sutskever et al., 2014).

    Of the `width` best continuations, those that say the end are finished and the others go on. A
    sentence is over when nothing goes on, or when no beginning, however well it went on, could
    still enter the n-best list: a log probability only falls, and `ending` adds nothing above 0, so
    log p / divisor(longest) is the most that it can reach. With width 1 this is greedy search; wide
    enough, it is exhaustive.
    """
    if width < 1:
        raise ValueError(f"width: wanted 1 or more, got {width}")
    if not 1 <= nbest <= width:
        raise ValueError(f"nbest: wanted 1 to the beam's width {width}, got {nbest}")
    search = _Search(symbols, penalty or Raw(), ending, width, nbest, limits, prefix, trace)
    front = search.begin(scorer, source)
    step = 0
    while len(front.live):
        log_prob, front.state = scorer.step(front.token, front.state, front.source)
        search.advance(front, log_prob, step)
        step += 1
    return [sorted(done, key=lambda h: -h.score)[:nbest] for done in search.done]


@dataclass
class _Front:
    """What still goes on: rows are live sentences times their present width."""

    live: Int[Tensor, " sentence"]
    source: Any
    state: State
    token: Int[Tensor, " rows"]
    scores: Float[Tensor, "sentence width"]
    said: Int[Tensor, "sentence width time"]


@dataclass
class _Search:
    symbols: Symbols
    penalty: Penalty
    ending: Ending | None
    width: int
    nbest: int
    limits: Int[Tensor, " sentence"]
    prefix: Int[Tensor, "sentence prefix"] | None
    trace: Trace | None
    done: list[list[Hypothesis]] = field(default_factory=list)

    def begin(self, scorer: Scorer, source: Any) -> _Front:
        live = torch.arange(len(self.limits), device=self.limits.device)
        self.done = [[] for _ in range(len(live))]
        return _Front(
            live,
            source,
            scorer.start(source),
            torch.full_like(live, self.symbols.begin),
            torch.zeros(len(live), 1, device=live.device),
            live.new_empty(len(live), 1, 0),
        )

    def advance(self, front: _Front, log_prob: Float[Tensor, "rows vocab"], step: int) -> None:
        """Continue every hypothesis, keep the best, let what is over leave."""
        sentences, width = front.scores.shape
        log_prob = allowed(
            log_prob.unflatten(0, (sentences, width)),
            step=step,
            limits=self.limits[front.live],
            symbols=self.symbols,
            prefix=None if self.prefix is None else self.prefix[front.live],
        )
        scores, parent, token = _best(front.scores, log_prob, self.width)
        if self.trace is not None:
            self.trace.record(
                front.live,
                *_best(front.scores, log_prob, 2 * self.width),
                kept=self.width,
                end=self.symbols.end,
                step=step,
            )
        ended = (token == self.symbols.end) & (scores > -torch.inf)
        self._finish(front, scores, parent, ended, step)
        # What has ended, or never was, stays as a row that can win nothing.
        scores = scores.masked_fill(ended, -torch.inf)
        order = scores.argsort(dim=1, descending=True, stable=True)
        going = int((scores > -torch.inf).sum(1).max())
        order = order[:, : max(going, 1)]
        scores, parent, token = (x.gather(1, order) for x in (scores, parent, token))
        stay = self._undecided(front.live, scores, step)
        rows = (torch.arange(sentences, device=parent.device)[:, None] * width + parent)[stay]
        front.state = tree.select(front.state, rows.flatten())
        said = front.said.flatten(0, 1)[rows.flatten()].unflatten(0, rows.shape)
        front.said = torch.cat([said, token[stay][:, :, None]], 2)
        front.token, front.scores = token[stay].flatten(), scores[stay]
        if len(stay) < sentences:
            front.live, front.source = front.live[stay], tree.select(front.source, stay)

    def _finish(
        self, front: _Front, scores: Tensor, parent: Tensor, ended: Tensor, step: int
    ) -> None:
        """Write down every hypothesis that has said the end."""
        sentence, place = ended.nonzero(as_tuple=True)
        if not len(sentence):
            return
        said = front.said[sentence, parent[sentence, place]].tolist()
        numbers = front.live[sentence]
        added = [0.0] * len(said)
        if self.ending is not None:
            rows = sentence * front.scores.shape[1] + parent[sentence, place]
            added = self.ending(front.state)[rows].tolist()
        complete = (self.limits[numbers] > step).tolist()
        divisor = self.penalty.divisor(step + 1)
        values = scores[sentence, place].tolist()
        for number, tokens, value, more, whole in zip(
            numbers.tolist(), said, values, added, complete, strict=True
        ):
            self.done[number].append(Hypothesis(tokens, value, value / divisor + more, whole))

    def _undecided(
        self, live: Tensor, scores: Float[Tensor, "sentence width"], step: int
    ) -> Int[Tensor, " stay"]:
        """The places of sentences whose n-best list could still change."""
        stay: list[int] = []
        best, limits = scores[:, 0].tolist(), self.limits[live].tolist()
        for place, (number, value, limit) in enumerate(
            zip(live.tolist(), best, limits, strict=True)
        ):
            if value == -torch.inf:
                continue
            finished = sorted((h.score for h in self.done[number]), reverse=True)
            # At least the end is still to be said, at most the limit and the end.
            reachable = value / self.penalty.divisor(max(limit, step + 1) + 1)
            if len(finished) < self.nbest or finished[self.nbest - 1] < reachable:
                stay.append(place)
        return torch.tensor(stay, dtype=torch.long, device=live.device)


def _best(
    scores: Float[Tensor, "sentence width"],
    log_prob: Float[Tensor, "sentence width vocab"],
    count: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each sentence: scores, which hypothesis, which symbol."""
    vocab = log_prob.shape[2]
    # No more than `count` of one hypothesis' continuations can be among the best `count`.
    values, symbols = log_prob.topk(min(count, vocab), dim=2)
    total = (values + scores[:, :, None]).flatten(1)
    best, place = total.topk(min(count, total.shape[1]), dim=1)
    return best, place // symbols.shape[2], symbols.flatten(1).gather(1, place)
