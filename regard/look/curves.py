"""How a training went: its losses and what validation said, from the log in a model's folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from regard.look import style

LOG = "log.jsonl"
_SMOOTH = 0.9


@dataclass(frozen=True)
class Curves:
    """Values by update, of each thing that was logged: `loss`, `rate`, `valid/bleu` ..."""

    series: dict[str, list[tuple[int, float]]]

    @property
    def validated(self) -> list[str]:
        """What validation measured, in the order of the recipe's metrics."""
        return [name for name in self.series if name.startswith("valid/")]

    def figure(self, *, dark: bool = False) -> Figure:
        """The loss, smoothed over its noise, and beside it a chart for each validation score."""
        theme = style.theme(dark=dark)
        names = [name for name in ("loss", *self.validated) if name in self.series][:4]
        figure = Figure(
            figsize=(3.1 * len(names), 2.6), layout="constrained", facecolor=theme.paper
        )
        paints = style.colours(len(names), dark=dark)
        for number, (name, paint) in enumerate(zip(names, paints, strict=True), start=1):
            axes = figure.add_subplot(1, len(names), number)
            style.plain(axes, dark=dark)
            updates, values = (np.array(each) for each in zip(*self.series[name], strict=True))
            if name == "loss":
                axes.plot(updates, values, color=paint, alpha=0.25, linewidth=0.8)
                values = smoothed(values)
            axes.plot(updates, values, color=paint, linewidth=1.6)
            if name == "valid/perplexity" and values.max() > 10 * values.min():
                axes.set_yscale("log")
            axes.set_title(name.removeprefix("valid/"), size=9.5, loc="left", color=theme.ink)
            axes.set_xlabel("updates", size=8.5)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        return figure


def read_curves(folder: str | Path) -> Curves | None:
    """The curves of a model's training; None where there is no log of it.

    A training that went on from a checkpoint may have logged an update twice: the later counts.
    """
    try:
        lines = (Path(folder) / LOG).read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    found: dict[str, dict[int, float]] = {}
    for line in lines:
        try:
            row = json.loads(line)
            update = int(row.pop("update"))
            values = {name: float(value) for name, value in row.items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # the last line of a killed run may be half a line
        for name, value in values.items():
            found.setdefault(name, {})[update] = value
    series = {name: sorted(points.items()) for name, points in found.items()}
    return Curves(series) if "loss" in series else None


def smoothed(values: np.ndarray) -> np.ndarray:
    """An exponential moving average that begins at the first value."""
    kept, after = float(values[0]), []
    for value in values.tolist():
        kept = _SMOOTH * kept + (1 - _SMOOTH) * value
        after.append(kept)
    return np.array(after)
