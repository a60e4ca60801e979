"""A trained model of pictures: it describes them, is evaluated, and shows where it looked."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.base import Attention
from regard.data import Captions, DataError, Report, Tokenizer, as_captions, open_image
from regard.data.images import Picture
from regard.data.sources import OnError
from regard.look.glances import Glances
from regard.look.watch import watch
from regard.model import Seq2Seq
from regard.search import Ensemble, Hypothesis
from regard.tasks.base import Trained
from regard.tasks.decode import Decode, Sampling
from regard.tasks.evaluate import Evaluation, Perplexity, Score, measured
from regard.tasks.gallery import Eye, Gallery, gallery
from regard.tasks.output import Output
from regard.tasks.text import evenly, text_batch

LONGEST = 40
"""Symbols of a caption, unless a recipe says otherwise."""
ALIKE, STRANGE = 0.5, 1.0
"""Shares of equal captions, and spreads of training, from which something is wrong."""


class Captioner(Trained):
    """A model with the eye that looks for it, its tokenizer and its way of decoding."""

    sees = True

    def __init__(
        self,
        model: Seq2Seq,
        eye: Eye,
        target: Tokenizer,
        *,
        decode: Decode,
        metrics: list[str],
        tidied: Callable[[list[str]], list[str]],
        longest: int = LONGEST,
        usual: Float[np.ndarray, "2 dim"] | None = None,
        card: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.eye, self.target = model.eval(), eye, target
        self.decode, self.metrics, self.tidied = decode, metrics, tidied
        self.longest, self.usual, self.card = longest, usual, card or {}
        self.scorer: Any = model

    def joined(self, others: Sequence[Captioner]) -> Captioner:
        """This model and others in one search: their mean decides."""
        for other in others:
            if self.target.fingerprint != other.target.fingerprint:
                raise ValueError("an ensemble: wanted models with the same tokenizer")
            if self.eye.as_dict() != other.eye.as_dict() or self.eye.learns or other.eye.learns:
                raise ValueError("an ensemble: wanted models with the same frozen backbone")
        together = copy.copy(self)
        together.scorer = Ensemble([self.model, *(other.model for other in others)])
        return together

    def run(
        self,
        inputs: Sequence[str | Path],
        *,
        decode: Decode | None = None,
        sampling: Sampling | None = None,
        look: bool = False,
        batch: int = 32,
    ) -> list[Output]:
        """One output per picture, in order."""
        how: dict[str, Any] = {"decode": decode, "sampling": sampling, "look": look}
        return list(self.stream(inputs, batch=batch, **how))

    def stream(
        self,
        paths: Iterable[str | Path],
        *,
        decode: Decode | None = None,
        sampling: Sampling | None = None,
        look: bool = False,
        batch: int = 32,
        on_error: OnError = "stop",
        report: Report | None = None,
    ) -> Iterator[Output]:
        """Outputs in the order of the pictures; one that cannot be opened stops or is counted."""
        if batch < 1:
            raise ValueError(f"batch: wanted 1 picture or more, got {batch}")
        report = report if report is not None else Report()
        paths = iter(paths)
        while group := list(islice(paths, batch)):
            opened: list[tuple[str, Picture]] = []
            for path in group:
                try:
                    opened.append((str(path), open_image(path)))
                except DataError as error:
                    if on_error == "stop":
                        raise
                    report.skip("picture that cannot be used", str(error))
            if opened:
                names, images = [name for name, _ in opened], [image for _, image in opened]
                source = self.eye.see(images)
                answers = self._search(source, names, decode or self.decode, sampling)
                seen: Sequence[Any] = [None] * len(names)
                if look:
                    seen = self._glances(images, source, [best[0].tokens for best in answers])
                yield from map(self._output, names, answers, seen)

    def evaluate(
        self,
        data: Captions | str,
        *,
        metrics: list[str] | None = None,
        decode: Decode | None = None,
        most: int | None = None,
    ) -> Evaluation:
        """Score the model on pictures with captions, with confidence intervals."""
        report = Report()
        found = [(each.path, each.captions) for each in as_captions(data).read(report)]
        found = found if most is None else evenly(found, most)
        if not found:
            raise ValueError("evaluate: wanted at least one picture with captions, got none")
        shown = gallery(
            [path for path, _ in found],
            [captions for _, captions in found],
            self.eye,
            on_error="stop",
            report=report,
            progress=True,
        )
        return self.measure(shown, metrics=metrics or self.metrics, decode=decode)

    def measure(
        self, shown: Gallery, *, metrics: list[str], decode: Decode | None = None, batch: int = 64
    ) -> Evaluation:
        """Describe every picture for real and score the captions."""
        names, outputs = [str(path) for path in shown.paths], []
        total, counted = np.zeros(self.eye.pictures.dim), 0
        for first in range(0, len(shown), batch):
            places = range(first, min(first + batch, len(shown)))
            source = shown.given(list(places))
            part = [names[place] for place in places]
            answers = self._search(source, part, decode or self.decode, None)
            outputs += [self.target.decode(best[0].tokens) for best in answers]
            if source.dim() == 3:
                total += source.mean(1).sum(0).double().numpy()
                counted += len(part)
        plain = [name for name in metrics if name != Perplexity.name]
        scores, missing = measured(plain, outputs, shown.captions)
        if Perplexity.name in metrics:
            scores[Perplexity.name] = self._perplexity(shown)
        found = Evaluation(names, outputs, shown.captions, [], scores, missing)
        return found.noted(self._doubts(outputs, total / counted if counted else None))

    def look(self, text: str, *, answer: str | None = None) -> Glances:  # type: ignore[override]
        """Where the model looks while it describes a picture, or says a given caption."""
        image = open_image(text)
        source = self.eye.see([image])
        if answer is None:
            tokens = self._search(source, [text], self.decode, None)[0][0].tokens
        else:
            tokens = self.target.encode(self.tidied([answer]))[0]
        glances = self._glances([image], source, [tokens])[0]
        if glances is None:
            raise ValueError("this model has no attention: there is nowhere that it looked")
        return glances

    def _mask(self, rows: int) -> Tensor:
        return torch.ones(rows, int(np.prod(self.eye.pictures.grid)), dtype=torch.bool)

    @torch.inference_mode()
    def _search(
        self, source: Tensor, names: list[str], decode: Decode, sampling: Sampling | None
    ) -> list[list[Hypothesis]]:
        source, mask = self._placed(source, self._mask(len(source)))
        known = self.scorer.prepare(source, mask)
        if sampling is not None:
            return decode.draw(self.scorer, known, mask, names, sampling, most=self.longest)
        return decode.search(self.scorer, known, mask, most=self.longest)

    @torch.inference_mode()
    def _glances(
        self, images: list[Picture], source: Tensor, answers: list[list[int]]
    ) -> Sequence[Glances | None]:
        """Replay the captions and watch; None for a model that looks nowhere."""
        batch = text_batch([[]] * len(answers), answers)
        with watch(self.model) as gaze:
            self.model(*self._placed(source, self._mask(len(source)), batch.inputs))
        parts = dict(self.model.named_modules())
        maps = [
            each if each.dim() == 3 else each.mean(2)
            for name, each in gaze.maps(len(answers)).items()
            if isinstance(parts[name], Attention)
        ]
        if not maps:
            return [None] * len(answers)
        weights = torch.stack(maps).mean(0).cpu().numpy()
        grid, prepared = self.eye.pictures.grid, self.eye.backbone.preprocessing
        return [
            Glances(
                image,
                self.target.tokens(answer),
                weights[place, : len(answer)].reshape(len(answer), *grid),
                prepared.region(*image.size),
            )
            for place, (image, answer) in enumerate(zip(images, answers, strict=True))
        ]

    def _output(self, name: str, answers: list[Hypothesis], seen: Glances | None) -> Output:
        outputs = [
            Output(
                name,
                self.target.decode(each.tokens),
                self.target.tokens(each.tokens),
                each.log_prob,
                each.score,
                each.complete,
            )
            for each in answers
        ]
        return Output(**{**outputs[0].__dict__, "seen": seen, "others": outputs[1:]})

    @torch.inference_mode()
    def _perplexity(self, shown: Gallery) -> Score:
        """Of all references, per symbol, the end included."""
        if self.scorer is not self.model:
            raise ValueError("metrics: an ensemble has no perplexity; leave it out")
        statistics = np.zeros((len(shown), 2))
        for place, captions in enumerate(shown.captions):
            rows = self.target.encode(self.tidied(captions))
            batch = text_batch([[]] * len(rows), rows)
            one = shown.given([place])
            source = one.expand(len(rows), *one.shape[1:])
            given = self._placed(source, self._mask(len(rows)), batch.inputs, batch.targets)
            log_p = self.model.head(self.model(*given[:3]).outputs).log_softmax(-1)
            picked = log_p.gather(2, given[3][..., None])[..., 0].cpu() * batch.target_mask
            statistics[place] = float(picked.sum()), int(batch.target_mask.sum())
        metric = Perplexity()
        return Score(metric, statistics, metric.signature(shown.captions))

    def _doubts(self, outputs: list[str], mean: Float[np.ndarray, " dim"] | None) -> list[str]:
        """Signs that captions do not depend on pictures, or that those are unlike training's."""
        doubts = []
        common = max(map(outputs.count, set(outputs))) if len(outputs) >= 20 else 0
        if common > ALIKE * len(outputs):
            doubts.append(
                f"{common} of {len(outputs)} captions are the same: the model hardly depends on "
                "what it is shown"
            )
        if mean is not None and self.usual is not None and len(outputs) >= 20:
            away = float(np.mean(np.abs(mean - self.usual[0]) / (self.usual[1] + 1e-3)))
            if away > STRANGE:
                doubts.append(
                    f"these pictures look unlike those of training ({away:.1f} spreads away on "
                    "average): are colours or brightness right?"
                )
        return doubts

    def _placed(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        device = next(self.model.parameters()).device
        return tuple(tensor.to(device) for tensor in tensors)
