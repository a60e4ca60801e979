"""Every head of every layer as a small matrix, with those that align best marked."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from regard.look import style
from regard.look.align import Best, Gold, best
from regard.look.matrix import Matrix, cells, check, highest
from regard.look.page import MARGIN, TITLE, Page
from regard.look.style import Theme
from regard.look.trace import END

# All lengths are inches.
_GAP = 0.08
_LAYER_LABEL = 0.65
_HEAD_LABEL = 0.28
_LINE, _CAPTION_WIDTH = 0.2, 3.3
# One line style for each measure: colours alone would not do for every eye.
_STYLES = ("-", (0, (3, 1)), (0, (1, 1)))
_UNITS = {"sharpest": "entropy", "most diagonal": "diagonality", "fewest errors": "error rate"}


def heads(
    weights: Float[np.ndarray, "layer head time source"],
    source: Sequence[str],
    target: Sequence[str],
    *,
    gold: Gold | None = None,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """Every head of every layer as a small matrix, and the mean of all of them beside.

    All share one scale. Frames mark the heads that align best by each measure of
    `regard.look.align`; words below name them.
    Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
    """
    check("heads", weights, 4, source, target)
    ends = source[-1] == END and target[-1] == END
    marked = best(weights, gold, ends=ends)
    wide, tall = _panel(weights.shape)
    grid_width, grid_height = weights.shape[1] * (wide + _GAP), weights.shape[0] * (tall + _GAP)
    matrix = Matrix(source, target, largest=max(0.13, grid_height / len(target)))
    left = MARGIN + _LAYER_LABEL
    mean_left = left + max(grid_width, _CAPTION_WIDTH) + 0.35 + matrix.beside
    top = MARGIN + (TITLE if title else 0.0) + max(matrix.above, _HEAD_LABEL)
    words_below = (len(marked) + 0.5) * _LINE
    height = max(grid_height + words_below, matrix.height + matrix.below + 1.5 * _LINE)
    page = Page(mean_left + matrix.width + matrix.after, top + height + MARGIN,
                title=title, dark=dark)  # fmt: skip
    _grid(page, weights, left, top, marked)
    _name_best(page, marked, left, top + grid_height)
    matrix.draw(page, weights.mean(axis=(0, 1)), mean_left, top, ceiling=highest(weights))
    page.write(mean_left, top + matrix.height + matrix.below + _GAP, "mean of all heads", size=8.0)
    return page.figure


def _grid(
    page: Page,
    weights: Float[np.ndarray, "layer head time source"],
    left: float,
    top: float,
    marked: Sequence[Best],
) -> None:
    """A row of small matrices for each layer, with frames around the best."""
    wide, tall = _panel(weights.shape)
    for layer, head in np.ndindex(weights.shape[:2]):
        axes = page.axes(left + head * (wide + _GAP), top + layer * (tall + _GAP), wide, tall)
        cells(axes, weights[layer, head], highest(weights), page.theme)
        for spine in axes.spines.values():
            spine.set(color=page.theme.faint, linewidth=0.8)
        axes.set(xticks=[], yticks=[])
        _name(axes, layer, head, page.theme)
        own = [rank for rank, each in enumerate(marked) if (each.layer, each.head) == (layer, head)]
        _frames(axes, own, (wide, tall), page.theme)


def _frames(axes: Axes, ranks: Sequence[int], size: tuple[float, float], theme: Theme) -> None:
    """A frame for each measure by which a head is the best, one inside the other."""
    for inside, rank in enumerate(ranks):
        x, y = (inside * 0.045 / side for side in size)
        axes.add_patch(
            Rectangle(
                (x, y), 1 - 2 * x, 1 - 2 * y, transform=axes.transAxes, fill=False,
                edgecolor=_colours(theme)[rank], linewidth=2.2, linestyle=_STYLES[rank],
                clip_on=False, zorder=4,
            )
        )  # fmt: skip


def _name_best(page: Page, marked: Sequence[Best], left: float, top: float) -> None:
    """One line for each measure, with the frame that marks it."""
    for rank, each in enumerate(marked):
        y = top + (rank + 0.7) * _LINE
        page.line((left, left + 0.3), (y, y), colour=_colours(page.theme)[rank], width=2.2,
                  style=_STYLES[rank])  # fmt: skip
        words = (
            f"{each.measure}: layer {each.layer + 1}, head {each.head + 1} "
            f"({_UNITS[each.measure]} {each.value:.2f})"
        )
        page.write(left + 0.4, y, words, size=8.0, va="center")


def _colours(theme: Theme) -> list[str]:
    _, _, third, fourth = style.colours(4, dark=theme is style.DARK)
    return [theme.accent, third, fourth]


def _panel(shape: tuple[int, ...]) -> tuple[float, float]:
    """The width and the height of one of many heads: like the whole matrix, within reason."""
    _, columns, time, source = shape
    side = min(1.1, max(0.5, 8.0 / columns))
    slant = math.sqrt(min(max(time / source, 0.5), 2.0))
    return side / slant, side * slant


def _name(axes: Axes, layer: int, head: int, theme: Theme) -> None:
    """Heads are named above the first row, layers beside the first column."""
    if layer == 0:
        axes.set_title(f"head {head + 1}", size=8, color=theme.ink, pad=4)
    if head == 0:
        axes.set_ylabel(
            f"layer {layer + 1}", size=8, color=theme.ink, rotation=0, ha="right", va="center"
        )
