"""The arcs view: what was read above, what was said below, and a curve for every strong look."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from regard.look import style
from regard.look.fonts import leftward
from regard.look.matrix import check
from regard.look.page import MARGIN, TITLE, Page
from regard.look.trace import END

# All lengths are inches, sizes of letters are points.
_HEIGHT, _LETTERS, _BLANK, _APART = 1.7, 0.24, 0.16, 0.3
# More words than this are written smaller.
_MANY = 24


def arcs(
    weights: Float[np.ndarray, "time source"],
    source: Sequence[str],
    target: Sequence[str],
    *,
    least: float = 0.1,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """A curve from each target symbol to the source symbols that it looked at.

    The more weight, the wider and the darker. Weights below `least` are left out, but for the
    strongest of each target symbol. Rows of scripts that run from right to left do so.
    """
    check("arcs", weights, 2, source, target)
    size = 10.0 if max(len(source), len(target)) <= _MANY else 7.5
    above, below = _Row(source, size), _Row(target, size)
    width = max(above.natural, below.natural)
    top = MARGIN + (TITLE if title else 0.0) + _LETTERS
    page = Page(width + 2 * MARGIN, top + _HEIGHT + _LETTERS + MARGIN, title=title, dark=dark)
    canvas = page.canvas()
    starts, ends = above.spread(width), below.spread(width)
    for row, column in _strong(weights, least):
        _curve(canvas, starts[column], ends[row], top, float(weights[row, column]), dark)
    above.write(page, starts, top - 0.05, "bottom")
    below.write(page, ends, top + _HEIGHT + 0.05, "top")
    return page.figure


def _strong(weights: Float[np.ndarray, "time source"], least: float) -> list[tuple[int, int]]:
    """What is drawn, the weakest first, so that the strong lie on top."""
    drawn = {(row, int(best)) for row, best in enumerate(weights.argmax(axis=1))}
    drawn |= {(int(row), int(column)) for row, column in np.argwhere(weights >= least)}
    return sorted(drawn, key=lambda place: (float(weights[place]), place))


class _Row:
    """Symbols beside each other, the end a little apart."""

    def __init__(self, tokens: Sequence[str], size: float) -> None:
        self.labels, self.size = [style.printable(token) for token in tokens], size
        self.mirrored = leftward(tokens)
        self.ends = len(tokens) > 1 and tokens[-1] == END
        self.widths = [style.width(label, size=size) / 72 for label in self.labels]
        self.natural = sum(self.widths) + _BLANK * (len(tokens) - 1) + (_APART if self.ends else 0)

    def spread(self, width: float) -> list[float]:
        """The middles of the symbols, from margin to margin."""
        more = (width - self.natural) / max(len(self.labels) - 1, 1)
        at, middles = MARGIN, []
        for place, wide in enumerate(self.widths):
            if self.ends and place == len(self.widths) - 1:
                at += _APART
            middles.append(at + wide / 2)
            at += wide + _BLANK + more
        return [width + 2 * MARGIN - x for x in middles] if self.mirrored else middles

    def write(self, page: Page, middles: Sequence[float], y: float, va: str) -> None:
        for place, (label, x) in enumerate(zip(self.labels, middles, strict=True)):
            last = self.ends and place == len(self.labels) - 1
            colour = page.theme.dim if last else page.theme.ink
            page.write(x, y, label, size=self.size, colour=colour, ha="center", va=va)


def _curve(canvas: Axes, start: float, end: float, top: float, weight: float, dark: bool) -> None:
    bottom, middle = top + _HEIGHT, top + _HEIGHT / 2
    bend = Path(
        [(start, top), (start, middle), (end, middle), (end, bottom)],
        [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4],
    )
    strength = min(max(weight, 0.0), 1.0)
    canvas.add_patch(
        PathPatch(
            bend, fill=False, edgecolor=style.colours(1, dark=dark)[0],
            linewidth=0.5 + 4 * strength, alpha=0.15 + 0.8 * strength, capstyle="round",
        )
    )  # fmt: skip
