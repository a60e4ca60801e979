"""A trained model of text to text: it runs, is evaluated, and shows where it looked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.blocks import reach
from regard.data import Pairs, Report, Tokenizer, as_pairs
from regard.data.sources import OnError
from regard.look.places import Tokens
from regard.look.probe import Gradients, translation_gradients
from regard.model import Seq2Seq
from regard.tasks import replay
from regard.tasks.answering import Answering
from regard.tasks.asking import Given, Judge
from regard.tasks.decode import Decode, Sampling
from regard.tasks.evaluate import Evaluation, evaluate
from regard.tasks.output import Output
from regard.tasks.text import evenly, questions, source_batch, text_batch


class Translator(Answering):
    """A model with its two tokenizers and its way of decoding."""

    def __init__(
        self,
        model: Seq2Seq,
        source: Tokenizer,
        target: Tokenizer,
        *,
        decode: Decode,
        metrics: list[str],
        several: bool = False,
        card: dict[str, Any] | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.model, self.source, self.target = model.eval(), source, target
        self.decode, self.metrics, self.several = decode, metrics, several
        self.card, self.judge = card or {}, judge
        self.longest = reach(model)
        self.scorer: Any = model
        self.models = [model]

    @property
    def common(self) -> dict[str, str]:
        return {"source tokenizer": self.source.label, "target tokenizer": self.target.label}

    def run(
        self,
        inputs: Sequence[str] | str,
        *,
        decode: Decode | None = None,
        sampling: Sampling | None = None,
        prefix: str = "",
        look: bool = False,
        batch: int = 64,
    ) -> list[Output]:
        """One output per input, in order; inside, inputs of like length are decoded together.

        Nothing is answered with nothing: no model has learned what else to say to it.
        """
        if batch < 1:
            raise ValueError(f"batch: wanted 1 text or more, got {batch}")
        texts = [inputs] if isinstance(inputs, str) else list(inputs)
        rows = self.source.encode(texts)
        self._check(texts, rows)
        order = sorted((i for i, row in enumerate(rows) if row), key=lambda i: len(rows[i]))
        found = [Output(text, "", [], 0.0, 0.0) for text in texts]
        for first in range(0, len(order), batch):
            chosen = order[first : first + batch]
            prefixes = [prefix] * len(chosen)
            given = self._given([texts[i] for i in chosen], [rows[i] for i in chosen])
            asking = self._begin(given, decode or self.decode, sampling, prefixes, None)
            for place, output in zip(chosen, asking.finish(look=look), strict=True):
                found[place] = output
        return found

    def given(self, inputs: Sequence[str]) -> Given:
        rows = self.source.encode(inputs)
        if nothing := [text for text, row in zip(inputs, rows, strict=True) if not row]:
            raise ValueError(f"wanted a text to answer, got {nothing[0]!r}")
        self._check(inputs, rows)
        return self._given(inputs, rows)

    def _given(self, texts: Sequence[str], rows: list[list[int]]) -> Given:
        ended = [[*row, Tokenizer.EOS] for row in rows]
        unknown = [
            self.source.unknown(text) if Tokenizer.UNK in row else []
            for text, row in zip(texts, rows, strict=True)
        ]
        places = [Tokens(self.source.tokens(row), self.source.words(row)) for row in ended]
        return Given(list(texts), *source_batch(rows), list(places), unknown)

    def size(self, text: str) -> int:
        """The symbols of a text."""
        return len(self.source.encode([text])[0])

    def stream(self, lines: Iterable[str], *, chunk: int = 1024, **how: Any) -> Iterator[Output]:
        """Outputs in the order of the lines, reading some lines ahead to batch them by length.

        Where a line cannot be read, those before it are answered first.
        """
        for texts in _chunks(lines, chunk):
            yield from self.run(texts, **how)

    def evaluate(
        self,
        data: Pairs | str | list[str],
        *,
        metrics: list[str] | None = None,
        decode: Decode | None = None,
        most: int | None = None,
        on_error: OnError = "stop",
    ) -> Evaluation:
        """Score the model on pairs with confidence intervals."""
        report = Report()
        pairs = as_pairs(data, on_error=on_error)
        asked = questions(pairs, several=self.several, report=report)
        if not asked:
            files = " and ".join(map(str, pairs.files))
            raise ValueError(f"evaluate: wanted pairs to score the model on, got none in {files}")
        asked = asked if most is None else evenly(asked, most)
        found = evaluate(self, asked, metrics=metrics or self.metrics, decode=decode)
        return replace(found, skipped=report.lines())

    def log_likelihoods(self, texts: list[str], answers: list[str]) -> list[tuple[float, int]]:
        """The log probability of each given answer and its number of symbols, the end included."""
        rows = self.source.encode(texts), self.target.encode(answers)
        return replay.log_likelihoods(self.model, *rows)

    def gradients(self, data: Any, *, steps: int = 100, rows: int = 32) -> Gradients:
        """How the gradient of the loss flows back through the encoder, for the longest sources."""
        asked = questions(as_pairs(data), several=self.several)
        if not asked:
            raise ValueError("gradients: wanted at least one pair of texts, got none")
        sources = self.source.encode([question.source for question in asked])
        longest = sorted(range(len(asked)), key=lambda number: -len(sources[number]))[:rows]
        answers = self.target.encode([asked[number].answers[0] for number in longest])
        batch = text_batch([sources[number] for number in longest], answers)
        return translation_gradients(self.model, *batch, steps=steps)

    def summaries(self, texts: Sequence[str]) -> Float[np.ndarray, "text dim"]:
        """What the encoder makes of each text as a whole: the summary of its memory."""
        rows = self.source.encode(texts)
        self._check(texts, rows)
        return replay.summaries(self.model, rows)

    @property
    def most(self) -> int | None:
        """As far as the model's positions reach, but for the end, which takes one too."""
        return None if self.longest is None else self.longest - 1

    def unfit(self, text: str) -> str:
        """What speaks against reading a text, or nothing."""
        if self.most is None or 2 * len(text) <= self.most:  # a sign hardly ever becomes two
            return ""
        return self._unfit(self.size(text))

    def _unfit(self, size: int) -> str:
        if self.most is None or size <= self.most:
            return ""
        return (
            f"wanted at most {self.most:,} symbols, which is as far as this model's positions "
            f"reach, got {size:,}"
        )

    def _check(self, texts: Sequence[str], rows: list[list[int]]) -> None:
        """Refuse what the model has no places for."""
        for text, row in zip(texts, rows, strict=True):
            if fault := self._unfit(len(row)):
                raise ValueError(f"{text[:20]!r}...: {fault}; cut the text into parts")


def _chunks(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """So many lines at a time, also those that were read before an error."""
    chunk: list[str] = []
    try:
        for line in lines:
            chunk.append(line)
            if len(chunk) >= most:
                yield chunk
                chunk = []
    except Exception:
        yield chunk
        raise
    yield chunk
