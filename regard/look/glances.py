"""Where a model looked while it described one picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from PIL import Image

from regard.data.images import Box, Picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Glances:
    """A picture, the words that were said of it, and where the model looked for each."""

    image: Picture
    target: list[str]
    weights: Float[np.ndarray, "time row column"]
    region: Box
    """The part of the picture that the grid covers: left, top, right, bottom."""

    @property
    def source(self) -> list[str]:
        """The fields, by row and column."""
        rows, columns = self.weights.shape[1:]
        return [f"{row},{column}" for row in range(rows) for column in range(columns)]

    @property
    def alignment(self) -> Float[np.ndarray, "time source"]:
        """The weights as one row for each word."""
        return self.weights.reshape(len(self.target), -1)

    def bright(self, word: int) -> Float[np.ndarray, "height width"]:
        """How brightly each pixel is shown for a word, from 0 to 1.

        The grid is enlarged smoothly onto its region and spread over the whole range, as in the
        figures of Xu et al., 2015; what the backbone never saw is dark.
        """
        left, top, right, bottom = (round(edge) for edge in self.region)
        field = Image.fromarray(self.weights[word].astype(np.float32))
        smooth = np.asarray(field.resize((right - left, bottom - top), Image.Resampling.BICUBIC))
        low, high = float(smooth.min()), float(smooth.max())
        spread = (smooth - low) / (high - low) if high - low > 1e-9 else np.ones_like(smooth)
        light = np.zeros((self.image.height, self.image.width), np.float32)
        light[top:bottom, left:right] = spread
        return light

    def figure(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """The picture itself, then once per word, bright where the model looked."""
        from regard.look.overlay import overlay

        return overlay(self, title=title, dark=dark)

    def save(self, path: str | Path, *, heads: bool = False, dark: bool = False) -> Path:
        """Draw into a PNG, SVG or PDF file, by its suffix."""
        from regard.look.style import save

        if heads:
            raise ValueError("--heads: is for models of text; a picture is drawn once per word")
        return save(self.figure(dark=dark), Path(path))
