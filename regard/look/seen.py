"""Where a model looked while it said one thing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Seen:
    """The weights of every attention over the source, with the symbols on both axes."""

    source: list[str]
    target: list[str]
    weights: Float[np.ndarray, "layer head time source"]

    @property
    def alignment(self) -> Float[np.ndarray, "time source"]:
        """One matrix: the mean over the heads of the layer that looks most sharply."""
        by_layer = self.weights.mean(axis=1)
        sharpness = (by_layer * np.log(by_layer.clip(1e-9))).sum(-1).mean(-1)
        return np.asarray(by_layer[int(sharpness.argmax())])

    def figure(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """The alignment matrix."""
        from regard.look.matrix import alignment

        return alignment(self.alignment, self.source, self.target, title=title, dark=dark)

    def heads(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """All layers and heads as small multiples."""
        from regard.look.matrix import heads

        return heads(self.weights, self.source, self.target, title=title, dark=dark)

    def save(self, path: str | Path, *, heads: bool = False, dark: bool = False) -> Path:
        """Draw into a PNG, SVG or PDF file, by its suffix."""
        from regard.look.style import save

        save(self.heads(dark=dark) if heads else self.figure(dark=dark), Path(path))
        return Path(path)
