"""A model that is served: what is known of it, what may be asked of it, and how it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import regard
from regard.attention.base import Attention
from regard.serve.faults import RefusedError
from regard.serve.limits import Limits
from regard.serve.wire import Ask, Bounds, Facts
from regard.serve.writing import Writing
from regard.tasks.decode import Decode, Sampling

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
    sampling: Sampling | None = None
    length: int = LENGTH
    trace: bool = False


class Served:
    """A trained model under a name."""

    def __init__(self, name: str, trained: Any, limits: Limits) -> None:
        self.name, self.trained, self.limits = name, trained, limits
        self.batch = min(limits.batch, PICTURES) if trained.sees else limits.batch
        self.facts = _facts(name, trained, limits)

    def how(self, ask: Ask) -> How:
        """How a request wants to be answered; refuses what this model or the bounds forbid."""
        if self.trained.writes:
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
        sampling = None if ask.sample is None else Sampling(**ask.sample.model_dump())
        length = min(LENGTH, self.limits.length) if ask.length is None else ask.length
        return How(ask.beam, ask.nbest, sampling, length, ask.trace and not self.trained.writes)

    def text(self, text: str | None) -> str:
        """The text of a request to a model that reads."""
        if text is None:
            raise RefusedError(422, "no_input", f"text: {self.name} wants a text, got none")
        self._short("text", text)
        return text

    def size(self, given: Any) -> int:
        """By which inputs of like length are grouped."""
        return len(given) if self.trained.writes else self.trained.size(given)

    def ask(
        self, inputs: Sequence[Any], how: How, prefixes: Sequence[str | list[str] | None]
    ) -> Going:
        """Begin to answer some inputs together; a ValueError says what the model cannot read."""
        if self.trained.writes:
            return Writing(self.trained, inputs, length=how.length, sampling=how.sampling)
        return self.trained.ask(
            inputs,
            decode=self._decode(how),
            sampling=how.sampling,
            prefixes=prefixes,
            trace=how.trace,
        )

    def _short(self, name: str, text: str | list[str]) -> None:
        if len(text) > self.limits.characters:
            unit = "characters" if isinstance(text, str) else "tokens"
            wanted = f"wanted at most {self.limits.characters:,} {unit}"
            message = f"{name}: {wanted}, got {len(text):,}; send it in parts"
            raise RefusedError(413, "too_long", message)

    def _decode(self, how: How) -> Decode:
        """The model's own way of decoding with what a request changes."""
        own: Decode = self.trained.decode
        width = how.beam if how.beam is not None else max(own.beam, how.nbest)
        return Decode(
            beam=width if how.sampling is None else max(width, how.nbest),
            nbest=how.nbest,
            penalty=own.penalty,
            coverage=own.coverage,
            ratio=own.ratio,
            extra=own.extra,
            unknown=own.unknown,
        )


def load(folders: Iterable[str], limits: Limits) -> dict[str, Served]:
    """The models in some folders, by the names of these."""
    found: dict[str, Served] = {}
    for folder in folders:
        name = Path(folder).resolve().name
        if name in found:
            raise ValueError(
                f"{folder}: wanted a name for each model, got {name!r} twice; rename a folder"
            )
        found[name] = Served(name, regard.load(folder), limits)
    return found


def _facts(name: str, trained: Any, limits: Limits) -> Facts:
    card: dict[str, Any] = trained.card  # from the folder: whatever it says is checked here
    scores, examples = card.get("validation"), card.get("examples")
    return Facts(
        name=name,
        about=str(card.get("about") or "")[:500],
        input="picture" if trained.sees else "text",
        output="continuation" if trained.writes else "answer",
        attention=any(isinstance(part, Attention) for part in trained.model.modules()),
        examples=[str(each)[:200] for each in examples[:8]] if isinstance(examples, list) else [],
        beam=1 if trained.writes else trained.decode.beam,
        scores={
            str(key): float(value)
            for key, value in (scores if isinstance(scores, dict) else {}).items()
            if isinstance(value, int | float)
        },
        limits=Bounds(
            characters=limits.characters,
            beam=limits.beam,
            nbest=limits.nbest,
            bytes=limits.bytes,
            pixels=limits.pixels,
            length=limits.length,
        ),
    )


def _refuse(options: Mapping[str, object], why: str) -> None:
    for option, value in options.items():
        if value is not None and value is not False:
            raise RefusedError(422, "invalid", f"{option}: {why}")


def _within(name: str, value: int, most: int) -> None:
    if value > most:
        raise RefusedError(422, "too_much", f"{name}: wanted at most {most}, got {value}")
