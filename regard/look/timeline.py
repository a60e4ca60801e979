"""Attention over time: which moment of a sound or a video each symbol was said from."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from regard.look import style
from regard.look.matrix import Side, bar, cells, check, highest
from regard.look.page import MARGIN, TITLE, Page

# All lengths are inches, sizes of letters are points.
_WIDTH, _ROW, _SIZE = 7.5, 0.25, 9.0
_MARKS, _AXIS, _AFTER = 0.25, 0.45, 0.85


def timeline(
    weights: Float[np.ndarray, "time step"],
    target: Sequence[str],
    seconds: float,
    marks: Sequence[str] = (),
    *,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """A strip for each symbol along the seconds, dark where the model looked.

    Chorowski et al., "Attention-Based Models for Speech Recognition", NeurIPS 2015, figure 1.
    `marks` name equal parts of the time, such as the phones or the shots, in order.
    """
    check("timeline", weights, 2, range(weights.shape[-1]), target)
    if not seconds > 0:
        raise ValueError(f"timeline: wanted more than 0 seconds, got {seconds}")
    rows = Side(target)
    left = MARGIN + max(style.width(label, size=_SIZE) for label in rows.labels) / 72 + 0.12
    top = MARGIN + (TITLE if title else 0.0) + (_MARKS if marks else 0.0)
    height = rows.length * _ROW
    page = Page(left + _WIDTH + _AFTER, top + height + _AXIS + MARGIN, title=title, dark=dark)
    axes = page.axes(left, top, _WIDTH, height)
    ceiling = highest(weights)
    for part in rows.parts:
        above, below = rows.edges(part)
        extent = (0.0, float(seconds), below, above)
        image = cells(axes, weights[part], ceiling, page.theme, extent)
        # Many steps share a pixel: they are averaged, not dropped.
        image.set_interpolation("antialiased")
    axes.set(xlim=(0, seconds), ylim=rows.limits[::-1])
    _label(axes, rows, page)
    for place, mark in enumerate(marks):
        x = left + _WIDTH * (place + 0.5) / len(marks)
        page.write(x, top - 0.06, mark, size=8.0, ha="center", va="bottom")
        if place:
            axes.axvline(seconds * place / len(marks), color=page.theme.faint, linewidth=0.8)
    bar(page, image, left + _WIDTH + 0.16, top, min(height, 2.4), ceiling)
    return page.figure


def _label(axes: Axes, rows: Side, page: Page) -> None:
    for spine in axes.spines.values():
        spine.set_visible(False)
    rows.measure(axes.yaxis)
    axes.grid(which="minor", axis="y", color=page.theme.paper, linewidth=1.2)
    axes.tick_params(which="both", axis="y", length=0)
    axes.tick_params(axis="x", length=3, labelsize=8, colors=page.theme.ink)
    axes.set_xlabel("seconds", size=8, color=page.theme.ink)
    rows.dress(axes.yaxis, _SIZE, page.theme)
