"""Answers judged from both ends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from regard import tree
from regard.search.beam import Beam
from regard.search.scorer import Hypothesis, Scorer
from regard.search.underway import Progress, Search


class BothWays(Search):
    """What a beam found, ranked by how likely it is from its beginning and from its end.

    score = (score of the beam + log p(y_n ... y_1 | x) / divisor(|y|)) / 2, for a scorer that has
    learned both ways: one that begins with the end symbol goes on from the last symbol to the
    first. Mistakes that a beam makes early cannot be seen from there, and the other way round: Liu
    et al., Agreement on target-bidirectional neural machine translation, NAACL 2016.
    """

    def __init__(self, beam: Beam, scorer: Scorer, source: Any, *, nbest: int) -> None:
        self.beam, self.scorer, self.nbest = beam, scorer, nbest
        self.sentences = beam.sentences
        self._sources = {
            number: tree.select(source, torch.tensor([number])) for number in beam.live
        }
        self._ranked: dict[int, list[Hypothesis]] = {}

    @property
    def live(self) -> Sequence[int]:
        return self.beam.live

    @torch.inference_mode()
    def step(self) -> None:
        before = self.live
        self.beam.step()
        after = set(self.live)
        if decided := [number for number in before if number not in after]:
            self._judge(decided)

    def drop(self, sentences: Collection[int]) -> None:
        self.beam.drop(sentences)
        for sentence in sentences:
            self._sources.pop(sentence, None)

    def join(self, other: Any) -> int:
        first = self.beam.join(other.beam)
        for own, theirs in ((self._sources, other._sources), (self._ranked, other._ranked)):
            own.update({first + number: value for number, value in theirs.items()})
        self.sentences += other.sentences
        return first

    def progress(self, sentence: int) -> Progress:
        """Nothing is settled before it has been read from its end, too."""
        return self.beam.progress(sentence)._replace(settled=0)

    def answers(self, sentence: int) -> list[Hypothesis]:
        return self._ranked[sentence][: self.nbest]

    def forget(self, sentence: int) -> None:
        self.beam.forget(sentence)
        self._sources.pop(sentence, None)
        self._ranked.pop(sentence, None)

    def _judge(self, decided: list[int]) -> None:
        """Rank the answers to sentences that the beam is through with."""
        found = [self.beam.answers(number) for number in decided]
        width = max(map(len, found))
        filled = [answers + answers[-1:] * (width - len(answers)) for answers in found]
        source = tree.join([self._sources.pop(number) for number in decided])
        backward = self._from_the_end([h.tokens for answers in filled for h in answers], source)
        for number, answers, others in zip(
            decided, found, backward.view(-1, width).tolist(), strict=True
        ):
            ranked = []
            for answer, other in zip(answers, others, strict=False):
                divisor = self.beam.penalty.divisor(len(answer.tokens) + 1)
                ranked.append(answer._replace(score=(answer.score + other / divisor) / 2))
            self._ranked[number] = sorted(ranked, key=lambda h: -h.score)

    def _from_the_end(self, answers: list[list[int]], source: Any) -> Float[Tensor, " rows"]:
        """The log probability of each answer, said from its last symbol to its first."""
        end, state = self.beam.symbols.end, self.scorer.start(source)
        device = tree.leaves(state)[0].device
        state = tree.repeat(state, len(answers) // len(tree.leaves(state)[0]))
        longest = max(map(len, answers)) + 1
        said = torch.tensor(
            [[*reversed(row), *[end] * (longest - len(row))] for row in answers], device=device
        )
        left = torch.tensor([len(row) + 1 for row in answers], device=device)
        total = torch.zeros(len(answers), dtype=torch.float64, device=device)
        token = torch.full_like(left, end)
        for step, symbol in enumerate(said.unbind(1)):
            log_prob, state = self.scorer.step(token, state, source)
            here = log_prob.gather(1, symbol[:, None])[:, 0]
            total += here.masked_fill(step >= left, 0.0)
            token = symbol
        return total
