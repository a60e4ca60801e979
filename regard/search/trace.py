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
    kept: bool
    ended: bool


@dataclass
class Trace:
    """For every sentence, all forks of its search, best first within a step."""

    forks: dict[int, list[Fork]] = field(default_factory=dict)

    def record(
        self,
        sentences: Tensor,
        scores: Tensor,
        parents: Tensor,
        tokens: Tensor,
        *,
        kept: int,
        end: int,
        step: int,
    ) -> None:
        """Write down one step of all live sentences; the first `kept` of each stay."""
        for sentence, *rows in zip(
            sentences.tolist(), scores.tolist(), parents.tolist(), tokens.tolist(), strict=True
        ):
            for place, (score, parent, token) in enumerate(zip(*rows, strict=True)):
                if score > float("-inf"):
                    self.forks.setdefault(sentence, []).append(
                        Fork(step, parent, token, score, place < kept, token == end)
                    )
