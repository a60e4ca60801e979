"""The trained models that a server offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import regard
from regard.attention.base import Attention
from regard.serve.limits import Limits
from regard.serve.offered import Answerer, How
from regard.serve.wire import Bounds, Facts
from regard.serve.writing import Writing
from regard.tasks.decode import Decode, Sampling

if TYPE_CHECKING:
    from regard.serve.groups import Going


class Served(Answerer):
    """A trained model under a name."""

    def __init__(self, name: str, trained: Any, limits: Limits) -> None:
        super().__init__(facts(name, trained, limits), limits)
        self.trained = trained

    def size(self, given: Any) -> int:
        return len(given) if self.writes else self.trained.size(given)

    def ask(
        self, inputs: Sequence[Any], how: How, prefixes: Sequence[str | list[str] | None]
    ) -> Going:
        sampling = None if how.sample is None else Sampling(**how.sample.model_dump())
        if self.writes:
            return Writing(self.trained, inputs, length=how.length, sampling=sampling)
        own: Decode = self.trained.decode
        asking: Going = self.trained.ask(
            inputs,
            decode=own.asked(beam=how.beam, nbest=how.nbest, sampled=sampling is not None),
            sampling=sampling,
            prefixes=prefixes,
            trace=how.trace,
        )
        return asking


def named(folders: Iterable[str]) -> dict[str, str]:
    """Folders by the names of the models in them, which are their own."""
    found: dict[str, str] = {}
    for folder in folders:
        name = Path(folder).resolve().name
        if name in found:
            raise ValueError(
                f"{folder}: wanted a name for each model, got {name!r} twice; rename a folder"
            )
        found[name] = folder
    return found


def load(
    folders: Mapping[str, str], limits: Limits, *, trust: tuple[str, ...] = ()
) -> dict[str, Served]:
    """The models in some folders."""
    return {
        name: Served(name, regard.load(folder, trust=trust), limits)
        for name, folder in folders.items()
    }


def facts(name: str, trained: Any, limits: Limits) -> Facts:
    """What is known of a model; its card is a file like any other, and may say anything."""
    card: dict[str, Any] = trained.card
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
