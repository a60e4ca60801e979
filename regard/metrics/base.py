"""What a metric is: counts per sentence that add up, and a score of their sum."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float


class Unavailable(ValueError):  # noqa: N818
    """A metric that cannot be computed on this machine; the message says what it needs."""


class Metric(ABC):
    """A corpus score that depends on the corpus only through a sum over its sentences.

    score = f(Σ_i s_i), where s_i are the counts of sentence i (matches, lengths, edits, ...).
    Whatever needs the score of many subsets (intervals, comparisons, tables by length) adds up
    the counts again and never looks at the text again.
    """

    name: str
    higher_is_better: bool

    def __call__(self, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> float:
        """The score of a whole corpus; every output comes with one or more references."""
        return self.score(self.statistics(outputs, references).sum(axis=0))

    def statistics(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Float[np.ndarray, "sentence count"]:
        """The counts of each sentence; the number of references may vary between sentences."""
        self._check(outputs, references)
        return np.array(self._counts(outputs, references), dtype=np.float64)

    def score(self, totals: Float[np.ndarray, " count"]) -> float:
        """The score of counts that were added up over a corpus."""
        return float(self.scores(totals[None])[0])

    @abstractmethod
    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """The score of each of several corpora, such as bootstrap samples."""

    @abstractmethod
    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """All that someone else must know to compute the same number."""

    @abstractmethod
    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        """One row of counts per sentence, from arguments that are known to be sound."""

    def _check(self, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> None:
        if not outputs or len(outputs) != len(references):
            raise ValueError(
                f"{self.name}: wanted at least one output and a list of references for each, "
                f"got {len(outputs)} outputs and {len(references)} lists of references; "
                "check that both files have the same number of lines"
            )
        for index, each in enumerate(references):
            # A string is a sequence of strings too: each letter would pass for a reference.
            if isinstance(each, str) or not each:
                raise ValueError(
                    f"{self.name}: wanted a list of at least one reference for sentence {index}, "
                    f"got {each!r}; write [reference] even if there is only one"
                )


def number_of_references(references: Sequence[Sequence[str]]) -> str:
    """How many references a sentence has, as signatures say it: a number, or "var"."""
    numbers = {len(each) for each in references}
    return str(numbers.pop()) if len(numbers) == 1 else "var"
