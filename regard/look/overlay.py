"""The picture once per word, bright where the model looked; and sheets of many pictures."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image

from regard.data.images import Picture, reduced
from regard.look import style
from regard.look.page import MARGIN, TITLE, Page
from regard.look.places import Photo
from regard.look.style import Theme

# All lengths are inches.
_GAP, _PANEL, _LABEL, _COLUMNS = 0.1, 1.7, 0.3, 6
_SHEET, _BELOW, _LINE = 2.4, 0.17, 0.15
_SMALL, _MANY, _WIDE = 1.05, 10, 150
# How much is left of a picture where nobody looked.
_DARKEST = 0.15


def overlay(
    photo: Photo,
    said: Sequence[str],
    weights: Float[np.ndarray, "time field"],
    *,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """The picture itself, then once per word, bright where the model looked.

    Xu et al., "Show, Attend and Tell", ICML 2015, figures 3 and 5. Hard attention looks at one
    field only, which has a frame.
    """
    seen = Strip(photo, said, weights)
    columns = min(_COLUMNS, len(said) + 1)
    top = MARGIN + (TITLE if title else 0.0)
    tall = seen.tall(_PANEL, columns)
    page = Page(_across(columns, _PANEL), top + MARGIN + tall, title=title, dark=dark)
    seen.draw(page, top, _PANEL, columns)
    return page.figure


def strips(rows: Sequence[tuple[Strip, str]], *, dark: bool = False) -> Figure:
    """Several pictures, each with a text above it and once per word beside it."""
    texts = [wrapped(text, width=_WIDE) for _, text in rows]
    above = [_BELOW + _LINE * len(text.splitlines()) for text in texts]
    tall = [seen.tall(_SMALL, _MANY) + _GAP for seen, _ in rows]
    page = Page(_across(_MANY, _SMALL), 2 * MARGIN + sum(above) + sum(tall), dark=dark)
    y = MARGIN
    for (seen, _), text, room, own in zip(rows, texts, above, tall, strict=True):
        page.write(MARGIN, y + 0.05, text, size=8.5)
        seen.draw(page, y + room, _SMALL, _MANY)
        y += room + own
    return page.figure


class Strip(NamedTuple):
    """A picture itself, then once per word, in rows of panels."""

    photo: Photo
    said: Sequence[str]
    weights: Float[np.ndarray, "time field"]

    def _panel(self, wide: float) -> float:
        """The height of a panel."""
        width, height = self.photo.image.size
        return wide * min(2.0, max(0.4, height / width))

    def tall(self, wide: float, columns: int) -> float:
        """The height of all rows, with a word above each panel."""
        return math.ceil((len(self.said) + 1) / columns) * (self._panel(wide) + _LABEL)

    def draw(self, page: Page, top: float, wide: float, columns: int) -> None:
        """On a page, below `top`."""
        image, tall = reduced(self.photo.image), self._panel(wide)
        for panel, weights in enumerate([None, *self.weights[: len(self.said)]]):
            row, column = divmod(panel, columns)
            x, y = MARGIN + column * (wide + _GAP), top + row * (tall + _LABEL)
            show(page.axes(x, y + _LABEL, wide, tall), self.photo, image, weights, page.theme)
            if weights is not None:
                word = style.printable(self.said[panel - 1])
                page.write(x + wide / 2, y + 0.08, word, size=9.0, ha="center")


def show(
    axes: Axes,
    photo: Photo,
    image: Picture,
    weights: Float[np.ndarray, " field"] | None,
    theme: Theme,
) -> None:
    """A photo, of which `image` is a copy that may be smaller, bright where the weights are."""
    axes.set_axis_off()
    pixels = np.asarray(image, np.float32) / 255
    if weights is not None:
        light = resized(photo.bright(weights), image.size)[..., None]
        pixels = pixels * (_DARKEST + (1 - _DARKEST) * light)
    axes.imshow(pixels, aspect="auto")
    if weights is not None and weights.max() > 0.999:
        _frame(axes, photo, image, int(weights.argmax()), theme)


def _frame(axes: Axes, photo: Photo, image: Picture, field: int, theme: Theme) -> None:
    """The one field that hard attention chose."""
    scale = image.width / photo.image.width
    left, top, right, bottom = (edge * scale for edge in photo.region)
    rows, columns = photo.grid
    row, column = divmod(field, columns)
    wide, tall = (right - left) / columns, (bottom - top) / rows
    axes.add_patch(
        Rectangle(
            (left + column * wide - 0.5, top + row * tall - 0.5), wide, tall, fill=False,
            edgecolor=theme.accent, linewidth=1.8, clip_on=False,
        )
    )  # fmt: skip


def contact_sheet(
    captioned: Sequence[tuple[Picture, str]], *, columns: int = 4, dark: bool = False
) -> Figure:
    """Many pictures with their captions below, in rows as tall as their captions need."""
    if not captioned:
        raise ValueError("contact sheet: wanted at least one picture, got none")
    columns = min(columns, len(captioned))
    written = [(image, wrapped(caption)) for image, caption in captioned]
    rows = [written[first : first + columns] for first in range(0, len(written), columns)]
    tall = [_SHEET + _BELOW + _LINE * max(len(text.splitlines()) for _, text in r) for r in rows]
    page = Page(_across(columns, _SHEET), 2 * MARGIN + sum(tall), dark=dark)
    for number, row in enumerate(rows):
        for column, (image, text) in enumerate(row):
            x, y = MARGIN + column * (_SHEET + _GAP), MARGIN + sum(tall[:number])
            _captioned(page, x, y, image, text)
    return page.figure


def _captioned(page: Page, x: float, y: float, image: Picture, text: str) -> None:
    axes = page.axes(x, y, _SHEET, _SHEET)
    axes.set_axis_off()
    axes.imshow(np.asarray(reduced(image)))
    axes.set_anchor("S")  # a wide picture stands on its caption
    page.write(x + _SHEET / 2, y + _SHEET + 0.05, text, size=7.5, ha="center")


def _across(columns: int, side: float) -> float:
    return 2 * MARGIN + columns * side + (columns - 1) * _GAP


def resized(
    light: Float[np.ndarray, "height width"], size: tuple[int, int]
) -> Float[np.ndarray, "rows columns"]:
    """Brightness at another size."""
    return np.asarray(Image.fromarray(light).resize(size, Image.Resampling.BILINEAR)).clip(0, 1)


def wrapped(text: str, *, width: int = 38, most: int = 12) -> str:
    """Each line of a caption on as many lines as it needs, up to so many."""
    lines = (
        textwrap.wrap(line, width, max_lines=most, placeholder=" …") for line in text.splitlines()
    )
    return "\n".join(chain.from_iterable(lines))
