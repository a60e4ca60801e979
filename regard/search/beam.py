"""Beam search, batched over sentences."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional as F

from regard import tree
from regard.search.consensus import Consensus
from regard.search.forks import Forks
from regard.search.front import Fronted
from regard.search.penalties import Penalty
from regard.search.scorer import Ending, Hypothesis, Scorer, Symbols, allowed
from regard.search.underway import Progress, agreed

BLOCK = 64
"""Symbols that are looked at together when the best continuations are sought."""


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
    forks: Forks | None = None,
    consensus: Consensus | None = None,
) -> list[list[Hypothesis]]:
    """The n best answers to each sentence; see `Beam`."""
    return Beam(
        scorer,
        source,
        symbols=symbols,
        limits=limits,
        width=width,
        nbest=nbest,
        penalty=penalty,
        ending=ending,
        prefix=prefix,
        forks=forks,
        consensus=consensus,
    ).finish()


class Beam(Fronted):
    """Keep the `width` likeliest beginnings at each step (Graves, 2012; Sutskever et al., 2014).

    Of the `width` best continuations, those that say the end are finished and the others go on. A
    sentence is over when nothing goes on, or when no beginning, however well it went on, could
    still enter the n-best list: a log probability only falls, and `ending` adds nothing above 0, so
    log p / divisor(longest) is the most that it can reach. With width 1 this is greedy search; wide
    enough, it is exhaustive. A `consensus` chooses among the `width` best answers; `listed`, all
    of them are given, for somebody else to choose.
    """

    def __init__(
        self,
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
        forks: Forks | None = None,
        consensus: Consensus | None = None,
        listed: bool = False,
    ) -> None:
        if width < 1:
            raise ValueError(f"width: wanted 1 or more, got {width}")
        if not 1 <= nbest <= width:
            raise ValueError(f"nbest: wanted 1 to the beam's width {width}, got {nbest}")
        super().__init__(
            scorer, source, symbols=symbols, limits=limits, penalty=penalty, prefix=prefix
        )
        self.width, self.nbest, self.ending, self.forks = width, nbest, ending, forks
        self.consensus, self.open = consensus, listed or consensus is not None
        self._listed, self._given = width if self.open else nbest, width if listed else nbest

    def answers(self, sentence: int) -> list[Hypothesis]:
        found = self._best(sentence)
        return (self.consensus(found) if self.consensus is not None else found)[: self._given]

    def _best(self, sentence: int) -> list[Hypothesis]:
        """What was found, as far as it can be an answer."""
        return sorted(self._done[sentence], key=lambda h: -h.score)[: self._listed]

    def progress(self, sentence: int) -> Progress:
        place = self.live.index(sentence)
        going = self._front.spelt(place)
        found = self._best(sentence)
        finished = [each.tokens for each in (found if self.open else found[:1])]
        best = float(self._front.scores[place, 0])
        return Progress(going[0], agreed([*going, *finished]), best)

    def join(self, other: Any) -> int:
        first = super().join(other)
        if self.forks is not None and other.forks is not None:
            self.forks.join(other.forks, first=first)
        return first

    def forget(self, sentence: int) -> None:
        super().forget(sentence)
        if self.forks is not None:
            self.forks.of.pop(sentence, None)

    @torch.inference_mode()
    def step(self) -> None:
        """Continue every hypothesis, keep the best, let what is over leave."""
        front = self._front
        log_prob, self._state = self.scorer.step(front.token.flatten(), self._state, self._source)
        log_prob = allowed(
            log_prob.unflatten(0, front.scores.shape),
            step=front.step,
            limits=front.limit,
            forced=front.forced,
            symbols=self.symbols,
        )
        scores, parent, token = _likeliest(front.scores, log_prob, self.width)
        if self.forks is not None:
            self._record(self.forks, *_likeliest(front.scores, log_prob, 2 * self.width))
        ended = (token == self.symbols.end) & (scores > -torch.inf)
        self._finish(scores, parent, ended)
        # What has ended, or never was, stays as a row that can win nothing.
        scores = scores.masked_fill(ended, -torch.inf)
        order = scores.argsort(dim=1, descending=True, stable=True)
        going = int((scores > -torch.inf).sum(1).max())
        order = order[:, : max(going, 1)]
        scores, parent, token = (x.gather(1, order) for x in (scores, parent, token))
        stay = self._undecided(scores)
        self._state = tree.select(self._state, front.rows(parent)[stay].flatten())
        self._front = front.longer(scores, parent, token)
        if len(stay) < len(scores):
            self._front = tree.select(self._front, stay)
            self._source = tree.select(self._source, stay)

    def _finish(self, scores: Tensor, parent: Tensor, ended: Tensor) -> None:
        """Write down every hypothesis that has said the end."""
        sentence, place = ended.nonzero(as_tuple=True)
        if not len(sentence):
            return
        front = self._front
        steps = front.step[sentence].tolist()
        said = front.said[sentence, parent[sentence, place]].tolist()
        complete = (front.limit > front.step)[sentence].tolist()
        values = scores[sentence, place].tolist()
        ranked = self._ranked(scores, parent)[sentence, place].tolist()
        numbers = front.number[sentence].tolist()
        for number, step, tokens, *judged in zip(
            numbers, steps, said, values, ranked, complete, strict=True
        ):
            self._done[number].append(Hypothesis(tokens[:step], *judged))

    def _ranked(self, scores: Tensor, parent: Tensor) -> Float[Tensor, "sentence fork"]:
        """What forks that end now are ranked by."""
        divisors = [self.penalty.divisor(step + 1) for step in self._front.step.tolist()]
        ranked = scores.double() / scores.new_tensor(divisors, dtype=torch.float64)[:, None]
        if self.ending is None:
            return ranked
        return ranked + self.ending(self._state).view_as(self._front.scores).gather(1, parent)

    def _record(self, forks: Forks, scores: Tensor, parent: Tensor, token: Tensor) -> None:
        forks.record(
            self._front.number,
            scores,
            self._ranked(scores, parent),
            parent,
            token,
            kept=self.width,
            end=self.symbols.end,
            steps=self._front.step,
        )

    def _undecided(self, scores: Float[Tensor, "sentence width"]) -> Int[Tensor, " stay"]:
        """The places of sentences whose n-best list could still change."""
        stay: list[int] = []
        front = self._front
        columns = (front.number, front.step, front.limit, scores[:, 0])
        for place, (number, step, limit, value) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True)
        ):
            if value == -torch.inf:
                continue
            finished = sorted((h.score for h in self._done[number]), reverse=True)
            # At least the end is still to be said, at most the limit and the end.
            reachable = value / self.penalty.divisor(max(limit, step + 1) + 1)
            if len(finished) < self._listed or finished[self._listed - 1] < reachable:
                stay.append(place)
        return torch.tensor(stay, dtype=torch.long, device=scores.device)


def _likeliest(
    scores: Float[Tensor, "sentence width"],
    log_prob: Float[Tensor, "sentence width vocab"],
    count: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """The best continuations of each sentence: scores, which hypothesis, which symbol.

    Each of the best `count` stands in one of the `count` blocks of symbols with the highest maxima,
    and maxima cost far less than sorting.
    """
    sentences, width, vocab = log_prob.shape
    each = -(-vocab // BLOCK)  # of a hypothesis
    blocks = F.pad(log_prob, (0, each * BLOCK - vocab), value=-torch.inf)
    blocks = blocks.view(sentences, width * each, BLOCK)
    highest = blocks.amax(2).view(sentences, width, each) + scores[:, :, None]
    _, place = highest.flatten(1).topk(min(count, width * each), dim=1)
    within = blocks.gather(1, place[:, :, None].expand(-1, -1, BLOCK))
    total = (within + scores.gather(1, place // each)[:, :, None]).flatten(1)
    best, at = total.topk(min(count, width * vocab, total.shape[1]), dim=1)
    block = place.gather(1, at // BLOCK)
    # What fills up the last block can win only where nothing may be said any more.
    return best, block // each, (block % each * BLOCK + at % BLOCK).clamp(max=vocab - 1)
