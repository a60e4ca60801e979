"""Gradients drawn: how far back they reach, the recurrent matrices, and what clipping does."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator

from regard.look import style
from regard.look.gradients import Clipped, Flow, Matrix, clip_by_value, clipped
from regard.look.probe import Gradients

# What is this much smaller than the largest has vanished; showing more would flatten the rest.
_DEEPEST = 1e-12
_REFERENCES = {"RNN": (0, (1, 2)), "LSTM": (0, (6, 2)), "GRU": (0, (5, 2, 1, 2))}


def flow(
    models: Mapping[str, Gradients],
    *,
    new: Mapping[str, Flow] | None = None,
    clips: Mapping[str, Clipped] | None = None,
    title: str | None = None,
    dark: bool = False,
) -> Figure:
    """Three panels: the flow through time, singular values, clipping.

    Every model has a colour; `new` are cells to compare with, and `clips` marks what clipping by
    value did to each model.
    Pascanu, Mikolov and Bengio, "On the difficulty of training recurrent neural networks",
    ICML 2013.
    """
    theme = style.theme(dark=dark)
    rows = sum(len(_top_matrices(found)) for found in models.values())
    tall = max(5.2, 2.9 + 0.17 * rows)
    figure = Figure(figsize=(10.5, tall), layout="constrained", facecolor=theme.paper)
    if title:
        figure.suptitle(title, x=0.01, ha="left", size=12, color=theme.ink,
                        family=style.fonts(), parse_math=False)  # fmt: skip
    grid = figure.add_gridspec(2, 2, width_ratios=(1.5, 1), height_ratios=(tall - 2.4, 2.4))
    panels = [figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1])]
    paints = dict(zip(models, style.colours(len(models), dark=dark), strict=True))
    for panel in panels:
        style.plain(panel, dark=dark)
    _draw_flow(panels[0], models, paints, new or {}, dark=dark)
    _draw_matrices(panels[1], models, paints, dark=dark)
    _draw_clipping(panels[2], models, paints, clips or {}, dark=dark)
    return figure


def _draw_flow(
    axes: Axes,
    models: Mapping[str, Gradients],
    paints: Mapping[str, str],
    new: Mapping[str, Flow],
    *,
    dark: bool,
) -> None:
    theme = style.theme(dark=dark)
    grey = style.colours(7, dark=dark)[6]
    for kind, part in new.items():
        axes.plot(_seen(part.norms), color=grey, alpha=0.75,
                  linewidth=1.1, linestyle=_REFERENCES[kind], label=f"new {kind}")  # fmt: skip
    for name, found in models.items():
        for part in found.top:
            label = f"{style.printable(name, longest=32)} ({found.kind}), {part.part}"
            dashes = "-" if part.part == "h" else (0, (4, 1.5))
            axes.plot(
                _seen(part.norms), color=paints[name], linewidth=2.0, linestyle=dashes, label=label
            )
    axes.set_yscale("log")
    top = max(float(part.norms.max()) for found in models.values() for part in found.top)
    axes.set_ylim(max(axes.get_ylim()[0], top * _DEEPEST), None)
    axes.yaxis.set_major_locator(LogLocator(numticks=9))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.minorticks_off()
    axes.margins(x=0.01)
    _name(axes, "how far back the gradient reaches", "steps back from the last", theme)
    axes.set_ylabel("norm of the loss gradient by the state (h, c)", size=9)
    legend = axes.legend(
        frameon=False, labelcolor=theme.ink, fontsize=8, handlelength=3.2, ncols=3,
        loc="upper left", bbox_to_anchor=(-0.02, -0.09),
    )  # fmt: skip
    for text in legend.get_texts():
        text.set(family=style.fonts(), parse_math=False)


def _draw_matrices(
    axes: Axes, models: Mapping[str, Gradients], paints: Mapping[str, str], *, dark: bool
) -> None:
    """A line per gate with a stroke for every singular value, and a dot at the largest."""
    theme = style.theme(dark=dark)
    labels: list[str] = []
    for name, found in models.items():
        for matrix in _top_matrices(found):
            row = [len(labels)] * len(matrix.values)
            axes.plot(matrix.values, row, "|", color=paints[name], alpha=0.45, markersize=7)
            axes.plot(matrix.values[:1], row[:1], "o", color=paints[name], markersize=4.5)
            labels.append(f"{found.kind} {matrix.gate}")
    axes.axvline(1.0, color=theme.ink, linewidth=0.8)
    axes.set_yticks(range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0, None)
    axes.grid(visible=False)
    axes.tick_params(axis="y", length=0)
    _name(axes, "singular values of the recurrent matrices", "", theme)


def _draw_clipping(
    axes: Axes,
    models: Mapping[str, Gradients],
    paints: Mapping[str, str],
    clips: Mapping[str, Clipped],
    *,
    dark: bool,
) -> None:
    theme = style.theme(dark=dark)
    for name, found in models.items():
        left, angle = _turning(found)
        axes.plot(left, angle, color=paints[name], linewidth=1.6)
        if name in clips and clips[name].changed:
            mark = clips[name]
            axes.plot(mark.after / mark.before, mark.angle, "o", color=paints[name], markersize=6)
    axes.axhline(0, color=theme.ink, linewidth=1.6)
    axes.annotate("by norm: 0°", (0.01, 0), (-2, 4), textcoords="offset points", ha="right",
                  size=8, color=theme.ink)  # fmt: skip
    axes.set_xscale("log")
    axes.set_xlim(1.0, 0.01)
    axes.set_xticks([1, 0.1, 0.01], ["100 %", "10 %", "1 %"])
    axes.minorticks_off()
    axes.set_ylim(-3, 92)
    axes.set_yticks([0, 30, 60, 90], ["0°", "30°", "60°", "90°"])
    _name(axes, "clipping by value turns the gradient", "norm that is left", theme)


def _name(axes: Axes, title: str, x: str, theme: style.Theme) -> None:
    axes.set_title(title, size=9.5, loc="left", color=theme.ink)
    axes.set_xlabel(x, size=9)


def _turning(found: Gradients) -> tuple[Float[np.ndarray, " step"], Float[np.ndarray, " step"]]:
    """The share of the norm that is left, and the angle, as the threshold falls."""
    largest = float(found.gradient.abs().max())
    thresholds = [float(value) for value in largest * np.geomspace(1.0, 1e-5, 26)]
    results = [clipped(found.gradient, clip_by_value(found.gradient, t), t) for t in thresholds]
    return (
        np.array([each.after / each.before for each in results]),
        np.array([each.angle for each in results]),
    )


def _top_matrices(found: Gradients) -> list[Matrix]:
    return [matrix for matrix in found.matrices if matrix.layer == found.matrices[-1].layer]


def _seen(norms: Float[np.ndarray, " back"]) -> Float[np.ndarray, " back"]:
    """A logarithmic axis has no place for 0."""
    return np.where(norms > 0, norms, np.nan)
