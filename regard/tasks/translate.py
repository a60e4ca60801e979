"""Text to text from a recipe: translation, pronunciation, whatever comes in pairs of texts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor, nn

from regard import tree
from regard.config import Later, build
from regard.data import Batches, Corpus, DataError, Pairs, Report, Tokenizer
from regard.data.varied import Varied
from regard.losses import Carried, Total, likelihood
from regard.losses_agreeing import agreeing
from regard.losses_sampled import bounded
from regard.model import Seq2Seq
from regard.search import Coverage
from regard.tasks import folder as model_folder
from regard.tasks.base import Task
from regard.tasks.decode import Decode, Room
from regard.tasks.defaults import ANY, fitted, incomplete, survey
from regard.tasks.evaluate import check, evaluate, missing
from regard.tasks.expect import behind, expectations
from regard.tasks.text import Question, TextBatch, TextData, evenly, text_batch
from regard.tasks.translator import Translator
from regard.train.learning import Learning, Sample, Validation
from regard.train.settings import Fit


class Translate(Task):
    """Learn to answer one text with another.

    `metrics` are measured at every validation by real decoding with `validate_with`; the first of
    them is what training is after. `decode` is how the finished model answers. `positions` is the
    share of the target positions, drawn anew for each batch, that the training loss is taken on.
    With `agreement`, every pair is read twice under two draws of dropout, and what they say is
    drawn together with this weight (R-Drop; 5 is usual): an update takes twice the time, and it
    wants many of them. `sampled` is the weight of hard attention's REINFORCE term (Xu et al.,
    2015).
    """

    NULL: ClassVar[dict[str, Any]] = {"decode": {}, "validate_with": {"beam": 1}}

    def __init__(
        self,
        *,
        data: TextData,
        model: Later[Seq2Seq],
        train: Fit,
        metrics: list[str],
        decode: Decode | None = None,
        validate_with: Decode | None = None,
        smoothing: float = 0.0,
        positions: float = 1.0,
        agreement: float = 0.0,
        sampled: float = 1.0,
        samples: int = 3,
        about: str = "",
        result: dict[str, Any] | None = None,
    ) -> None:
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing: wanted a share from 0 to below 1, got {smoothing}")
        if not 0 < positions <= 1:
            raise ValueError(f"positions: wanted a share above 0 and up to 1, got {positions}")
        if agreement < 0 or (agreement and positions < 1):
            raise ValueError(
                f"agreement: wanted 0 or more, and positions: 1 with it, got {agreement} "
                f"and {positions}"
            )
        if sampled < 0:
            raise ValueError(f"sampled: wanted a weight of 0 or more, got {sampled}")
        check(metrics)
        self.data, self.model, self.train, self.metrics = data, model, train, metrics
        self.decode = decode or Decode()
        self.validate_with = validate_with or Decode(beam=1)
        self.smoothing, self.positions, self.agreement = smoothing, positions, agreement
        self.sampled = sampled
        self.samples, self.about, self.result = samples, about, result

    @classmethod
    def filled(cls, recipe: dict[str, Any]) -> dict[str, Any]:
        """A recipe may leave out all but the training pairs: the rest is fitted to them."""
        if not incomplete(recipe):
            return recipe
        # A wrong key is named before all pairs are read.
        data: TextData = build(fitted(recipe, ANY), cls).build().data
        pairs = data.whole
        try:
            return fitted(recipe, survey(pairs, cache=data.cache))
        except DataError as error:
            raise DataError(f"data.train: {error}") from error

    def prepare(self, *, progress: bool = True) -> TranslateLearning:
        self.data.check()
        missing(self.metrics)
        source, target = self.data.tokenizers(progress=progress)
        corpus = self.data.corpus(source, target, progress=progress)
        report = Report()
        valid = evenly(self.data.asked(report), self.data.most)
        return TranslateLearning(self, source, target, corpus, valid, report)

    def part(self, name: Literal["valid", "test"]) -> Pairs | None:
        return self.data.valid if name == "valid" else self.data.test

    def restore(self, folder: Path) -> Translator:
        """Build the model of a folder and fill in its weights."""
        source = Tokenizer.load(folder / model_folder.SOURCE)
        target = Tokenizer.load(folder / model_folder.TARGET)
        model = self.model.build(source.size, target.size)
        model_folder.read_weights(folder, model)
        card = model_folder.read_card(folder)
        return Translator(
            model,
            source,
            target,
            decode=self.decode.fitted(Room.told(card.get("room"))),
            metrics=self.metrics,
            several=self.data.several,
            card=card,
        )


class TranslateLearning(Learning):
    """A recipe with its data ready and its model built."""

    def __init__(
        self,
        task: Translate,
        source: Tokenizer,
        target: Tokenizer,
        corpus: Corpus,
        valid: list[Question],
        left_out: Report,
    ) -> None:
        self.task, self.source, self.target = task, source, target
        self.tokenizers = {model_folder.SOURCE: source, model_folder.TARGET: target}
        self.corpus, self.valid = corpus, valid
        self.room = Room.of(corpus.source_lengths, corpus.target_lengths)
        fit = task.train
        torch.manual_seed(fit.seed)  # the first weights are a function of the recipe, too
        self.model = self.blank()
        for how in (task.decode, task.validate_with):
            if how.coverage:  # refused now for a model that looks nowhere, not after training
                Coverage(self.model, [self.model.decoder], beta=how.coverage)
        self.batches = Batches(
            corpus.source_lengths,
            corpus.target_lengths,
            tokens=fit.tokens,
            sentences=fit.sentences,
            seed=fit.seed,
        )
        data = task.data
        self.varied = Varied(
            source, target, apart=data.apart, respell=data.respell, most=data.max_tokens
        )
        self.facts = {
            "train": corpus.meta,
            "valid_questions": len(valid),
            "valid_skipped": left_out.as_dict(),
            "source_symbols": source.size,
            "target_symbols": target.size,
        }

    def told(self) -> list[str]:
        """What the data are; then what was left out of them, and which symbols are unknown."""
        facts, corpus = self.facts, self.corpus.meta
        lines = [
            f"{corpus['pairs']:,} training pairs, {facts['valid_questions']:,} validation "
            f"questions; {self.source.size:,} source and {self.target.size:,} target symbols"
        ]
        for part, skipped in (("", corpus["skipped"]), ("of validation ", facts["valid_skipped"])):
            for reason, row in skipped.items():
                examples = ", ".join(row["examples"])
                lines.append(f"{row['count']:,} {part}left out: {reason} ({examples})")
        for side in ("source", "target"):
            if unknown := corpus[f"{side}_unknown"]:
                tokens, examples = corpus[f"{side}_tokens"], corpus[f"{side}_unknown_examples"]
                some = ", ".join(text for text, _ in examples[:5])
                lines.append(f"{unknown:,} of {tokens:,} {side} symbols are unknown ({some})")
        return lines + missing(self.task.metrics)

    def blank(self) -> Seq2Seq:
        return self.task.model.build(self.source.size, self.target.size)

    def batch(self, indices: np.ndarray) -> TextBatch:
        return text_batch(*self.varied(self.corpus.rows(indices)))

    def count(self, indices: np.ndarray) -> int:
        return int(self.corpus.target_lengths[indices].sum()) + len(indices)

    def loss(self, model: nn.Module, batch: TextBatch, carried: Carried) -> Total:
        assert isinstance(model, Seq2Seq)
        task = self.task
        rows = tree.join([batch, batch]) if task.agreement else batch
        decoded = model(rows.source, rows.source_mask, rows.inputs)
        wanted = (rows.targets, rows.target_mask)
        known = (model.head, decoded.outputs, *wanted)
        if task.agreement:
            total = agreeing(*known, agreement=task.agreement, smoothing=task.smoothing)
        else:
            total = likelihood(*known, smoothing=task.smoothing, share=task.positions)
        if decoded.log_prob is None:
            return total
        return bounded(model.head, decoded, *wanted, total, carried, sampled=task.sampled)

    def validate(self, model: nn.Module) -> Validation:
        task = self.task
        assert isinstance(model, Seq2Seq)
        decode = task.validate_with.fitted(self.room)
        translator = Translator(
            model, self.source, self.target, decode=decode, metrics=task.metrics
        )
        found = evaluate(translator, self.valid, metrics=task.metrics)
        scores = {name: score.value for name, score in found.scores.items()}
        first = found.scores[task.metrics[0]]
        goal = -first.value if first.metric.higher_is_better else first.value
        shown = evenly(
            list(zip(found.sources, found.outputs, found.references, strict=True)), task.samples
        )
        return Validation(scores, goal, [Sample(s, o, nearest(o, r)) for s, o, r in shown])

    def expected(self, folder: Path) -> list[str]:
        task = self.task
        trained = task.restore(folder)
        found = evaluate(trained, self.valid, metrics=task.metrics, perplexity=False)
        return [*expectations(found, self.corpus.source_lengths), *behind(found, trained.card)]

    def save(self, folder: Path, weights: Mapping[str, Tensor], card: dict[str, Any]) -> None:
        self.source.save(folder / model_folder.SOURCE)
        self.target.save(folder / model_folder.TARGET)
        model_folder.write(
            folder,
            weights,
            {
                **card,
                "about": self.task.about,
                "data": self.facts,
                "room": list(self.room),
                "asked": self.task.result,
                "examples": [question.source for question in evenly(self.valid, 5)],
            },
        )


def nearest(output: str, references: list[str]) -> str:
    """The reference that an output equals, or else the first."""
    return output if output in references else references[0]
