"""What may be asked of a model that is served, whatever it is made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.serve.faults import RefusedError
from regard.serve.limits import Limits
from regard.serve.wire import Ask, Facts, Sample

if TYPE_CHECKING:
    from regard.serve.groups import Going

LENGTH = 200
"""Symbols that a language model writes on, unless it is told otherwise."""
PICTURES = 8
"""Pictures that are looked at together: the rest of the world waits while a backbone looks."""


class How(NamedTuple):
    """How an input is asked; those asked in the same way may be answered together."""

    beam: int | None = None
    nbest: int = 1
    sample: Sample | None = None
    length: int = LENGTH
    trace: bool = False


class Offered:
    """A model under a name, with the bounds of what it does for anybody, wherever it is."""

    def __init__(self, facts: Facts, limits: Limits) -> None:
        self.name, self.facts, self.limits = facts.name, facts, limits
        self.sees, self.writes = facts.input == "picture", facts.output == "continuation"
        self.batch = min(limits.batch, PICTURES) if self.sees else limits.batch

    def how(self, ask: Ask) -> How:
        """How a request wants to be answered; refuses what this model or the bounds forbid."""
        if self.writes:
            answering = {"beam": ask.beam, "prefix": ask.prefix, "nbest": ask.nbest > 1}
            _refuse(answering, "is for models that answer; this one writes on")
        else:
            _refuse({"length": ask.length}, "is for language models; this one answers")
        _within("beam", ask.beam or 1, self.limits.beam)
        _within("nbest", ask.nbest, self.limits.nbest)
        _within("length", ask.length or 1, self.limits.length)
        self._short("prefix", ask.prefix or "")
        if ask.beam is not None and ask.nbest > ask.beam and ask.sample is None:
            message = f"nbest: wanted at most the beam's width, {ask.beam}, got {ask.nbest}"
            raise RefusedError(422, "invalid", f"{message}; widen the beam")
        length = min(LENGTH, self.limits.length) if ask.length is None else ask.length
        return How(ask.beam, ask.nbest, ask.sample, length, ask.trace and not self.writes)

    def text(self, text: str | None) -> str:
        """The text of a request to a model that reads."""
        if text is None:
            raise RefusedError(422, "no_input", f"text: {self.name} wants a text, got none")
        self._short("text", text)
        return text

    def _short(self, name: str, text: str | list[str]) -> None:
        if len(text) > self.limits.characters:
            unit = "characters" if isinstance(text, str) else "tokens"
            wanted = f"wanted at most {self.limits.characters:,} {unit}"
            message = f"{name}: {wanted}, got {len(text):,}; send it in parts"
            raise RefusedError(413, "too_long", message)


class Answerer(Offered, ABC):
    """A model that is here to answer."""

    @abstractmethod
    def size(self, given: Any) -> int:
        """By which inputs of like length are grouped."""

    @abstractmethod
    def ask(
        self, inputs: Sequence[Any], how: How, prefixes: Sequence[str | list[str] | None]
    ) -> Going:
        """Begin to answer some inputs together; a ValueError says what the model cannot read."""


def _refuse(options: Mapping[str, object], why: str) -> None:
    for option, value in options.items():
        if value is not None and value is not False:
            raise RefusedError(422, "invalid", f"{option}: {why}")


def _within(name: str, value: int, most: int) -> None:
    if value > most:
        raise RefusedError(422, "too_much", f"{name}: wanted at most {most}, got {value}")
