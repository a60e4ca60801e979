"""The alignment matrix: which source symbols each target symbol looked at."""

import math
import unicodedata
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

from regard.look import style
from regard.look.style import Theme

# All lengths are inches, and y goes down from the top of the page.
_MARGIN = 0.15
_TITLE = 0.4
_GAP = 0.08
_LAYER_LABEL = 0.65
_HEAD_LABEL = 0.28
_CAPTION, _CAPTION_WIDTH = 0.35, 1.6
_BAR = 0.7


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
    number above the largest weight where all weights are small.
    """
    _check("alignment", weights, 2, source, target)
    theme = style.theme(dark=dark)
    plan = _Plan(source, target)
    top = _MARGIN + (_TITLE if title else 0.0) + plan.above
    figure = _page(
        _MARGIN + plan.beside + plan.width + plan.after, top + plan.height + _MARGIN, title, theme
    )
    _tokens_and_bar(figure, plan, weights, _MARGIN + plan.beside, top, _ceiling(weights), theme)
    return figure


def heads(
    weights: Float[np.ndarray, "layer head time source"],
    source: Sequence[str],
    target: Sequence[str],
    *,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """Every head of every layer as a small matrix, and the mean of all of them beside.

    All share one scale; a frame marks the sharpest head, see `sharpest`.
    Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
    """
    _check("heads", weights, 4, source, target)
    theme = style.theme(dark=dark)
    wide, tall = _panel(weights.shape)
    grid_width, grid_height = weights.shape[1] * (wide + _GAP), weights.shape[0] * (tall + _GAP)
    plan = _Plan(source, target, largest=max(0.13, grid_height / len(target)))
    left = _MARGIN + _LAYER_LABEL
    mean_left = left + max(grid_width, _CAPTION_WIDTH) + 0.35 + plan.beside
    top = _MARGIN + (_TITLE if title else 0.0) + max(plan.above, _HEAD_LABEL)
    bottom = top + max(grid_height, plan.height) + _CAPTION + _MARGIN
    figure = _page(mean_left + plan.width + plan.after, bottom, title, theme)
    _grid(figure, weights, left, top, theme)
    mean = weights.mean(axis=(0, 1))
    _tokens_and_bar(figure, plan, mean, mean_left, top, _ceiling(weights), theme)
    _caption(figure, mean_left, top + plan.height + _GAP, "mean of all heads", theme.ink)
    return figure


def sharpest(weights: Float[np.ndarray, "layer head time source"]) -> tuple[int, int]:
    """The layer and the head with the lowest mean entropy, which align the most clearly.

    H = -1/T · Σ_t Σ_j α_tj log α_tj; layers and heads are counted from 0.
    """
    # 0 log 0 is 0.
    entropy = -np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=3).mean(axis=2)
    layer, head = np.unravel_index(int(entropy.argmin()), entropy.shape)
    return int(layer), int(head)


class _Plan:
    """Where a matrix with its tokens fits: cells, labels, and what stands out around them."""

    def __init__(
        self, source: Sequence[str], target: Sequence[str], *, largest: float = 0.36
    ) -> None:
        self.source = [style.printable(token) for token in source]
        self.target = [style.printable(token) for token in target]
        cell = min(max(12.0 / max(len(source), len(target)), 0.15), min(largest, 0.36))
        self.points = min(10.0, 0.66 * 72 * cell)
        self.width, self.height = cell * len(source), cell * len(target)
        self.beside = self._longest(self.target) + 0.1
        longest = self._longest(self.source)
        self.angle = 90 if len(source) > 32 else 45
        if longest <= 0.9 * cell:
            self.angle = 0
        slope = math.radians(self.angle)
        line = self.points / 72
        self.above = 0.08 + longest * math.sin(slope) + line * (0.0 if self.angle == 90 else 1.0)
        self.after = _MARGIN + max(_BAR, longest * math.cos(slope) if self.angle == 45 else 0.0)

    def _longest(self, labels: Sequence[str]) -> float:
        """About as wide as the widest label will be; the true width takes a renderer."""
        ems = [
            sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.62 for c in label)
            for label in labels
        ]
        return max(ems) * self.points / 72

    def label(self, axes: Axes, theme: Theme) -> None:
        """Source tokens along the top, target tokens down the side."""
        axes.xaxis.tick_top()
        axes.set_xticks(
            range(len(self.source)), self.source, rotation=self.angle, rotation_mode="anchor",
            ha="center" if self.angle == 0 else "left",
            va="baseline" if self.angle < 90 else "center_baseline",
        )  # fmt: skip
        axes.set_yticks(range(len(self.target)), self.target)
        for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
            # Tokens such as `$` are no formulas.
            text.set(family=style.fonts(), size=self.points, color=theme.ink, parse_math=False)
        axes.tick_params(length=0, pad=4)


def _tokens_and_bar(
    figure: Figure,
    plan: _Plan,
    weights: Float[np.ndarray, "time source"],
    left: float,
    top: float,
    ceiling: float,
    theme: Theme,
) -> None:
    """A matrix with a token for each row and column, its cells apart, and a colour bar."""
    axes = _place(figure, left, top, plan.width, plan.height)
    image = _draw(axes, weights, ceiling, theme)
    plan.label(axes, theme)
    axes.set_xticks(np.arange(1, weights.shape[1]) - 0.5, minor=True)
    axes.set_yticks(np.arange(1, weights.shape[0]) - 0.5, minor=True)
    axes.grid(which="minor", color=theme.paper, linewidth=0.6)
    axes.tick_params(which="minor", length=0)
    bar_axes = _place(figure, left + plan.width + 0.16, top, 0.09, min(plan.height, 2.4))
    bar = figure.colorbar(image, cax=bar_axes, ticks=[0.0, ceiling / 2, ceiling], format="%g")
    bar.outline.set_visible(False)
    bar_axes.tick_params(length=0, pad=3, labelsize=7.5, labelcolor=theme.ink)


def _grid(
    figure: Figure,
    weights: Float[np.ndarray, "layer head time source"],
    left: float,
    top: float,
    theme: Theme,
) -> None:
    """A row of small matrices for each layer, with a frame around the sharpest of all."""
    wide, tall = _panel(weights.shape)
    best = sharpest(weights)
    for layer, head in np.ndindex(weights.shape[:2]):
        x, y = left + head * (wide + _GAP), top + layer * (tall + _GAP)
        axes = _place(figure, x, y, wide, tall)
        _draw(axes, weights[layer, head], _ceiling(weights), theme)
        _name(axes, layer, head, theme)
        if (layer, head) == best:
            _frame(axes, theme)
    words = f"sharpest: layer {best[0] + 1}, head {best[1] + 1}"
    _caption(figure, left, top + weights.shape[0] * (tall + _GAP), words, theme.accent)


def _draw(
    axes: Axes, weights: Float[np.ndarray, "time source"], ceiling: float, theme: Theme
) -> AxesImage:
    for spine in axes.spines.values():
        spine.set_color(theme.faint)
        spine.set_linewidth(0.8)
    axes.set(xticks=[], yticks=[], facecolor=theme.paper)
    return axes.imshow(
        weights, cmap=theme.weights, vmin=0.0, vmax=ceiling, aspect="auto", interpolation="nearest"
    )


def _page(width: float, height: float, title: str | None, theme: Theme) -> Figure:
    figure = Figure(figsize=(width, height), facecolor=theme.paper)
    if title:
        figure.text(
            _MARGIN / width, 1 - _MARGIN / height, title, ha="left", va="top", size=11,
            weight="bold", color=theme.ink, family=style.fonts(), parse_math=False,
        )  # fmt: skip
    return figure


def _place(figure: Figure, x: float, y: float, wide: float, tall: float) -> Axes:
    width, height = figure.get_size_inches()
    return figure.add_axes((x / width, 1 - (y + tall) / height, wide / width, tall / height))


def _caption(figure: Figure, x: float, y: float, words: str, colour: str) -> None:
    width, height = figure.get_size_inches()
    figure.text(x / width, 1 - y / height, words, ha="left", va="top", size=8, color=colour)


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


def _frame(axes: Axes, theme: Theme) -> None:
    for spine in axes.spines.values():
        spine.set_color(theme.accent)
        spine.set_linewidth(2.0)


def _ceiling(weights: np.ndarray) -> float:
    """Where the colours end: attention over many sources would be invisible on a scale to 1."""
    return next(top for top in (0.05, 0.1, 0.2, 0.5, 1.0) if weights.max() <= top or top == 1.0)


def _check(
    where: str, weights: np.ndarray, axes: int, source: Sequence[str], target: Sequence[str]
) -> None:
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
