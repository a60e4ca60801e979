"""Text to text from a recipe: translation, pronunciation, whatever comes in pairs of texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from regard.config import Later, build
from regard.data import DataError, Pairs, Report, Tokenizer
from regard.model import Seq2Seq
from regard.ranges import Count
from regard.tasks import folder as model_folder
from regard.tasks.base import Task
from regard.tasks.decode import Decode, Room
from regard.tasks.defaults import ANY, fitted, incomplete, survey
from regard.tasks.evaluate import check, missing
from regard.tasks.second import Ngrams
from regard.tasks.text import TextData, evenly
from regard.tasks.translate_learning import TranslateLearning
from regard.tasks.translator import Translator
from regard.train.settings import Fit


class Translate(Task):
    """Learn to answer one text with another.

    `metrics` are measured at every validation by real decoding with `validate_with`; the first of
    them is what training is after. `decode` is how the finished model answers. `positions` is the
    share of the target positions, drawn anew for each batch, that the training loss is taken on.
    With `agreement`, every pair is read twice under two draws of dropout, and what they say is
    drawn together with this weight (R-Drop; 5 is usual): an update takes twice the time, and it
    wants many of them. `sampled` is the weight of hard attention's REINFORCE term (Xu et al.,
    2015). `ngrams` choose among the answers of the finished model's beam.
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
        ngrams: Ngrams | None = None,
        samples: Count = 3,
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
        if ngrams is not None and decode is not None and decode.consensus is not None:
            raise ValueError("ngrams: wanted one way to choose an answer, got decode.consensus too")
        self.sampled, self.ngrams = sampled, ngrams
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
        epochs = self.train.epochs
        if self.ngrams is not None and self.decode.beam == 1:
            raise ValueError("ngrams: wanted a decode.beam of 2 or more to choose from, got 1")
        if epochs is not None and self.data.both_ways >= epochs:
            raise ValueError(
                f"data.both_ways: wanted fewer than the {epochs} train.epochs, so that the "
                f"last of them learn the way that is asked, got {self.data.both_ways}"
            )
        self.data.check()
        missing(self.metrics)
        source, target = self.data.tokenizers(progress=progress)
        corpus = self.data.corpus(source, target, progress=progress)
        report = Report()
        valid = evenly(self.data.asked(report), self.data.most)
        known = (corpus, source, target)
        ngrams = None if self.ngrams is None else self.ngrams.learn(*known, progress=progress)
        return TranslateLearning(self, source, target, corpus, valid, report, ngrams)

    def part(self, name: Literal["valid", "test"]) -> Pairs | None:
        return self.data.valid if name == "valid" else self.data.test

    def restore(self, folder: Path) -> Translator:
        """Build the model of a folder and fill in its weights."""
        source = Tokenizer.load(folder / model_folder.SOURCE)
        target = Tokenizer.load(folder / model_folder.TARGET)
        model = self.model.build(source.size, target.size)
        model_folder.read_weights(folder, model)
        card = model_folder.read_card(folder)
        known = (folder, source, target)
        return Translator(
            model,
            source,
            target,
            decode=self.decode.fitted(Room.told(card.get("room"))),
            metrics=self.metrics,
            several=self.data.several,
            card=card,
            judge=None if self.ngrams is None else self.ngrams.restore(*known),
        )
