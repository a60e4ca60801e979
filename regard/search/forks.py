"""What a beam kept and pruned, step by step, for the picture of the search tree."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Fork:
    """One continuation that a beam considered."""

    step: int
    parent: int
    """Which hypothesis it continues: a place among the kept, unended forks of the step before."""
    token: int
    log_prob: float
    """Of the whole sequence up to here."""
    score: float
    """What the search would rank it by if it were over."""
    kept: bool
    ended: bool


@dataclass
class Forks:
    """For every sentence, all forks of its search, best first within a step."""

    width: int = 0
    of: dict[int, list[Fork]] = field(default_factory=dict)

    def record(
        self,
        sentences: Tensor,
        log_probs: Tensor,
        scores: Tensor,
        parents: Tensor,
        tokens: Tensor,
        *,
        kept: int,
        end: int,
        steps: Tensor,
    ) -> None:
        """Write down one step of all live sentences; the first `kept` of each stay."""
        self.width = kept
        columns = (log_probs.tolist(), scores.tolist(), parents.tolist(), tokens.tolist())
        for sentence, step, *rows in zip(sentences.tolist(), steps.tolist(), *columns, strict=True):
            for place, (value, score, parent, token) in enumerate(zip(*rows, strict=True)):
                if value > float("-inf"):
                    fork = Fork(step, parent, token, value, score, place < kept, token == end)
                    self.of.setdefault(sentence, []).append(fork)

    def join(self, other: Forks, *, first: int) -> None:
        """Take over what was written down of other sentences, whose numbers begin with `first`."""
        self.width = max(self.width, other.width)
        self.of.update({first + sentence: forks for sentence, forks in other.of.items()})

    def path(self, sentence: int, tokens: list[int]) -> list[int]:
        """The places, among a sentence's forks, of those that lead to an answer."""
        found: list[int] = []
        forks, parent = self.of.get(sentence, []), 0
        for step, token in enumerate([*tokens, None]):
            going = -1
            for place, fork in enumerate(forks):
                if fork.step != step or not fork.kept:
                    continue
                going += not fork.ended
                wanted = fork.ended if token is None else fork.token == token
                if fork.parent == parent and wanted:
                    found.append(place)
                    parent = going
                    break
            else:
                return found
        return found
