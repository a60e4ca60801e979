"""Points with labels that keep out of each other's way."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from regard.look import style
from regard.look.style import Theme

MOST = 50
"""Labels that one picture has room for; more points than that are dots."""

# Lengths are points, as sizes of letters are: 72 to the inch.
_SIZE, _HIGH, _LONGEST = 8.0, 10.5, 44
_DOT, _NEAR = 4.5, 7.0
_SHAPES = "os^Dv<>"
_RANKS = ("first", "second")
_Point = Float[np.ndarray, " 2"]
_Box = Float[np.ndarray, " 4"]
_Boxes = Float[np.ndarray, "number 4"]
_Others = Float[np.ndarray, "other 4"]

# A square point that a label or its line covers is as bad as being this many points further away.
_COVERED, _CROSSED = 10.0, 5.0


def scatter(
    places: Float[np.ndarray, "point 2"],
    labels: Sequence[str],
    groups: Sequence[str],
    *,
    shares: Float[np.ndarray, " 2"],
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """Labelled points; a group has a colour and a shape, an axis its share of the variance."""
    theme = style.theme(dark=dark)
    shown = len(labels) <= MOST
    wide = 7.0 + (0.09 * len(labels) if shown else 1.0)
    tall = 0.72 * wide
    figure, axes = style.chart(width=wide, height=tall, dark=dark)
    figure.set_layout_engine("none")
    axes.set_position((0.08, 0.09, 0.9, 0.8))
    axes.grid(visible=False)
    named = list(dict.fromkeys(groups))
    paints = style.colours(len(named), dark=dark)
    for number, (group, paint) in enumerate(zip(named, paints, strict=True)):
        inside = places[[each == group for each in groups]]
        axes.plot(*inside.T, _SHAPES[number % len(_SHAPES)], color=paint, markersize=5.0,
                  alpha=0.9, label=_one_line(group) or "no group")  # fmt: skip
    _frame(axes, places, room=shown)
    _axes(axes, shares, theme)
    if any(named):
        _legend(axes, len(named), theme)
    if title:
        figure.text(0.02, 0.99, title, ha="left", va="top", size=12,
                    color=theme.ink, family=style.fonts(), parse_math=False)  # fmt: skip
    if shown:
        size = np.array([0.9 * wide, 0.8 * tall]) * 72
        _label(axes, places, [_one_line(label) for label in labels], size, theme)
    return figure


def boxes(
    dots: Float[np.ndarray, "point 2"],
    sizes: Sequence[tuple[float, float]],
    page: tuple[float, float],
) -> list[_Box]:
    """A box (left, low, right, high) for each dot: near, and covering no dot, box, line or edge.

    Each box in turn takes the place that costs the least beside all others, three times over.
    """
    own = np.concatenate([dots - _DOT, dots + _DOT], axis=1)
    choices = [_around(dot, size) for dot, size in zip(dots, sizes, strict=True)]
    chosen: list[_Box] = [own[number] for number in range(len(dots))]
    for _ in range(3):
        for number, dot in enumerate(dots):
            others = [
                part
                for other, box in enumerate(chosen)
                if other != number
                for part in (box[None], _line(dots[other], box))
            ]
            chosen[number] = _best(dot, choices[number], np.concatenate([own, *others]), page)
    return chosen


def _best(dot: _Point, choices: _Boxes, taken: _Others, page: tuple[float, float]) -> _Box:
    """The place that covers the least of what is there with its box and its line, and is near."""
    away = np.linalg.norm(np.clip(dot, choices[:, :2], choices[:, 2:]) - dot, axis=1)
    area = (choices[:, 2:] - choices[:, :2]).prod(1)
    beyond = area - _shared(choices, np.array([[0.0, 0.0, *page]]))
    costs = _COVERED * (_shared(choices, taken) + 3 * beyond) + np.maximum(away, _NEAR)
    best, least = choices[0], np.inf
    for place in np.argsort(costs, kind="stable"):
        if costs[place] >= least:
            break
        cost = costs[place] + _CROSSED * _shared(_line(dot, choices[place]), taken).sum()
        if cost < least:
            best, least = choices[place], cost
    return best


def _around(dot: _Point, size: tuple[float, float]) -> _Boxes:
    """Places around a dot: right first, then all around, further and further away."""
    turns = np.radians([0, 180, 90, 270, *range(15, 360, 15)])
    way = np.stack([np.cos(turns), np.sin(turns)], 1)
    far = np.array([6, 12, 20, 30, 42, 56, 72, 90, 115, 145])[:, None, None]
    low = (dot + far * way - np.array(size) * (1 - way) / 2).reshape(-1, 2)
    return np.concatenate([low, low + size], axis=1)


def _line(dot: _Point, box: _Box) -> _Boxes:
    """The line from a dot to its box as a chain of small boxes; none where they are neighbours."""
    near = np.clip(dot, box[:2], box[2:])
    far = float(np.linalg.norm(near - dot))
    if far <= _NEAR:
        return np.empty((0, 4))
    # The first and the last pieces lie on the dot and on the box themselves.
    chain = np.linspace(dot, near, 3 + int(far / _DOT))[2:-1]
    return np.concatenate([chain - 1, chain + 1], axis=1)


def _shared(some: _Boxes, others: _Others) -> Float[np.ndarray, " number"]:
    """The area that each of some boxes has in common with others."""
    low = np.maximum(some[:, None, :2], others[None, :, :2])
    high = np.minimum(some[:, None, 2:], others[None, :, 2:])
    return np.asarray(np.clip(high - low, 0.0, None).prod(-1).sum(-1))


def _label(
    axes: Axes,
    places: Float[np.ndarray, "point 2"],
    labels: Sequence[str],
    size: _Point,
    theme: Theme,
) -> None:
    """Labels in free places, with a thin line to a dot that is not next to its label."""
    low, high = np.transpose([axes.get_xlim(), axes.get_ylim()])
    unit = (high - low) / size
    dots = (places - low) / unit
    sizes = [(style.width(label, size=_SIZE) + 2, _HIGH) for label in labels]
    for dot, label, box in zip(dots, labels, boxes(dots, sizes, (size[0], size[1])), strict=True):
        x, y = low + box[:2] * unit
        axes.text(x, y, label, size=_SIZE, color=theme.ink, ha="left", va="bottom",
                  family=style.fonts(), parse_math=False,
                  bbox={"facecolor": theme.paper, "edgecolor": "none", "pad": 0.4})  # fmt: skip
        near = np.clip(dot, box[:2], box[2:])
        if np.linalg.norm(near - dot) > _NEAR:
            ends = low + np.array([dot, near]) * unit
            axes.plot(*ends.T, color=theme.ink, alpha=0.45, linewidth=0.6, zorder=0.5)


def _frame(axes: Axes, places: Float[np.ndarray, "point 2"], *, room: bool) -> None:
    """Limits around the points, with room for labels, and never of no size."""
    low, high = places.min(0), places.max(0)
    span = np.maximum(high - low, 0.02 * float((high - low).max()))
    middle = (low + high) / 2
    half = span * (np.array([0.68, 0.58]) if room else 0.54)
    axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
    axes.set_ylim(middle[1] - half[1], middle[1] + half[1])


def _axes(axes: Axes, shares: Float[np.ndarray, " 2"], theme: Theme) -> None:
    names = [
        f"{n} principal axis ({s:.0%} of the variance)" for n, s in zip(_RANKS, shares, strict=True)
    ]
    axes.set_xlabel(names[0], size=9, color=theme.ink)
    axes.set_ylabel(names[1], size=9, color=theme.ink)


def _legend(axes: Axes, number: int, theme: Theme) -> None:
    legend = axes.legend(
        frameon=False, labelcolor=theme.ink, fontsize=8.5, loc="lower left",
        bbox_to_anchor=(0.0, 1.0), ncols=min(number, 5), handletextpad=0.2, borderaxespad=0.2,
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(family=style.fonts(), parse_math=False)


def _one_line(text: str) -> str:
    """A text with its blanks, cut short, without what cannot be drawn."""
    words = " ".join(style.printable(word, longest=_LONGEST) for word in text.split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1].rstrip() + "…"
