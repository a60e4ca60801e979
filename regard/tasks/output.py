"""What a model says, with all that is known about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from regard.look.trace import Trace


@dataclass(frozen=True)
class Output:
    """What the model says to one input."""

    source: str
    text: str
    tokens: list[str]
    log_prob: float
    score: float
    complete: bool = True
    """False where the length limit ended it."""
    unknown: list[str] = field(default_factory=list)
    """Parts of the input that the model has no symbol for."""
    seen: Trace | None = None
    others: list[Output] = field(default_factory=list)
    """The rest of the n-best list."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        plain: dict[str, Any] = {
            "source": self.source,
            "text": self.text,
            "tokens": self.tokens,
            "log_prob": self.log_prob,
            "score": self.score,
            "complete": self.complete,
        }
        if self.unknown:
            plain["unknown"] = self.unknown
        if self.seen is not None:
            plain["source_tokens"] = self.seen.source.labels
            plain["alignment"] = self.seen.alignment.astype(float).round(4).tolist()
        if self.others:
            plain["others"] = [other.as_dict() for other in self.others]
        return plain
