"""Ranges of numbers as signatures say them; a recipe outside of one is refused under its key."""

from __future__ import annotations

import sys
from typing import Annotated, NamedTuple


class Range(NamedTuple):
    """The numbers from `low` to `high`, or with `between` those inside; never an infinity."""

    words: str
    low: float = 0
    high: float = sys.float_info.max
    between: bool = False

    def holds(self, number: int | float) -> bool:
        """Whether a number lies in it."""
        if self.between:
            return self.low < number < self.high
        return self.low <= number <= self.high


Size = Annotated[int, Range("a whole number of 1 or more", 1)]
Count = Annotated[int, Range("a whole number of 0 or more")]
Seed = Annotated[int, Range("a whole number from 0 to 2^63 - 1", 0, 2**63 - 1)]
Positive = Annotated[float, Range("a number above 0", between=True)]
NotNegative = Annotated[float, Range("a number of 0 or more")]
Share = Annotated[float, Range("a number from 0 to 1", 0, 1)]
Between = Annotated[float, Range("a number between 0 and 1", 0, 1, between=True)]
