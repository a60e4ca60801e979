"""A recipe for text to text while it learns: its batches, its loss, its validation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from regard import tree
from regard.blocks import reach
from regard.data import Batches, Corpus, Report, Tokenizer
from regard.data.both_ways import BothWays
from regard.data.varied import Varied
from regard.losses import Carried, Total, likelihood
from regard.losses_agreeing import agreeing
from regard.losses_sampled import bounded
from regard.model import Seq2Seq
from regard.ngrams import JointNgrams
from regard.search import Coverage
from regard.tasks import folder as model_folder
from regard.tasks.decode import Room
from regard.tasks.evaluate import evaluate, missing
from regard.tasks.expect import behind, expectations
from regard.tasks.text import Question, TextBatch, evenly, text_batch
from regard.tasks.translator import Translator
from regard.train.learning import Learning, Sample, Validation

if TYPE_CHECKING:
    from regard.tasks.translate import Translate


class TranslateLearning(Learning):
    """A recipe with its data ready and its model built."""

    batches: BothWays

    def __init__(
        self,
        task: Translate,
        source: Tokenizer,
        target: Tokenizer,
        corpus: Corpus,
        valid: list[Question],
        left_out: Report,
        ngrams: JointNgrams | None = None,
    ) -> None:
        self.ngrams = ngrams
        self.task, self.source, self.target = task, source, target
        self.tokenizers = {model_folder.SOURCE: source, model_folder.TARGET: target}
        self.corpus, self.valid = corpus, valid
        self.room = Room.of(corpus.source_lengths, corpus.target_lengths)
        fit = task.train
        torch.manual_seed(fit.seed)  # the first weights are a function of the recipe, too
        self.model = self.blank()
        self._check_reach(left_out)
        for how in (task.decode, task.validate_with):
            if how.coverage:  # refused now for a model that looks nowhere, not after training
                Coverage(self.model, [self.model.decoder], beta=how.coverage)
        data = task.data
        batches = Batches(
            corpus.source_lengths,
            corpus.target_lengths,
            tokens=fit.tokens,
            sentences=fit.sentences,
            seed=fit.seed,
        )
        self.batches = BothWays(batches, corpus, epochs=data.both_ways)
        self.varied = Varied(
            source, target, apart=data.apart, respell=data.respell, most=data.max_tokens
        )
        self.facts = {
            "train": corpus.meta,
            "valid_questions": len(self.valid),
            "valid_skipped": left_out.as_dict(),
            "source_symbols": source.size,
            "target_symbols": target.size,
        }

    def _check_reach(self, left_out: Report) -> None:
        """Refuse now, not in the middle of training, what the model has no places for."""
        places = reach(self.model)
        if places is None:
            return
        corpus, data = self.corpus, self.task.data
        most = max(int(corpus.source_lengths.max()), int(corpus.target_lengths.max()))
        if data.apart or data.respell:
            most = data.max_tokens  # spelt otherwise, a text may become as long as that
        if most >= places:
            raise ValueError(
                f"model.longest: wanted {most + 1:,} or more for the longest training text and its "
                f"end, got {places:,}; raise it, or lower data.max_tokens"
            )
        kept = []
        sizes = map(len, self.source.encode([question.source for question in self.valid]))
        for question, size in zip(self.valid, sizes, strict=True):
            if size < places:
                kept.append(question)
            elif data.on_error == "skip":
                left_out.skip(f"source over {places - 1} tokens", question.source[:20])
            else:
                raise ValueError(
                    f"data.valid: {question.source[:20]!r}... has {size:,} tokens, wanted at most "
                    f"{places - 1:,} for a model.longest of {places:,}; raise it, or set "
                    "data.on_error: skip"
                )
        if not kept:
            raise ValueError(
                f"data.valid: wanted texts of at most {places - 1:,} tokens, which a model.longest "
                f"of {places:,} has room for, got none; raise it"
            )
        self.valid = kept

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
        if self.ngrams is not None:
            lines.append(f"{self.ngrams.size:,} joint n-grams of {len(self.ngrams.known):,} units")
        return lines + missing(self.task.metrics)

    def blank(self) -> Seq2Seq:
        return self.task.model.build(self.source.size, self.target.size)

    def batch(self, indices: np.ndarray) -> TextBatch:
        return text_batch(*self.varied(self.batches.rows(indices)))

    def count(self, indices: np.ndarray) -> int:
        return self.batches.said(indices) + len(indices)

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
        if self.ngrams is not None:
            self.ngrams.save(folder / model_folder.NGRAMS)
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
