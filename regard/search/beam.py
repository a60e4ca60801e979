"""Beam search, batched over sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard import tree
from regard.search.forks import Forks
from regard.search.penalties import Penalty, Raw
from regard.search.scorer import Ending, Hypothesis, Scorer, Symbols, allowed
from regard.search.underway import Progress, Search, agreed


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
    ).finish()


class Beam(Search):
    """Keep the `width` likeliest beginnings at each step (Graves, 2012; Sutskever et al., 2014).

    Of the `width` best continuations, those that say the end are finished and the others go on. A
    sentence is over when nothing goes on, or when no beginning, however well it went on, could
    still enter the n-best list: a log probability only falls, and `ending` adds nothing above 0, so
    log p / divisor(longest) is the most that it can reach. With width 1 this is greedy search; wide
    enough, it is exhaustive.

    Rows of the state are live sentences times their present width.
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
    ) -> None:
        if width < 1:
            raise ValueError(f"width: wanted 1 or more, got {width}")
        if not 1 <= nbest <= width:
            raise ValueError(f"nbest: wanted 1 to the beam's width {width}, got {nbest}")
        self.scorer, self.symbols, self.penalty = scorer, symbols, penalty or Raw()
        self.width, self.nbest, self.ending, self.forks = width, nbest, ending, forks
        self.limits, self.prefix = limits, prefix
        self.sentences, self.steps = len(limits), 0
        self._done: list[list[Hypothesis]] = [[] for _ in range(self.sentences)]
        self._live = torch.arange(self.sentences, device=limits.device)
        with torch.inference_mode():
            self._source, self._state = source, scorer.start(source)
        self._token = torch.full_like(self._live, symbols.begin)
        self._scores = torch.zeros(self.sentences, 1, device=limits.device)
        self._said = self._live.new_empty(self.sentences, 1, 0)

    @property
    def live(self) -> Sequence[int]:
        numbers: list[int] = self._live.tolist()
        return numbers

    def answers(self, sentence: int) -> list[Hypothesis]:
        return sorted(self._done[sentence], key=lambda h: -h.score)[: self.nbest]

    def progress(self, sentence: int) -> Progress:
        place = self.live.index(sentence)
        scores = self._scores[place]
        going = self._said[place][scores > -torch.inf].tolist()
        finished = [answer.tokens for answer in self.answers(sentence)[:1]]
        return Progress(going[0], agreed([*going, *finished]), float(scores[0]))

    @torch.inference_mode()
    def drop(self, sentences: Collection[int]) -> None:
        stay = [place for place, number in enumerate(self.live) if number not in sentences]
        if len(stay) < len(self._live):
            width = self._scores.shape[1]
            same = torch.arange(width, device=self._live.device).expand(len(self._live), -1)
            token = self._token.unflatten(0, (-1, width))
            self._go_on(self._scores, same, token, self._live.new_tensor(stay), said=self._said)

    @torch.inference_mode()
    def step(self) -> None:
        """Continue every hypothesis, keep the best, let what is over leave."""
        log_prob, self._state = self.scorer.step(self._token, self._state, self._source)
        log_prob = allowed(
            log_prob.unflatten(0, self._scores.shape),
            step=self.steps,
            limits=self.limits[self._live],
            symbols=self.symbols,
            prefix=None if self.prefix is None else self.prefix[self._live],
        )
        scores, parent, token = _best(self._scores, log_prob, self.width)
        if self.forks is not None:
            self._record(self.forks, *_best(self._scores, log_prob, 2 * self.width))
        ended = (token == self.symbols.end) & (scores > -torch.inf)
        self._finish(scores, parent, ended)
        # What has ended, or never was, stays as a row that can win nothing.
        scores = scores.masked_fill(ended, -torch.inf)
        order = scores.argsort(dim=1, descending=True, stable=True)
        going = int((scores > -torch.inf).sum(1).max())
        order = order[:, : max(going, 1)]
        scores, parent, token = (x.gather(1, order) for x in (scores, parent, token))
        said = self._said.gather(1, parent[:, :, None].expand(-1, -1, self._said.shape[2]))
        said = torch.cat([said, token[:, :, None]], 2)
        self._go_on(scores, parent, token, self._undecided(scores), said=said)
        self.steps += 1

    def _go_on(
        self, scores: Tensor, parent: Tensor, token: Tensor, stay: Tensor, *, said: Tensor
    ) -> None:
        """Take over what stays: of each sentence the rows that continue its `parent` rows."""
        sentences, width = self._scores.shape
        rows = (torch.arange(sentences, device=parent.device)[:, None] * width + parent)[stay]
        self._state = tree.select(self._state, rows.flatten())
        self._token, self._scores, self._said = token[stay].flatten(), scores[stay], said[stay]
        if len(stay) < sentences:
            self._live, self._source = self._live[stay], tree.select(self._source, stay)

    def _finish(self, scores: Tensor, parent: Tensor, ended: Tensor) -> None:
        """Write down every hypothesis that has said the end."""
        sentence, place = ended.nonzero(as_tuple=True)
        if not len(sentence):
            return
        said = self._said[sentence, parent[sentence, place]].tolist()
        numbers = self._live[sentence]
        complete = (self.limits[numbers] > self.steps).tolist()
        values = scores[sentence, place].tolist()
        ranked = self._ranked(scores, parent)[sentence, place].tolist()
        for number, *answer in zip(numbers.tolist(), said, values, ranked, complete, strict=True):
            self._done[number].append(Hypothesis(*answer))

    def _ranked(self, scores: Tensor, parent: Tensor) -> Float[Tensor, "sentence fork"]:
        """What forks that end now are ranked by."""
        ranked = scores.double() / self.penalty.divisor(self.steps + 1)
        if self.ending is None:
            return ranked
        sentences, width = self._scores.shape
        return ranked + self.ending(self._state).view(sentences, width).gather(1, parent)

    def _record(self, forks: Forks, scores: Tensor, parent: Tensor, token: Tensor) -> None:
        ranked = self._ranked(scores, parent)
        kept, end = self.width, self.symbols.end
        forks.record(self._live, scores, ranked, parent, token, kept=kept, end=end, step=self.steps)

    def _undecided(self, scores: Float[Tensor, "sentence width"]) -> Int[Tensor, " stay"]:
        """The places of sentences whose n-best list could still change."""
        stay: list[int] = []
        best, limits = scores[:, 0].tolist(), self.limits[self._live].tolist()
        for place, (number, value, limit) in enumerate(zip(self.live, best, limits, strict=True)):
            if value == -torch.inf:
                continue
            finished = sorted((h.score for h in self._done[number]), reverse=True)
            # At least the end is still to be said, at most the limit and the end.
            reachable = value / self.penalty.divisor(max(limit, self.steps + 1) + 1)
            if len(finished) < self.nbest or finished[self.nbest - 1] < reachable:
                stay.append(place)
        return torch.tensor(stay, dtype=torch.long, device=scores.device)


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
