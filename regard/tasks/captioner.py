"""A trained model of pictures: it describes them, is evaluated, and shows where it looked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from regard import tree
from regard.data import Captions, DataError, Report, Tokenizer, as_captions, open_image
from regard.data.files import key
from regard.data.images import Picture, reduced
from regard.data.opening import UNUSABLE, side_by_side
from regard.data.sources import OnError
from regard.look.places import Photo
from regard.model import Seq2Seq
from regard.tasks.answering import Answering
from regard.tasks.asking import Given
from regard.tasks.decode import Decode, Sampling
from regard.tasks.doubts import doubts
from regard.tasks.evaluate import Evaluation, Perplexity, Score, measured
from regard.tasks.eye import Eye
from regard.tasks.gallery import Gallery, gallery
from regard.tasks.output import Output
from regard.tasks.text import evenly, text_batch
from regard.tasks.usual import Usual, looks

LONGEST = 40
"""Symbols of a caption, where neither a recipe nor a model's card says otherwise."""


class _Opened(NamedTuple):
    """A picture as the backbone wants it, and a small one where it is to be drawn."""

    name: str
    prepared: Float[np.ndarray, "3 size size"]
    small: Picture | None


class Captioner(Answering):
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
        longest: int,
        usual: Usual | None = None,
        card: dict[str, Any] | None = None,
    ) -> None:
        self.model, self.eye, self.target = model.eval(), eye, target
        self.decode, self.metrics, self._tidied = decode, metrics, tidied
        self.longest, self.usual, self.card = longest, usual, card or {}
        self.scorer: Any = model
        self.models = [model]

    @property
    def common(self) -> dict[str, str]:
        own = self.eye.as_dict()
        if self.eye.learns:
            raise ValueError(
                "an ensemble: wanted models with the same frozen backbone, got one that learned "
                "with its model; train without data.learns"
            )
        backbone = f"{own['backbone']['is']}-{key(own)[:8]}"
        return {"target tokenizer": self.target.label, "backbone": backbone}

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
        opened = self._opened(paths, look, on_error, report)
        while group := list(islice(opened, batch)):
            source = self.eye.see([each.prepared for each in group])
            shown = [each.small for each in group if each.small is not None]
            given = self._given([each.name for each in group], source, shown)
            asking = self._begin(given, decode or self.decode, sampling, [], None)
            yield from asking.finish(look=look)

    def _opened(
        self, paths: Iterable[str | Path], drawn: bool, on_error: OnError, report: Report
    ) -> Iterator[_Opened]:
        """The pictures that can be used, on all cores; few are open at their full size at once."""
        opening = partial(self._open, drawn=drawn)
        for found in side_by_side(opening, paths, threads=torch.get_num_threads()):
            if isinstance(found, _Opened):
                yield found
            elif on_error == "stop":
                raise found
            else:
                report.skip(UNUSABLE, str(found))

    def _open(self, path: str | Path, *, drawn: bool) -> _Opened | DataError:
        try:
            image = open_image(path)
        except DataError as error:
            return error
        return _Opened(str(path), self.eye.prepared(image), reduced(image) if drawn else None)

    def evaluate(
        self,
        data: Captions | str,
        *,
        metrics: list[str] | None = None,
        decode: Decode | None = None,
        most: int | None = None,
        on_error: OnError = "stop",
    ) -> Evaluation:
        """Score the model on pictures with captions, with confidence intervals."""
        # A part of a recipe brings the recipe's own on_error, for its pictures as for its lines.
        report, captions = Report(), as_captions(data, on_error=on_error)
        found = [(each.path, each.captions) for each in captions.read(report)]
        found = found if most is None else evenly(found, most)
        if not found:
            raise ValueError("evaluate: wanted at least one picture with captions, got none")
        shown = gallery(
            [path for path, _ in found],
            [said for _, said in found],
            self.eye,
            on_error=captions.checks.on_error,
            report=report,
            progress=True,
        )
        result = self.measure(shown, metrics=metrics or self.metrics, decode=decode)
        return replace(result, skipped=report.lines())

    def measure(
        self, shown: Gallery, *, metrics: list[str], decode: Decode | None = None, batch: int = 64
    ) -> Evaluation:
        """Describe every picture for real and score the captions."""
        names, outputs, seen = [str(path) for path in shown.paths], [], []
        for first in range(0, len(shown), batch):
            places = range(first, min(first + batch, len(shown)))
            source = shown.given(list(places))
            part = [names[place] for place in places]
            given = self._given(part, source, [])
            asking = self._begin(given, decode or self.decode, None, [], None)
            outputs += [output.text for output in asking.finish()]
            seen.append(looks(source))
        plain = [name for name in metrics if name != Perplexity.name]
        scores, missing = measured(plain, outputs, shown.captions)
        if Perplexity.name in metrics:
            scores[Perplexity.name] = self._perplexity(shown)
        found = Evaluation(names, outputs, shown.captions, [], scores, missing)
        return found.noted(doubts(outputs, shown.captions, np.concatenate(seen), self.usual))

    @property
    def most(self) -> int | None:
        return self.longest

    def tidied(self, texts: list[str]) -> list[str]:
        return self._tidied(texts)

    def size(self, image: str | Path | Picture) -> int:  # noqa: ARG002
        """The fields of the grid, of which all pictures have the same number."""
        return math.prod(self.eye.pictures.grid)

    def given(self, inputs: Sequence[str | Path | Picture]) -> Given:
        """Pictures, or the files that they are in."""
        images = [each if isinstance(each, Picture) else open_image(each) for each in inputs]
        names = ["" if isinstance(each, Picture) else str(each) for each in inputs]
        prepared = [self.eye.prepared(image) for image in images]
        return self._given(names, self.eye.see(prepared), images)

    def _given(self, names: list[str], source: Tensor, images: Sequence[Picture]) -> Given:
        grid, prepared = self.eye.pictures.grid, self.eye.backbone.preprocessing
        places = [Photo(image, grid, prepared.region(*image.size)) for image in images]
        return Given(names, source, self._mask(len(names)), list(places), [[]] * len(names))

    def _mask(self, rows: int) -> Tensor:
        return torch.ones(rows, math.prod(self.eye.pictures.grid), dtype=torch.bool)

    @torch.inference_mode()
    def _perplexity(self, shown: Gallery) -> Score:
        """Of all references, per symbol, the end included."""
        if self.scorer is not self.model:
            raise ValueError("metrics: an ensemble has no perplexity; leave it out")
        statistics = np.zeros((len(shown), 2))
        for place, captions in enumerate(shown.captions):
            rows = self.target.encode(self.tidied(captions))
            batch = text_batch([[]] * len(rows), rows)
            given = self._placed(shown.given([place]), self._mask(1), batch.inputs, batch.targets)
            memory = tree.repeat(self.model.encoder(*given[:2]), len(rows))
            log_p = self.model.head(self.model.decoder(given[2], memory).outputs).log_softmax(-1)
            picked = log_p.gather(2, given[3][..., None])[..., 0].cpu() * batch.target_mask
            statistics[place] = float(picked.sum()), int(batch.target_mask.sum())
        metric = Perplexity(self.target)
        return Score(metric, statistics, metric.signature(shown.captions))


def longest_of(lengths: np.ndarray) -> int:
    """Room for 999 of 1,000 captions: every symbol that a search may still say costs time."""
    return max(5, math.ceil(np.quantile(lengths, 0.999)))


def told_longest(longest: object) -> int:
    """As a model's card says; a card is a file like any other, and may say anything."""
    match longest:
        case int() if 0 < longest <= 1000:
            return longest
    return LONGEST
