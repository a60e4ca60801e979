"""The alignment matrix: which source symbols each target symbol looked at."""

import math
import unicodedata
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.patches import Rectangle

from regard.look import style
from regard.look.page import MARGIN, TITLE, Page
from regard.look.style import Theme
from regard.look.trace import END

# How far the end stands apart, in cells.
_APART = 0.4
# From this many symbols on, the tokens stand on both sides: far cells are far from either.
_LONG = 40
# The widths of the colour bar with its numbers, and of the space before it, in inches.
_BAR, _BEFORE = 0.7, 0.16


def alignment(
    weights: Float[np.ndarray, "time source"],
    source: Sequence[str],
    target: Sequence[str],
    *,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """The alignment matrix: row t, column j has the weight α_tj of source j for target t.

    Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and
    Translate", ICLR 2015, figure 3. The colours begin at 0; they end at 1, or at the next round
    number above the largest weight where all weights are small. What went to the end of the
    source, which is often what had nowhere else to go, stands apart.
    """
    check("alignment", weights, 2, source, target)
    matrix = Matrix(source, target)
    top = MARGIN + (TITLE if title else 0.0) + matrix.above
    page = Page(
        MARGIN + matrix.beside + matrix.width + matrix.after,
        top + matrix.height + matrix.below + MARGIN,
        title=title,
        dark=dark,
    )
    matrix.draw(page, weights, MARGIN + matrix.beside, top, ceiling=highest(weights))
    return page.figure


class Matrix:
    """A matrix with its tokens and its colour bar: how large it is, and how it is drawn."""

    def __init__(
        self, source: Sequence[str], target: Sequence[str], *, largest: float = 0.36
    ) -> None:
        self.columns, self.rows = Side(source), Side(target)
        longer = max(len(source), len(target))
        cell = min(max(12.0 / longer, 0.15), min(largest, 0.36))
        self.points = min(10.0, 0.66 * 72 * cell)
        self.width, self.height = cell * self.columns.length, cell * self.rows.length
        self.beside = self._longest(self.rows.labels) + 0.1
        longest = self._longest(self.columns.labels)
        self.angle = 90 if len(source) > 32 else 45
        if longest <= 0.9 * cell:
            self.angle = 0
        slope = math.radians(self.angle)
        line = self.points / 72
        self.above = 0.08 + longest * math.sin(slope) + line * (0.0 if self.angle == 90 else 1.0)
        self.twice = longer >= _LONG
        self.below = self.above if self.twice else 0.0
        leaning = longest * math.cos(slope) if self.angle == 45 else 0.0
        right = self.beside if self.twice else 0.0
        self.bar = self.width + right + _BEFORE
        self.after = MARGIN + max(right + _BAR, leaning)

    def _longest(self, labels: Sequence[str]) -> float:
        """About as wide as the widest label will be; the true width takes a renderer."""
        ems = [
            sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.62 for c in label)
            for label in labels
        ]
        return max(ems) * self.points / 72

    def draw(
        self,
        page: Page,
        weights: Float[np.ndarray, "time source"],
        left: float,
        top: float,
        *,
        ceiling: float,
    ) -> None:
        """The cells with a token for each row and column, and a colour bar."""
        axes = page.axes(left, top, self.width, self.height)
        for spine in axes.spines.values():
            spine.set_visible(False)
        for rows in self.rows.parts:
            for columns in self.columns.parts:
                image = self._block(axes, weights, rows, columns, ceiling, page.theme)
        self.columns.measure(axes.xaxis)
        self.rows.measure(axes.yaxis)
        axes.set(xlim=self.columns.limits, ylim=self.rows.limits[::-1])
        axes.grid(which="minor", color=page.theme.paper, linewidth=0.6)
        axes.tick_params(which="minor", length=0)
        self._label(axes, page.theme)
        bar(page, image, left + self.bar, top, min(self.height, 2.4), ceiling)

    def _block(
        self,
        axes: Axes,
        weights: Float[np.ndarray, "time source"],
        rows: slice,
        columns: slice,
        ceiling: float,
        theme: Theme,
    ) -> AxesImage:
        left, right = self.columns.edges(columns)
        top, bottom = self.rows.edges(rows)
        image = cells(axes, weights[rows, columns], ceiling, theme, (left, right, bottom, top))
        axes.add_patch(
            Rectangle(
                (left, top), right - left, bottom - top, fill=False, edgecolor=theme.faint,
                linewidth=0.8, clip_on=False, zorder=3,
            )
        )  # fmt: skip
        return image

    def _label(self, axes: Axes, theme: Theme) -> None:
        """Source tokens along the top, target tokens down the side; the ends fainter."""
        axes.xaxis.set_tick_params(
            which="both", top=True, bottom=False, labeltop=True, labelbottom=self.twice
        )
        axes.yaxis.set_tick_params(labelright=self.twice)
        flat = self.angle == 0
        vertical = "baseline" if self.angle < 90 else "center_baseline"
        for tick in axes.xaxis.get_major_ticks():
            for text, ha in ((tick.label1, "right"), (tick.label2, "left")):
                text.set(rotation=self.angle, rotation_mode="anchor", va=vertical,
                         ha="center" if flat else ha)  # fmt: skip
            if flat:
                tick.label1.set_verticalalignment("top")
        self.columns.dress(axes.xaxis, self.points, theme)
        self.rows.dress(axes.yaxis, self.points, theme)
        axes.tick_params(length=0, pad=4)


class Side:
    """The tokens along one side of a matrix, with the end apart from what comes before."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.labels = [style.printable(token) for token in tokens]
        self.ends = len(tokens) > 1 and tokens[-1] == END
        self.places = np.arange(len(tokens), dtype=float)
        self.parts = [slice(0, len(tokens))]
        if self.ends:
            self.places[-1] += _APART
            self.parts = [slice(0, len(tokens) - 1), slice(len(tokens) - 1, len(tokens))]
        self.limits = (-0.5, float(self.places[-1]) + 0.5)
        self.length = self.limits[1] - self.limits[0]

    def edges(self, part: slice) -> tuple[float, float]:
        """Where a part begins and where it is over."""
        inside = self.places[part]
        return float(inside[0]) - 0.5, float(inside[-1]) + 0.5

    def measure(self, axis: Axis) -> None:
        """A tick for each token, and one between each two cells that touch."""
        axis.set_ticks(self.places, self.labels)
        axis.set_ticks([place - 0.5 for part in self.parts for place in self.places[part][1:]],
                       minor=True)  # fmt: skip

    def dress(self, axis: Axis, size: float, theme: Theme) -> None:
        """The labels in fonts that have their letters, the end fainter."""
        for place, tick in enumerate(axis.get_major_ticks()):
            colour = theme.dim if self.ends and place == len(self.labels) - 1 else theme.ink
            for text in (tick.label1, tick.label2):
                # Tokens such as `$` are no formulas.
                text.set(family=style.fonts(), size=size, color=colour, parse_math=False)


def cells(
    axes: Axes,
    weights: Float[np.ndarray, "time source"],
    ceiling: float,
    theme: Theme,
    extent: tuple[float, float, float, float] | None = None,
) -> AxesImage:
    """Weights as coloured cells."""
    axes.set_facecolor(theme.paper)
    return axes.imshow(
        weights, cmap=theme.weights, vmin=0.0, vmax=ceiling, aspect="auto",
        interpolation="nearest", extent=extent,
    )  # fmt: skip


def bar(
    page: Page, image: AxesImage, left: float, top: float, height: float, ceiling: float
) -> None:
    """What the colours of an image mean."""
    axes = page.axes(left, top, 0.09, height)
    drawn = page.figure.colorbar(image, cax=axes, ticks=[0.0, ceiling / 2, ceiling], format="%g")
    drawn.outline.set_visible(False)
    axes.tick_params(length=0, pad=3, labelsize=7.5, labelcolor=page.theme.ink)


def highest(weights: np.ndarray) -> float:
    """Where the colours end: attention over many sources would be invisible on a scale to 1."""
    tops = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
    return next((top for top in tops if weights.max() <= top), 1.0)


def check(
    where: str, weights: np.ndarray, axes: int, source: Sequence[object], target: Sequence[str]
) -> None:
    """Refuse weights that do not fit the tokens, or are no numbers."""
    wanted = (len(target), len(source))
    if weights.ndim != axes or weights.shape[-2:] != wanted or not weights.size:
        raise ValueError(
            f"{where}: wanted weights of {axes} axes that end in (target, source) = {wanted}, "
            f"got shape {weights.shape}; pass the tokens that the model saw, ends included"
        )
    if not np.isfinite(weights).all():
        raise ValueError(
            f"{where}: wanted finite weights, got NaN or infinity; "
            "cut the padding off before drawing"
        )
