"""The picture once per word, bright where the model looked; and sheets of many pictures."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

from regard.data.images import Picture
from regard.look import style
from regard.look.places import Photo

# All lengths are inches, and y goes down from the top of the page.
_MARGIN, _GAP = 0.15, 0.1
_PANEL, _LABEL, _TITLE, _COLUMNS = 1.7, 0.3, 0.35, 6
_SHEET, _BELOW = 2.4, 0.62
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

    Xu et al., "Show, Attend and Tell", ICML 2015, figures 3 and 5.
    """
    theme, image = style.theme(dark=dark), reduced(photo.image)
    panels = len(said) + 1
    columns = min(_COLUMNS, panels)
    rows = math.ceil(panels / columns)
    tall = _PANEL * min(2.0, max(0.4, image.height / image.width))
    top = _MARGIN + (_TITLE if title else 0.0)
    figure = _page(columns, _PANEL, top + _MARGIN + rows * (tall + _LABEL), theme)
    if title:
        _write(figure, _MARGIN, _MARGIN, title, theme, size=11.0)
    pixels = np.asarray(image, np.float32) / 255
    for panel in range(panels):
        row, column = divmod(panel, columns)
        x, y = _MARGIN + column * (_PANEL + _GAP), top + row * (tall + _LABEL)
        axes = _place(figure, x, y + _LABEL, _PANEL, tall)
        if panel == 0:
            axes.imshow(pixels, aspect="auto")
            continue
        light = resized(photo.bright(weights[panel - 1]), image.size)[..., None]
        axes.imshow(pixels * (_DARKEST + (1 - _DARKEST) * light), aspect="auto")
        word = style.printable(said[panel - 1])
        _write(figure, x + _PANEL / 2, y + 0.08, word, theme, size=9.0, ha="center")
    return figure


def contact_sheet(
    captioned: Sequence[tuple[Picture, str]], *, columns: int = 4, dark: bool = False
) -> Figure:
    """Many pictures with their captions below, in rows."""
    if not captioned:
        raise ValueError("contact sheet: wanted at least one picture, got none")
    theme = style.theme(dark=dark)
    columns = min(columns, len(captioned))
    rows = math.ceil(len(captioned) / columns)
    figure = _page(columns, _SHEET, 2 * _MARGIN + rows * (_SHEET + _BELOW), theme)
    for number, (image, caption) in enumerate(captioned):
        row, column = divmod(number, columns)
        x, y = _MARGIN + column * (_SHEET + _GAP), _MARGIN + row * (_SHEET + _BELOW)
        axes = _place(figure, x, y, _SHEET, _SHEET)
        axes.imshow(np.asarray(reduced(image)))
        axes.set_anchor("S")  # a wide picture stands on its caption
        text = wrapped(caption)
        _write(figure, x + _SHEET / 2, y + _SHEET + 0.05, text, theme, size=7.5, ha="center")
    return figure


def _page(columns: int, side: float, height: float, theme: style.Theme) -> Figure:
    width = 2 * _MARGIN + columns * side + (columns - 1) * _GAP
    return Figure(figsize=(width, height), facecolor=theme.paper)


def _place(figure: Figure, x: float, y: float, wide: float, tall: float) -> Axes:
    width, height = figure.get_size_inches()
    axes = figure.add_axes((x / width, 1 - (y + tall) / height, wide / width, tall / height))
    axes.set_axis_off()
    return axes


def _write(
    figure: Figure,
    x: float,
    y: float,
    text: str,
    theme: style.Theme,
    *,
    size: float,
    ha: str = "left",
) -> None:
    width, height = figure.get_size_inches()
    figure.text(
        x / width, 1 - y / height, text, ha=ha, va="top", size=size, color=theme.ink,
        family=style.fonts(), parse_math=False,
    )  # fmt: skip


def reduced(image: Picture, *, most: int = 400) -> Picture:
    """A picture no larger than a panel can show."""
    small = image.copy()
    small.thumbnail((most, most))
    return small


def resized(
    light: Float[np.ndarray, "height width"], size: tuple[int, int]
) -> Float[np.ndarray, "rows columns"]:
    """Brightness at another size."""
    return np.asarray(Image.fromarray(light).resize(size, Image.Resampling.BILINEAR)).clip(0, 1)


def wrapped(text: str, *, width: int = 38, lines: int = 3) -> str:
    """A caption on at most so many lines."""
    return "\n".join(textwrap.wrap(text, width, max_lines=lines, placeholder=" …"))
