"""Scores of a trained model with intervals, by length, and against another model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from regard.metrics import (
    Comparison,
    Interval,
    Metric,
    Row,
    Unavailable,
    by_length,
    interval,
    named,
    paired,
)
from regard.tasks.copies import FEW, Copies, copies, counted

if TYPE_CHECKING:
    from regard.data import Tokenizer
    from regard.tasks.decode import Decode
    from regard.tasks.text import Question
    from regard.tasks.translator import Translator


class Perplexity(Metric):
    """exp(-log p(y | x) / |y|): per symbol of the model's own vocabulary, the end included.

    The signature tells which vocabulary: perplexities of others do not compare, be they as large.
    """

    name = "perplexity"
    higher_is_better = False

    def __init__(self, symbols: Tokenizer) -> None:
        self.symbols = symbols.label

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        return np.asarray(np.exp(-totals[:, 0] / totals[:, 1]))

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        return f"perplexity|refs:{len(references)}|per:symbol+end|symbols:{self.symbols}"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        raise NotImplementedError("perplexity is measured by the model, not on its output")


@dataclass(frozen=True)
class Score:
    """One metric on one test part."""

    metric: Metric
    statistics: Float[np.ndarray, "sentence count"]
    signature: str

    @property
    def value(self) -> float:
        """The score itself."""
        return self.metric.score(self.statistics.sum(axis=0))

    def interval(self, *, samples: int = 1000) -> Interval:
        """The score with its bootstrap interval."""
        return interval(self.metric, self.statistics, samples=samples)


@dataclass(frozen=True)
class Evaluation:
    """Everything that was measured, with what it was measured on."""

    sources: list[str]
    outputs: list[str]
    references: list[list[str]]
    lengths: list[int]
    """Symbols of each source."""
    scores: dict[str, Score]
    missing: dict[str, str] = field(default_factory=dict)
    """Why a metric that was asked for could not be computed here."""
    doubts: list[str] = field(default_factory=list)
    """Signs that something is wrong with the model or with what it was given."""
    skipped: list[str] = field(default_factory=list)
    """How much of the data was left out, and why."""

    def noted(self, doubts: list[str]) -> Evaluation:
        """The same with doubts."""
        return replace(self, doubts=doubts)

    def by_length(self, name: str, *, lengths: list[int] | None = None) -> list[Row]:
        """One metric by the length of the source (Bahdanau et al., 2015, figure 2).

        Beside a model of other symbols, whose sources are as long as it counts them, give its
        `lengths`.
        """
        score = self.scores[name]
        return by_length(score.metric, score.statistics, lengths or self.lengths)

    def against(self, other: Evaluation) -> dict[str, Comparison]:
        """A paired bootstrap test for every metric that both have and that means the same for both.

        Signatures tell: perplexities of different symbols do not compare.
        """
        if self.sources != other.sources:
            raise ValueError(
                "wanted two evaluations of the same sentences, got different ones; "
                "evaluate both models on one file"
            )
        return {
            name: paired(score.metric, score.statistics, other.scores[name].statistics)
            for name, score in self.scores.items()
            if name in other.scores and score.signature == other.scores[name].signature
        }

    def as_dict(self) -> dict[str, Any]:
        """For JSON: scores, intervals and signatures."""
        rows = {}
        for name, score in self.scores.items():
            found = score.interval()
            rows[name] = {
                "score": found.score,
                "low": found.low,
                "high": found.high,
                "signature": score.signature,
            }
        return {
            "sentences": len(self.sources),
            "scores": rows,
            "missing": self.missing,
            "doubts": self.doubts,
            "skipped": self.skipped,
        }


def evaluate(
    model: Translator,
    asked: list[Question],
    *,
    metrics: list[str],
    decode: Decode | None = None,
    perplexity: bool = True,
) -> Evaluation:
    """Decode every question for real and score the answers."""
    alone = model.scorer is model.model  # an ensemble has no likelihood of its own yet
    if Perplexity.name in metrics and not alone:
        raise ValueError("metrics: an ensemble has no perplexity; leave it out or name another")
    sources = [question.source for question in asked]
    references = [question.answers for question in asked]
    outputs = [output.text for output in model.run(sources, decode=decode)]
    always = [Perplexity.name] if perplexity and alone else []
    names = dict.fromkeys([*metrics, *always])
    scores, missing = measured([n for n in names if n != Perplexity.name], outputs, references)
    if Perplexity.name in names:
        scores[Perplexity.name] = _perplexity(model, asked)
    scores = {name: scores[name] for name in names if name in scores}
    counts = counted(copies(sources, outputs, references))
    if counts[:, 1].sum() >= FEW:
        scores[Copies.name] = Score(Copies(), counts, Copies().signature(references))
    lengths = [len(row) for row in model.source.encode(sources)]
    return Evaluation(sources, outputs, references, lengths, scores, missing)


def measured(
    metrics: Sequence[str], outputs: list[str], references: list[list[str]]
) -> tuple[dict[str, Score], dict[str, str]]:
    """The scores of some outputs, and why those that are missing cannot be computed here."""
    scores, missing = {}, {}
    for name in metrics:
        try:
            scores[name] = _scored(named(name), outputs, references)
        except Unavailable as error:
            missing[name] = str(error)
    if metrics and not scores:
        raise ValueError(f"metrics: none can be computed here: {'; '.join(missing.values())}")
    return scores, missing


def missing(metrics: Sequence[str]) -> list[str]:
    """Why some metrics cannot be computed on this machine; the first of all must be."""
    names = [name for name in metrics if name != Perplexity.name]
    _, reasons = measured(names, ["a word"], [["a word"]]) if names else ({}, {})
    if metrics[0] in reasons:
        raise ValueError(f"metrics: training is after {metrics[0]}, but {reasons[metrics[0]]}")
    return list(reasons.values())


def check(metrics: Sequence[str]) -> None:
    """Refuse an empty list, and names that no metric has."""
    if not metrics:
        raise ValueError("metrics: wanted at least one, got none")
    for name in metrics:
        if name != Perplexity.name:
            named(name)


def _scored(metric: Metric, outputs: list[str], references: list[list[str]]) -> Score:
    return Score(metric, metric.statistics(outputs, references), metric.signature(references))


def _perplexity(model: Translator, asked: list[Question]) -> Score:
    owners = [i for i, question in enumerate(asked) for _ in question.answers]
    found = model.log_likelihoods(
        [asked[i].source for i in owners],
        [answer for question in asked for answer in question.answers],
    )
    statistics = np.zeros((len(asked), 2))
    np.add.at(statistics, owners, np.asarray(found))
    metric = Perplexity(model.target)
    return Score(metric, statistics, metric.signature([q.answers for q in asked]))
