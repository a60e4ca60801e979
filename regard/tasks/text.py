"""Text in, text out: the data of a recipe, and padded batches of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from regard.data import (
    Corpus,
    DataError,
    Pairs,
    Report,
    SetAside,
    Tokenizer,
    TokenizerSettings,
    as_pairs,
    prepare,
)
from regard.data import train_tokenizers as train_on
from regard.data.files import default_cache
from regard.data.sources import OnError, data_error
from regard.ranges import Count, Size


class Question(NamedTuple):
    """A source with every answer that counts as right."""

    source: str
    answers: list[str]


class TextData:
    """Pairs of texts for training and validation, and how they become symbols.

    Without `valid`, the share `held_out` of the training pairs is set aside and measured on.
    `target` is the tokenizer of the other side; without it both sides share one vocabulary. With
    `several`, pairs of one source are one question with several right answers. `most` bounds the
    questions that a validation during training decodes, evenly spaced over the file. In training,
    the share `apart` of the subwords is taken apart by chance, and the share `respell` of the names
    and numbers that stand on both sides is spelt anew, in each epoch otherwise; losses stay per
    symbol of the text as it was encoded. In the first `both_ways` epochs, half of the pairs are
    learned the other way round. With `on_error: skip`, bad lines of all parts are left out and
    counted.
    """

    def __init__(
        self,
        *,
        train: Pairs | str | list[str],
        source: TokenizerSettings,
        valid: Pairs | str | list[str] | None = None,
        held_out: float = 0.02,
        target: TokenizerSettings | None = None,
        several: bool = False,
        test: Pairs | str | list[str] | None = None,
        most: Size = 2000,
        max_tokens: Size = 512,
        apart: float = 0.0,
        respell: float = 0.0,
        both_ways: Count = 0,
        on_error: OnError = "stop",
        cache: Path | None = None,
    ) -> None:
        if not 0 < held_out < 1:
            raise ValueError(f"held_out: wanted a share between 0 and 1, got {held_out}")
        if not 0 <= apart <= 0.5:
            raise ValueError(f"apart: wanted a share from 0 to 0.5, got {apart}")
        if not 0 <= respell <= 1:
            raise ValueError(f"respell: wanted a share from 0 to 1, got {respell}")
        if both_ways and target is not None:
            raise ValueError(
                "both_ways: wanted one vocabulary for both sides (no data.target) with it, got "
                f"{both_ways}"
            )
        # A model is loaded where its data are not: nothing looks for a file before it is read.
        self._parts = {"train": train, "valid": valid, "test": test}
        self.held_out, self.source, self.target = held_out, source, target
        self.several, self.most, self.max_tokens = several, most, max_tokens
        self.apart, self.respell, self.both_ways = apart, respell, both_ways
        self.on_error, self.cache = on_error, cache or default_cache()

    @cached_property
    def whole(self) -> Pairs:
        """All training pairs, before some are set aside."""
        return self._part("train")

    @cached_property
    def train(self) -> Pairs:
        """What the model learns from."""
        return self._split("kept") if self._parts["valid"] is None else self.whole

    @cached_property
    def valid(self) -> Pairs:
        """What it is measured on while it learns."""
        return self._split("aside") if self._parts["valid"] is None else self._part("valid")

    @cached_property
    def test(self) -> Pairs | None:
        """What it is measured on in the end."""
        return None if self._parts["test"] is None else self._part("test")

    def check(self) -> None:
        """Miss a file now rather than after the others are prepared."""
        _ = self.train, self.valid, self.test

    def _split(self, part: Literal["kept", "aside"]) -> Pairs:
        return SetAside(self.whole, share=self.held_out, part=part)

    def _part(self, name: str) -> Pairs:
        spec = self._parts[name]
        assert spec is not None
        try:
            pairs = as_pairs(spec, on_error=self.on_error)
            _ = pairs.files  # says which one is missing
        except DataError as error:
            raise DataError(f"data.{name}: {error}") from error
        return pairs

    def asked(self, report: Report) -> list[Question]:
        """What a validation may ask."""
        found = questions(self.valid, several=self.several, report=report)
        if not found and self._parts["valid"] is None:
            problem = f"none of the training pairs falls into the share {self.held_out}"
            raise data_error("data.held_out", problem, "raise data.held_out, or name data.valid")
        if not found:
            remedy = "check data.valid, or leave it out: a part of the training pairs is set aside"
            raise data_error("data.valid", "wanted pairs to measure on, got none", remedy)
        return found

    def tokenizers(self, *, progress: bool) -> tuple[Tokenizer, Tokenizer]:
        """Trained on the training part only, or taken from the cache."""
        known = train_on(self.train, self.source, self.target, cache=self.cache, progress=progress)
        if self.apart and not any(each.merges.any() for each in known):
            raise ValueError(
                f"data.apart: wanted subwords that were merged (data.Bpe) to take {self.apart} of "
                "them apart, got none; leave it out or use data.Bpe"
            )
        if self.both_ways and self.train.turns > 1:
            raise ValueError(
                f"data.both_ways: wanted pairs of single texts, got {self.train.turns} turns of a "
                "dialogue on one side; leave it out"
            )
        if self.respell and any(each.kind == "words" for each in known):
            raise ValueError(
                f"data.respell: wanted symbols that can spell any word, got {self.respell} with "
                "data.Words; leave it out or use data.Bpe, data.Unigram or data.Characters"
            )
        return known

    def corpus(self, source: Tokenizer, target: Tokenizer, *, progress: bool) -> Corpus:
        """The training part, encoded once."""
        return prepare(
            self.train,
            source,
            target,
            cache=self.cache,
            max_tokens=self.max_tokens,
            progress=progress,
        )


def questions(pairs: Pairs, *, several: bool, report: Report | None = None) -> list[Question]:
    """All questions of a validation or test part, in the order of the file."""
    found: dict[Any, Question] = {}
    for number, pair in enumerate(pairs.read(report or Report())):
        key = pair.source if several else number
        found.setdefault(key, Question(pair.source, [])).answers.append(pair.target)
    return list(found.values())


def evenly(items: list[Any], most: int) -> list[Any]:
    """At most so many items, evenly spaced."""
    if len(items) <= most:
        return items
    return [items[i] for i in np.linspace(0, len(items) - 1, most).astype(int)]


class TextBatch(NamedTuple):
    """Sources that end with end-of-sequence; targets shifted by one against the inputs."""

    source: Int[Tensor, "batch source"]
    source_mask: Bool[Tensor, "batch source"]
    inputs: Int[Tensor, "batch time"]
    targets: Int[Tensor, "batch time"]
    target_mask: Bool[Tensor, "batch time"]


def text_batch(sources: Sequence[Any], targets: Sequence[Any]) -> TextBatch:
    """A padded batch of rows of numbers."""
    source, source_mask = source_batch(sources)
    target, target_mask = padded(targets, extra=1)
    ends = target_mask.sum(1, keepdim=True) - 1
    begin = torch.full((len(target), 1), Tokenizer.BOS)
    inputs = torch.cat([begin, target[:, :-1]], dim=1)
    return TextBatch(
        source, source_mask, inputs, target.scatter(1, ends, Tokenizer.EOS), target_mask
    )


def source_batch(sources: Sequence[Any]) -> tuple[Tensor, Tensor]:
    """Sources with the end-of-sequence symbol behind each, and their mask."""
    tokens, mask = padded(sources, extra=1)
    return tokens.scatter(1, mask.sum(1, keepdim=True) - 1, Tokenizer.EOS), mask


def padded(rows: Sequence[NDArray[Any] | list[int]], *, extra: int) -> tuple[Tensor, Tensor]:
    """Rows of numbers side by side, with room for `extra` symbols that the mask counts as real."""
    lengths = np.fromiter((len(row) for row in rows), np.int64, len(rows))
    places = np.arange(int(lengths.max(initial=0)) + extra)
    table = np.full((len(rows), len(places)), Tokenizer.PAD, np.int64)
    table[places < lengths[:, None]] = np.concatenate([np.asarray(r, np.int64) for r in rows])
    mask = places < (lengths + extra)[:, None]
    return torch.from_numpy(table), torch.from_numpy(mask)
