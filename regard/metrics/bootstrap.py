"""How sure a score is, and whether one system is better than another."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from regard.metrics.base import Metric

# Weights of one block of samples: 32 MB, whatever the size of the corpus.
_BLOCK = 4_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A score with the interval that holds it at some level of confidence."""

    score: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.score:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the same sentences; `difference` is a - b, `winner` None if unclear."""

    a: float
    b: float
    difference: Interval
    p_value: float
    winner: Literal["a", "b"] | None


def interval(
    metric: Metric,
    statistics: Float[np.ndarray, "sentence count"],
    *,
    samples: int = 1000,
    seed: int = 1,
    level: float = 0.95,
) -> Interval:
    """The score with its percentile bootstrap interval.

    Sentences are drawn n times with replacement, `samples` times over; the interval spans the
    quantiles (1 - level) / 2 and (1 + level) / 2 of the scores.
    Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    _check(metric, statistics, samples, level)
    scores = np.concatenate(
        [
            metric.scores(weights @ statistics)
            for weights in _weights(len(statistics), samples, seed)
        ]
    )
    return _spanning(metric.score(statistics.sum(axis=0)), scores, level)


def paired(
    metric: Metric,
    statistics_a: Float[np.ndarray, "sentence count"],
    statistics_b: Float[np.ndarray, "_ count"],
    *,
    samples: int = 1000,
    seed: int = 1,
) -> Comparison:
    """The paired bootstrap test: is one of two systems better on sentences like these?

    Both are scored on the same samples. p = 2 · min(share with a ≤ b, share with a ≥ b), at
    most 1: two-sided, so that neither system has to be named the better one beforehand. The
    sample that was observed counts as one more, so p is never 0. p < 0.05 names a winner.
    Koehn, "Statistical Significance Tests for Machine Translation Evaluation", EMNLP 2004.
    """
    _check(metric, statistics_a, samples, 0.95)
    if statistics_a.shape != statistics_b.shape:
        raise ValueError(
            f"paired, {metric.name}: wanted the counts of two systems on the same sentences, "
            f"got {statistics_a.shape} and {statistics_b.shape}; score both on one test set"
        )
    a, b = (metric.score(each.sum(axis=0)) for each in (statistics_a, statistics_b))
    differences = np.concatenate(
        [
            metric.scores(weights @ statistics_a) - metric.scores(weights @ statistics_b)
            for weights in _weights(len(statistics_a), samples, seed)
        ]
    )
    fewest = min((differences <= 0).sum(), (differences >= 0).sum())
    p_value = min(1.0, float(2 * (fewest + 1) / (samples + 1)))
    winner: Literal["a", "b"] | None = None
    if p_value < 0.05:
        winner = "a" if (a > b) == metric.higher_is_better else "b"
    return Comparison(a, b, _spanning(a - b, differences, 0.95), p_value, winner)


def _weights(
    sentences: int, samples: int, seed: int
) -> Iterator[Float[np.ndarray, "sample sentence"]]:
    """How often each sentence is in each sample: rows of a multinomial, block by block."""
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK // sentences)
    for start in range(0, samples, block):
        rows = min(block, samples - start)
        drawn = generator.integers(sentences, size=(rows, sentences))
        # Counting shifted draws is ten times as fast as `generator.multinomial`.
        drawn += np.arange(rows)[:, None] * sentences
        counts = np.bincount(drawn.ravel(), minlength=rows * sentences)
        yield counts.reshape(rows, sentences).astype(np.float64)


def _spanning(score: float, scores: Float[np.ndarray, " sample"], level: float) -> Interval:
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return Interval(score, float(low), float(high))


def _check(metric: Metric, statistics: np.ndarray, samples: int, level: float) -> None:
    if statistics.ndim != 2 or not len(statistics):
        raise ValueError(
            f"bootstrap, {metric.name}: wanted one row of counts per sentence, got an array of "
            f"shape {statistics.shape}; pass what metric.statistics(outputs, references) returns"
        )
    if samples < 1 or not 0 < level < 1:
        raise ValueError(
            f"bootstrap, {metric.name}: wanted samples ≥ 1 and 0 < level < 1, got "
            f"samples={samples} and level={level}; 1000 and 0.95 are usual"
        )
