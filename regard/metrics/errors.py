"""Error rates and accuracies that compare an output with its references token by token."""

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from rapidfuzz.distance import Levenshtein

from regard.metrics.base import Metric, number_of_references


class EditRate(Metric):
    """The edits that turn the nearest reference into the output, per token of that reference.

    rate = 100 · Σ_i d(o_i, r_i) / Σ_i |r_i|, where d counts substitutions, insertions and
    deletions, and r_i is the reference of sentence i with the smallest d (of two, the longer).
    Levenshtein, "Binary codes capable of correcting deletions, insertions and reversals", 1966.
    """

    higher_is_better = False
    unit: str

    @abstractmethod
    def tokens(self, text: str) -> list[str]:
        """What is counted in a text."""

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """The rate of each row; edits to a corpus of empty references are all wrong, 100."""
        edits, length = totals[:, 0], totals[:, 1]
        return 100.0 * np.where(length > 0, edits / np.maximum(length, 1.0), edits > 0)

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:1|unit:word|reference:nearest`."""
        return f"nrefs:{number_of_references(references)}|unit:{self.unit}|reference:nearest"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        return [self._nearest(*pair) for pair in zip(outputs, references, strict=True)]

    def _nearest(self, output: str, references: Sequence[str]) -> tuple[int, int]:
        said = self.tokens(output)
        wanted = [self.tokens(reference) for reference in references]
        edits, length = min((Levenshtein.distance(each, said), -len(each)) for each in wanted)
        return edits, -length


class WordErrors(EditRate):
    """WER: the edit rate over words, which whitespace separates.

    WER = 100 · (S + D + I) / N, as speech recognition reports it; it can exceed 100.
    """

    name = "WER"
    unit = "word"

    def tokens(self, text: str) -> list[str]:
        """The words."""
        return text.split()


class CharacterErrors(EditRate):
    """CER: the edit rate over characters (code points), spaces inside the text among them."""

    name = "CER"
    unit = "character"

    def tokens(self, text: str) -> list[str]:
        """The characters, without the whitespace around them."""
        return list(text.strip())


class PhonemeErrors(WordErrors):
    """PER: the edit rate over phonemes, which whitespace separates, as in `HH AH0 L OW1`.

    The references of a word are all its pronunciations, and the nearest one counts.
    """

    name = "PER"
    unit = "phoneme"


class ExactMatch(Metric):
    """The percentage of outputs that equal one of their references, whitespace aside.

    100 · Σ_i [o_i ∈ R_i] / n, with the set R_i of the references of sentence i.
    """

    name = "exact match"
    higher_is_better = True

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """The percentage of each row."""
        shares: np.ndarray = totals[:, 0] / totals[:, 1]
        return 100.0 * shares

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:var|unit:sequence|reference:any`."""
        return f"nrefs:{number_of_references(references)}|unit:sequence|reference:any"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        return [
            (any(output.split() == reference.split() for reference in each), 1)
            for output, each in zip(outputs, references, strict=True)
        ]


class SequenceErrors(ExactMatch):
    """The percentage of outputs with any error: 100 - exact match.

    Papers on pronunciation (grapheme to phoneme) call this the word error rate, because there
    a sequence is a word; it is not the WER of speech recognition.
    """

    name = "sequence errors"
    higher_is_better = False

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """The percentage of each row."""
        return 100.0 - super().scores(totals)


class TokenAccuracy(Metric):
    """The percentage of positions at which output and reference have the same token.

    100 · Σ_i Σ_t [o_it = r_it] / Σ_i max(|o_i|, |r_i|): a missing or a superfluous token is
    wrong, and one that is shifted by an insertion is wrong as well. Of several references the
    one with the highest share counts.
    """

    name = "token accuracy"
    higher_is_better = True

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """The percentage of each row; nothing wanted and nothing said is right, 100."""
        equal, positions = totals[:, 0], totals[:, 1]
        return 100.0 * np.where(positions > 0, equal / np.maximum(positions, 1.0), 1.0)

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:1|unit:position|reference:best`."""
        return f"nrefs:{number_of_references(references)}|unit:position|reference:best"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        return [_best_overlap(*pair) for pair in zip(outputs, references, strict=True)]


def _best_overlap(output: str, references: Sequence[str]) -> tuple[int, int]:
    said = output.split()
    overlaps = []
    for wanted in map(str.split, references):
        # The shorter one ends the comparison; the rest of the longer one is wrong.
        equal = sum(a == b for a, b in zip(said, wanted, strict=False))
        overlaps.append((equal, max(len(said), len(wanted))))
    return max(overlaps, key=lambda pair: (pair[0] / pair[1] if pair[1] else 1.0, pair[1]))
