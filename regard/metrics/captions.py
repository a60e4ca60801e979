"""The scores of image captions, as the COCO caption code computes them.

Chen et al., "Microsoft COCO Captions: Data Collection and Evaluation Server", 2015. All are given
as percentages: where that code says 0.251, this says 25.1.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

import numpy as np
from jaxtyping import Float
from rapidfuzz.distance import LCSseq

from regard.metrics.base import Metric, number_of_references
from regard.metrics.ptb import words

Words = tuple[str, ...]
NGrams = Counter[Words]
TOKENS = "case:lc|tok:ptb-no-punct"
# The COCO caption code's own guards against 0 / 0.
SMALL, TINY = 1e-9, 1e-15


def ngrams(tokens: Words, most: int) -> NGrams:
    """How often each sequence of up to so many words occurs."""
    return Counter(
        tokens[first : first + n]
        for n in range(1, most + 1)
        for first in range(len(tokens) - n + 1)
    )


class CaptionBleu(Metric):
    """BLEU-n over Penn Treebank words: the geometric mean of the precisions p_1 .. p_n.

    BLEU-n = min(1, exp(1 - r / c)) · (p_1 ... p_n)^(1/n), r the length of the reference nearest to
    the output's length. Papineni et al., ACL 2002. It is not sacreBLEU's: words are made small and
    punctuation is left out.
    """

    higher_is_better = True

    def __init__(self, n: int = 4) -> None:
        if not 1 <= n <= 4:
            raise ValueError(f"n: wanted 1 to 4, got {n}")
        self.n, self.name = n, f"BLEU-{n}"

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """BLEU-n of each row."""
        said, wanted = totals[:, 0], totals[:, 1]
        right, guessed = totals[:, 2 : 2 + self.n], totals[:, 2 + self.n :]
        precisions = ((right + TINY) / (guessed + SMALL)).prod(axis=1) ** (1 / self.n)
        ratio = (said + TINY) / (wanted + SMALL)
        return 100.0 * precisions * np.exp(np.minimum(0.0, 1 - 1 / ratio))

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:5|case:lc|tok:ptb-no-punct|n:4|reference:closest`."""
        return f"nrefs:{number_of_references(references)}|{TOKENS}|n:{self.n}|reference:closest"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        return [self._one(*pair) for pair in zip(outputs, references, strict=True)]

    def _one(self, output: str, references: Sequence[str]) -> list[int]:
        said, wanted = words(output), [words(reference) for reference in references]
        most: NGrams = Counter()
        for each in wanted:
            most |= ngrams(each, self.n)
        right = [0] * self.n
        for ngram, count in ngrams(said, self.n).items():
            right[len(ngram) - 1] += min(count, most[ngram])
        guessed = [max(0, len(said) - n) for n in range(self.n)]
        _, nearest = min((abs(len(each) - len(said)), len(each)) for each in wanted)
        return [len(said), nearest, *right, *guessed]


class _Mean(Metric):
    """A score for each sentence, and their mean."""

    higher_is_better = True

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """The mean of each row."""
        means: np.ndarray = totals[:, 0] / totals[:, 1]
        return 100.0 * means


class RougeL(_Mean):
    """ROUGE-L: the longest common subsequence as an F-score that favours recall.

    F = (1 + β²) P R / (R + β² P), β = 1.2, of the largest precision P and the largest recall R
    over the references. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004.
    """

    name = "ROUGE-L"
    beta = 1.2

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:5|case:lc|tok:ptb-no-punct|beta:1.2`."""
        return f"nrefs:{number_of_references(references)}|{TOKENS}|beta:{self.beta}"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        return [(self._one(*pair), 1.0) for pair in zip(outputs, references, strict=True)]

    def _one(self, output: str, references: Sequence[str]) -> float:
        said = words(output)
        wanted = [words(reference) for reference in references]
        common = [LCSseq.similarity(each, said) for each in wanted]
        if not any(common):
            return 0.0
        precision = max(common) / len(said)
        pairs = zip(common, wanted, strict=True)
        recall = max(count / max(1, len(each)) for count, each in pairs)
        weight = self.beta**2
        return (1 + weight) * precision * recall / (recall + weight * precision)


class CiderD(_Mean):
    """CIDEr-D: how like the references an output is in n-grams, those rare among pictures first.

    CIDEr-D = 10 / (m n) Σ_r Σ_n exp(-(l_o - l_r)² / 2σ²) min(g_o, g_r) · g_r / (|g_o| |g_r|), with
    the TF-IDF vectors g of n-grams up to 4 and σ = 6. The document frequencies are those of the
    references that are scored together, so one picture's score depends on the others.
    Vedantam, Zitnick and Parikh, CVPR 2015.
    """

    name = "CIDEr-D"
    n, sigma = 4, 6.0

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """Such as `nrefs:5|case:lc|tok:ptb-no-punct|df:corpus|images:1000`."""
        nrefs = number_of_references(references)
        return f"nrefs:{nrefs}|{TOKENS}|df:corpus|images:{len(references)}"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        counted = [[ngrams(words(text), self.n) for text in each] for each in references]
        rarity = Rarity(counted)
        return [
            (
                self.one(
                    rarity.vector(ngrams(words(output), self.n)),
                    [rarity.vector(reference) for reference in each],
                ),
                1.0,
            )
            for output, each in zip(outputs, counted, strict=True)
        ]

    def one(self, own: "Vector", references: Sequence["Vector"]) -> float:
        """The score of one caption, as a number up to 10."""
        total = 0.0
        for other in references:
            products = [0.0] * self.n
            for ngram, weight in own.weights.items():
                if ngram in other.weights:
                    theirs = other.weights[ngram]
                    products[len(ngram) - 1] += min(weight, theirs) * theirs
            likeness = sum(
                product / (a * b if a and b else 1.0)
                for product, a, b in zip(products, own.norms, other.norms, strict=True)
            )
            total += likeness * np.exp(-((own.length - other.length) ** 2) / (2 * self.sigma**2))
        return float(10.0 * total / self.n / len(references))


class Vector:
    """The weights of n-grams, the norm for each n, and the length that the COCO code compares."""

    def __init__(self, weights: dict[Words, float], length: int) -> None:
        self.weights, self.length = weights, length
        squares = [0.0] * CiderD.n
        for ngram, weight in weights.items():
            squares[len(ngram) - 1] += weight**2
        self.norms = [square**0.5 for square in squares]


class Rarity:
    """How much an n-gram tells: log(pictures / pictures whose references have it)."""

    def __init__(self, references: Iterable[Sequence[NGrams]]) -> None:
        found: Counter[Words] = Counter()
        self.pictures = 0
        for each in references:
            found.update(set().union(*each))
            self.pictures += 1
        # One that a single picture has counts as much as one that none has.
        self.frequency = Counter({ngram: count for ngram, count in found.items() if count > 1})

    def vector(self, counts: NGrams) -> Vector:
        """TF-IDF weights; the length is the number of pairs of words, as in the COCO code."""
        weights = {
            ngram: count * (log(self.pictures) - log(max(1, self.frequency[ngram])))
            for ngram, count in counts.items()
        }
        return Vector(weights, sum(count for ngram, count in counts.items() if len(ngram) == 2))
