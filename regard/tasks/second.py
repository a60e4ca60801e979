"""A second opinion on what a beam found: joint n-grams."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import numpy as np

from regard.data import Corpus, Tokenizer
from regard.data.progress import counting
from regard.ngrams import JointNgrams
from regard.ranges import Positive, Range
from regard.search import Hypothesis
from regard.tasks.folder import NGRAMS

VERSION = 1
"""Of how n-grams are learned and written: others are learned anew."""
Order = Annotated[int, Range("1 to 20, the most units of a run", 1, 20)]


class Ngrams:
    """Joint n-grams of up to `order` units choose among a beam's answers together with the model.

    The best answer has the highest log p(y | x) + `weight` log p_ngram(x, y): a network and counts
    err in different places (Rao et al., 2015). It is for small alphabets whose order is the same on
    both sides, such as letters and sounds; a wide beam gives it something to choose from. Penalties
    of length and coverage have no say then, but in what the beam lists.
    """

    def __init__(self, *, order: Order = 8, weight: Positive = 1.0) -> None:
        self.order, self.weight = order, weight

    def learn(
        self, corpus: Corpus, source: Tokenizer, target: Tokenizer, *, progress: bool
    ) -> JointNgrams:
        """From all training pairs, once: they are kept beside the corpus."""
        name = f"{corpus.folder.name}-ngrams-{VERSION}-{self.order}.safetensors"
        kept = corpus.folder.with_name(name)
        if kept.is_file():
            with suppress(ValueError):  # a broken one is learned again
                return JointNgrams.load(kept)
        rows = corpus.rows(np.arange(len(corpus)))
        sizes = (source.size, target.size)
        with counting("learning n-grams", "pairs", shown=progress) as advance:
            learned = JointNgrams.learn(*rows, sizes, order=self.order, advance=advance)
        with suppress(OSError):  # they can be learned again
            learned.save(kept)
        return learned

    def restore(self, folder: Path, source: Tokenizer, target: Tokenizer) -> SecondOpinion:
        """From a model's folder."""
        path = folder / NGRAMS
        known = JointNgrams.load(path)
        alphabets, sizes = (known.units.source, known.units.target), (source.size, target.size)
        if alphabets != sizes:
            raise ValueError(
                f"{path}: wanted n-grams of {sizes[0]} and {sizes[1]} symbols, as the tokenizers "
                f"beside it have, got {alphabets[0]} and {alphabets[1]}; copy the whole folder"
            )
        return SecondOpinion(known, self.weight)


class SecondOpinion:
    """Puts the answers of a beam in order by what the model and n-grams say of them."""

    def __init__(self, ngrams: JointNgrams, weight: float) -> None:
        self.ngrams, self.weight = ngrams, weight

    def __call__(
        self, sources: list[list[int]], found: list[list[Hypothesis]]
    ) -> list[list[Hypothesis]]:
        every = [
            (source[:-1], answer.tokens)  # without its end
            for source, answers in zip(sources, found, strict=True)
            for answer in answers
        ]
        said = iter(self.ngrams.log_prob(*zip(*every, strict=True)).tolist() if every else [])
        judged = [
            [each._replace(score=each.log_prob + self.weight * next(said)) for each in answers]
            for answers in found
        ]
        # No training pair says nothing, though any of its symbols may: that comes last.
        return [sorted(each, key=lambda said: (not said.tokens, -said.score)) for each in judged]
