"""A trained model that answers: it is asked, and shows where it looked and what it considered."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

from regard.data import Tokenizer
from regard.look.trace import Branch, SearchTree, Trace
from regard.model import Seq2Seq
from regard.search import Coverage, Ensemble, Forks
from regard.tasks import replay
from regard.tasks.asking import Asking, Given, Judge
from regard.tasks.base import Trained
from regard.tasks.decode import Decode, Sampling, forced

Prefix = str | Sequence[str] | None
"""What an answer must begin with: a text, or symbols."""
A = TypeVar("A", bound="Answering")


class Answering(Trained):
    """An encoder and a decoder with the tokenizer of the answers and a way of decoding."""

    model: Seq2Seq
    models: list[Seq2Seq]
    """The model itself, or all of an ensemble."""
    scorer: Any
    target: Tokenizer
    decode: Decode
    judge: Judge | None = None
    """What chooses among the answers of a beam, where the model itself does not."""
    longest: int | None
    """How many symbols the model has room for; None: as many as there are."""

    @property
    @abstractmethod
    def most(self) -> int | None:
        """The most symbols that an answer may have, whatever its input; None if there is none."""

    @abstractmethod
    def given(self, inputs: Sequence[Any]) -> Given:
        """Inputs as the model reads them; refuses what it cannot read."""

    @property
    @abstractmethod
    def common(self) -> dict[str, str]:
        """What models that answer together must have in common, by its name."""

    def joined(self: A, others: Sequence[A]) -> A:
        """This model and others, of whatever architecture, in one search: their mean decides."""
        for other in others:
            for name, own in self.common.items():
                theirs = other.common.get(name, "none")
                if own != theirs:
                    raise ValueError(
                        f"an ensemble: wanted models with the same {name}, got {own} and {theirs}; "
                        f"train them on the same data with the same {name}"
                    )
        together = copy.copy(self)
        together.models = [self.model, *(other.model for other in others)]
        together.scorer = Ensemble(list(together.models))
        room = [each.longest for each in (self, *others) if each.longest is not None]
        together.longest = min(room, default=None)
        judges = [each.judge for each in (self, *others) if each.judge is not None]
        together.judge = judges[0] if judges else None
        return together

    def tidied(self, texts: list[str]) -> list[str]:
        """Answers as the training's were written."""
        return texts

    def ask(
        self,
        inputs: Sequence[Any],
        *,
        decode: Decode | None = None,
        sampling: Sampling | None = None,
        prefixes: Sequence[Prefix] | None = None,
        trace: bool = False,
    ) -> Asking:
        """Begin to answer; each input may have a beginning that its answer must have.

        With `trace`, what the search considers is written down.
        """
        forks = Forks() if trace and sampling is None else None
        given = self.given(inputs)
        return self._begin(given, decode or self.decode, sampling, prefixes or [], forks)

    def look(
        self,
        text: Any,
        *,
        answer: str | None = None,
        decode: Decode | None = None,
        prefix: Prefix = None,
    ) -> Trace:
        """How the model comes to its own answer, or where it looks while it says a given one."""
        given = self.given([text])
        if answer is not None:
            return self.replayed(given, [0], self.target.encode(self.tidied([answer])))[0]
        forks = Forks()
        asking = self._begin(given, decode or self.decode, None, [prefix], forks)
        asking.search.finish()
        return asking.trace(0)

    def replayed(
        self,
        given: Given,
        rows: Sequence[int],
        answers: list[list[int]],
        trees: Sequence[SearchTree | None] | None = None,
    ) -> list[Trace]:
        """The traces of known answers to some of the inputs."""
        chosen = torch.as_tensor(list(rows))
        again = replay.replay(self.model, given.source[chosen], given.mask[chosen], answers)
        return [
            Trace(
                given.places[row],
                self.target.tokens([*answer, Tokenizer.EOS]),
                self.target.words(answer),
                self.target.decode(answer),
                each.weights,
                each.log_probs,
                each.choices(self.target),
                tree,
            )
            for row, answer, each, tree in zip(
                rows, answers, again, trees or [None] * len(answers), strict=True
            )
        ]

    def _begin(
        self,
        given: Given,
        decode: Decode,
        sampling: Sampling | None,
        prefixes: Sequence[Prefix],
        forks: Forks | None,
    ) -> Asking:
        start = self._forced(prefixes)
        tensors = self._placed(given.source, given.mask)
        most: dict[str, Any] = {"prefix": start, "most": self.most}
        with torch.inference_mode():
            if sampling is not None:
                known = self.scorer.prepare(*tensors)
                drawing = (self.scorer, known, tensors[1], given.names, sampling)
                return Asking(self, given, decode.draw(*drawing, **most))
            scorer, ending = self.scorer, None
            if decode.coverage:
                decoders = [model.decoder for model in self.models]
                scorer = Coverage(self.scorer, decoders, beta=decode.coverage)
                ending = scorer.ending
            known = scorer.prepare(*tensors)
            judge = self.judge if decode.consensus is None else None
            listed = judge is not None
            search = decode.begin(
                scorer, known, tensors[1], ending=ending, forks=forks, listed=listed, **most
            )
        return Asking(self, given, search, forks, judge=judge, nbest=decode.nbest)

    def _forced(self, prefixes: Sequence[Prefix]) -> Tensor | None:
        rows = [self._numbers(prefix) for prefix in prefixes]
        return self._placed(forced(rows))[0] if any(rows) else None

    def _numbers(self, prefix: Prefix) -> list[int]:
        if not prefix:
            return []
        if not isinstance(prefix, str):
            try:
                return self.target.numbers(prefix)
            except ValueError as error:
                raise ValueError(f"prefix: {error}") from error
        text = self.tidied([prefix])[0]
        if strange := self.target.unknown(text):
            raise ValueError(f"prefix: no symbol for {', '.join(map(repr, strange))} in {prefix!r}")
        return self.target.encode([text])[0]

    def tree(self, forks: Forks, place: int, answer: list[int]) -> SearchTree:
        """What a search considered on its way to an answer."""
        found = forks.of.get(place, [])
        tokens = self.target.tokens([fork.token for fork in found])
        branches = [
            Branch(**{**vars(fork), "token": token})
            for fork, token in zip(found, tokens, strict=True)
        ]
        return SearchTree(forks.width, branches, forks.path(place, answer))

    def _placed(self, *tensors: Tensor) -> tuple[Tensor, ...]:
        return replay.placed(self.model, *tensors)
