"""What a model can look at: the symbols of a text, the fields of a picture, the steps of a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from jaxtyping import Float
from PIL import Image

from regard.data.images import Box, Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.look.trace import Trace

Span = tuple[int, int]
"""The first place of a word, and the one behind its last."""


class Place(ABC):
    """Where the weights of an attention lie, and how that is drawn."""

    kind: ClassVar[str]
    name: ClassVar[str]
    views: ClassVar[tuple[str, ...]]
    """Which pictures can be made of it."""

    @property
    def picture(self) -> Picture | None:
        """The photo that was looked at, if it was one."""
        return None

    @property
    @abstractmethod
    def labels(self) -> list[str]:
        """A name for each place."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """For JSON."""

    @abstractmethod
    def figure(self, trace: Trace, *, title: str | None = None, dark: bool = False) -> Figure:
        """The picture that shows best where a model looked here."""

    def frames(self, trace: Trace, *, dark: bool = False) -> list[Picture]:  # noqa: ARG002
        """A frame for each word of an animation, where there is something to animate."""
        raise ValueError(f"animation: is for pictures; this model looked at {self.name}")

    def merged(self) -> tuple[Place, list[Span]]:
        """The same with its symbols merged into words, and which places each of those merges."""
        return self, [(place, place + 1) for place in range(len(self.labels))]


@dataclass(frozen=True)
class Tokens(Place):
    """The symbols of a text, its end included, and where its words are."""

    kind = "text"
    name = "a text"
    views = ("matrix", "arcs", "heads", "tree")
    tokens: list[str]
    words: list[Span]

    @property
    def labels(self) -> list[str]:
        return self.tokens

    def as_dict(self) -> dict[str, Any]:
        return {"tokens": self.tokens, "words": [list(span) for span in self.words]}

    def figure(self, trace: Trace, *, title: str | None = None, dark: bool = False) -> Figure:
        """The alignment matrix."""
        from regard.look.matrix import alignment

        return alignment(trace.alignment, self.tokens, trace.target, title=title, dark=dark)

    def merged(self) -> tuple[Place, list[Span]]:
        spans = whole(self.words, len(self.tokens))
        tokens = [spelt(self.tokens[first:behind]) for first, behind in spans]
        return Tokens(tokens, one_each(self.words, spans)), spans


@dataclass(frozen=True)
class Photo(Place):
    """A picture under a grid, which covers its `region`: left, top, right, bottom."""

    kind = "picture"
    name = "a picture"
    views = ("matrix", "tree", "animation")
    image: Picture
    grid: tuple[int, int]
    region: Box

    @property
    def labels(self) -> list[str]:
        rows, columns = self.grid
        return [f"{row},{column}" for row in range(rows) for column in range(columns)]

    def as_dict(self) -> dict[str, Any]:
        region = [round(edge, 2) for edge in self.region]
        return {"grid": list(self.grid), "region": region, "size": list(self.image.size)}

    def figure(self, trace: Trace, *, title: str | None = None, dark: bool = False) -> Figure:
        """The picture itself, then once per word, bright where the model looked."""
        from regard.look.overlay import overlay

        return overlay(self, trace.said, trace.alignment, title=title, dark=dark)

    def frames(self, trace: Trace, *, dark: bool = False) -> list[Picture]:
        from regard.look.animation import frames

        return frames(self, trace.said, trace.alignment, dark=dark)

    @property
    def picture(self) -> Picture | None:
        return self.image

    def bright(self, weights: Float[np.ndarray, " field"]) -> Float[np.ndarray, "height width"]:
        """How brightly each pixel is shown for these weights, from 0 to 1.

        The grid is enlarged smoothly onto its region and spread over the whole range, as in the
        figures of Xu et al., 2015; what the backbone never saw is dark.
        """
        left, top, right, bottom = (round(edge) for edge in self.region)
        field = Image.fromarray(weights.reshape(self.grid).astype(np.float32))
        smooth = np.asarray(field.resize((right - left, bottom - top), Image.Resampling.BICUBIC))
        low, high = float(smooth.min()), float(smooth.max())
        spread = (smooth - low) / (high - low) if high - low > 1e-9 else np.ones_like(smooth)
        light = np.zeros((self.image.height, self.image.width), np.float32)
        light[top:bottom, left:right] = spread
        return light


@dataclass(frozen=True)
class Timeline(Place):
    """Steps of equal length through a sound or a video, with marks at some of them."""

    kind = "time"
    name = "a sound or video"
    views = ("matrix", "heads", "tree")
    seconds: float
    steps: int
    marks: list[str]

    @property
    def labels(self) -> list[str]:
        return [f"{step * self.seconds / self.steps:.2f} s" for step in range(self.steps)]

    def as_dict(self) -> dict[str, Any]:
        return {"seconds": self.seconds, "steps": self.steps, "marks": self.marks}

    def figure(self, trace: Trace, *, title: str | None = None, dark: bool = False) -> Figure:
        """Time along one axis, what was said along the other."""
        from regard.look.timeline import timeline

        return timeline(
            trace.alignment, trace.target, self.seconds, self.marks, title=title, dark=dark
        )


def whole(words: list[Span], length: int) -> list[Span]:
    """Words, and every symbol that belongs to none, such as the end, by itself."""
    inside = {place for first, behind in words for place in range(first, behind)}
    alone = [(place, place + 1) for place in range(length) if place not in inside]
    return sorted([*words, *alone])


def spelt(tokens: list[str]) -> str:
    """Symbols as one word."""
    return "".join(tokens).removeprefix("▁") or "▁"


def one_each(words: list[Span], spans: list[Span]) -> list[Span]:
    """Where words are once every span is a single symbol."""
    return [(place, place + 1) for place, span in enumerate(spans) if span in words]
