"""A trained model of text to text: it runs, is evaluated, and shows where it looked."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.blocks import Embedding
from regard.data import Pairs, Tokenizer, as_pairs
from regard.look.probe import Gradients, translation_gradients
from regard.look.seen import Seen
from regard.model import Seq2Seq
from regard.search import Coverage, Ending, Ensemble, Hypothesis, Trace
from regard.tasks import replay
from regard.tasks.base import Trained
from regard.tasks.decode import Decode, Sampling, forced
from regard.tasks.evaluate import Evaluation, evaluate
from regard.tasks.output import Output
from regard.tasks.text import evenly, questions, source_batch, text_batch


class Translator(Trained):
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
    ) -> None:
        self.model, self.source, self.target = model.eval(), source, target
        self.decode, self.metrics, self.several = decode, metrics, several
        self.card = card or {}
        self.longest = _positions(model)
        self.scorer: Any = model
        self.models = [model]

    def joined(self, others: Sequence[Translator]) -> Translator:
        """This model and others, of whatever architecture, in one search: their mean decides."""
        for other in others:
            for side in ("source", "target"):
                own, theirs = vars(self)[side], vars(other)[side]
                if own.fingerprint != theirs.fingerprint:
                    raise ValueError(
                        f"an ensemble: wanted models with the same {side} tokenizer, got "
                        f"{own.size} and {theirs.size} symbols that differ; train them on the "
                        "same data with the same tokenizer"
                    )
        together = copy.copy(self)
        together.models = [self.model, *(other.model for other in others)]
        together.scorer = Ensemble(list(together.models))
        reach = [each.longest for each in (self, *others) if each.longest is not None]
        together.longest = min(reach, default=None)
        return together

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
        self._check(texts, rows, prefix)
        order = sorted((i for i, row in enumerate(rows) if row), key=lambda i: len(rows[i]))
        found = [Output(text, "", [], 0.0, 0.0) for text in texts]
        for first in range(0, len(order), batch):
            chosen = order[first : first + batch]
            outputs = self._answer(
                [texts[i] for i in chosen],
                [rows[i] for i in chosen],
                decode or self.decode,
                sampling,
                prefix,
                look,
            )
            for place, output in zip(chosen, outputs, strict=True):
                found[place] = output
        return found

    def stream(self, lines: Iterable[str], *, chunk: int = 1024, **how: Any) -> Iterator[Output]:
        """Outputs in the order of the lines, reading some lines ahead to batch them by length."""
        lines = iter(lines)
        while texts := list(islice(lines, chunk)):
            yield from self.run(texts, **how)

    def evaluate(
        self,
        data: Pairs | str | list[str],
        *,
        metrics: list[str] | None = None,
        decode: Decode | None = None,
        most: int | None = None,
    ) -> Evaluation:
        """Score the model on pairs with confidence intervals."""
        asked = questions(as_pairs(data), several=self.several)
        if not asked:
            raise ValueError("evaluate: wanted pairs to score the model on, got none")
        asked = asked if most is None else evenly(asked, most)
        return evaluate(self, asked, metrics=metrics or self.metrics, decode=decode)

    def look(self, text: str, *, answer: str | None = None) -> Seen:
        """Where the model looks while it gives its own answer, or a given one, to a text."""
        rows = self.source.encode([text])
        if not rows[0]:
            raise ValueError(f"wanted a text to look at, got {text!r}")
        self._check([text], rows, "")
        if answer is None:
            tokens = self._search(rows, self.decode, None, [text], "")[0][0].tokens
        else:
            tokens = self.target.encode([answer])[0]
        seen = self._seen(rows, [tokens])[0]
        if seen is None:
            raise ValueError("this model has no attention: there is nowhere that it looked")
        return seen

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
        self._check(list(texts), rows, "")
        return replay.summaries(self.model, rows)

    def trace(self, text: str) -> Trace:
        """Every fork that the beam considered for one text."""
        trace = Trace()
        source, mask = self._placed(*source_batch(self.source.encode([text])))
        scorer, ending = self._asked(self.decode)
        known = scorer.prepare(source, mask)
        self.decode.search(scorer, known, mask, ending=ending, trace=trace, most=self._most)
        return trace

    def _asked(self, decode: Decode) -> tuple[Any, Ending | None]:
        """The scorer that a search is to see, and what that adds to scores at the end."""
        if decode.coverage == 0:
            return self.scorer, None
        decoders = [model.decoder for model in self.models]
        covering = Coverage(self.scorer, decoders, beta=decode.coverage)
        return covering, covering.ending

    def _answer(
        self,
        texts: list[str],
        rows: list[list[int]],
        decode: Decode,
        sampling: Sampling | None,
        prefix: str,
        look: bool,
    ) -> list[Output]:
        answers = self._search(rows, decode, sampling, texts, prefix)
        seen: Sequence[Seen | None] = [None] * len(texts)
        if look:
            seen = self._seen(rows, [best[0].tokens for best in answers])
        return [self._output(*row) for row in zip(texts, rows, answers, seen, strict=True)]

    @torch.inference_mode()
    def _search(
        self,
        rows: list[list[int]],
        decode: Decode,
        sampling: Sampling | None,
        texts: list[str],
        prefix: str,
    ) -> list[list[Hypothesis]]:
        source, mask = self._placed(*source_batch(rows))
        start = None
        if prefix:
            start = self._placed(forced(self.target.encode([prefix]) * len(rows)))[0]
        if sampling is not None:
            known = self.scorer.prepare(source, mask)
            return decode.draw(
                self.scorer, known, mask, texts, sampling, prefix=start, most=self._most
            )
        scorer, ending = self._asked(decode)
        known = scorer.prepare(source, mask)
        return decode.search(scorer, known, mask, ending=ending, prefix=start, most=self._most)

    def _seen(self, rows: list[list[int]], answers: list[list[int]]) -> Sequence[Seen | None]:
        """Replay the answers and watch; None for a model that looks nowhere."""
        maps = replay.looks(self.model, rows, answers)
        if not maps:
            return [None] * len(rows)
        return [
            Seen(
                self.source.tokens([*row, Tokenizer.EOS]),
                self.target.tokens([*answer, Tokenizer.EOS]),
                weights,
            )
            for row, answer, weights in zip(rows, answers, maps, strict=True)
        ]

    def _output(
        self, text: str, row: list[int], answers: list[Hypothesis], seen: Seen | None
    ) -> Output:
        unknown = self.source.unknown(text) if Tokenizer.UNK in row else []
        outputs = [
            Output(
                text,
                self.target.decode(h.tokens),
                self.target.tokens(h.tokens),
                h.log_prob,
                h.score,
                h.complete,
                unknown,
            )
            for h in answers
        ]
        return Output(**{**outputs[0].__dict__, "seen": seen, "others": outputs[1:]})

    @property
    def _most(self) -> int | None:
        return None if self.longest is None else self.longest - 1  # the end takes a place too

    def _check(self, texts: list[str], rows: list[list[int]], prefix: str) -> None:
        """Refuse what the model has no places or no symbols for."""
        for text, row in zip(texts, rows, strict=True):
            if self._most is not None and len(row) > self._most:
                raise ValueError(
                    f"{text[:20]!r}...: wanted at most {self._most:,} symbols, which is as far as "
                    f"this model's positions reach, got {len(row):,}; cut the text into parts"
                )
        if strange := self.target.unknown(prefix):
            raise ValueError(f"prefix: no symbol for {', '.join(map(repr, strange))} in {prefix!r}")

    def _placed(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return replay.placed(self.model, *tensors)


def _positions(model: Seq2Seq) -> int | None:
    """How far a model's positions reach; None where it has none."""
    reach = [
        part.longest
        for part in model.modules()
        if isinstance(part, Embedding) and (part.learned is not None or part.sinusoids is not None)
    ]
    return min(reach, default=None)
