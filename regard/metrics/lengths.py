"""Scores by the length of the source: the question that attention was invented for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int

from regard.metrics.base import Metric
from regard.metrics.bootstrap import Interval, interval

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Fewer sentences than this say nothing about a bucket.
_FEWEST = 20
_BUCKETS = 8


@dataclass(frozen=True, slots=True)
class Row:
    """The score of the sentences whose length is from `low` to `high`, both included."""

    low: int
    high: int
    count: int
    interval: Interval

    @property
    def label(self) -> str:
        """Such as `10–19`, or `7` where only one length is possible."""
        return str(self.low) if self.low == self.high else f"{self.low}–{self.high}"


def by_length(
    metric: Metric,
    statistics: Float[np.ndarray, "sentence count"],
    lengths: Sequence[int],
    *,
    edges: Sequence[int] | None = None,
    samples: int = 1000,
    seed: int = 1,
) -> list[Row]:
    """The score and its interval in each bucket of source lengths, as in Bahdanau's figure 2.

    `edges` are the lengths at which a new bucket begins, so [10, 20] makes three buckets: up to
    9, 10 to 19, 20 and more. Without them, buckets are of a round width, and neighbours are
    joined until each has 20 sentences. No sentence is left out; empty buckets are.
    Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and
    Translate", ICLR 2015.
    """
    if not len(lengths) or len(lengths) != len(statistics):
        raise ValueError(
            f"by_length, {metric.name}: wanted one source length per sentence, got "
            f"{len(lengths)} lengths for {len(statistics)} sentences; take them from the same file"
        )
    sizes = np.asarray(lengths, dtype=np.int64)
    starts = _automatic_edges(sizes) if edges is None else _checked(edges)
    bounds = [int(sizes.min()), *starts, int(sizes.max()) + 1]
    rows = []
    # An edge beyond the shortest or the longest sentence makes low > high: an empty bucket.
    for low, after in pairwise(bounds):
        inside = statistics[(sizes >= low) & (sizes < after)]
        if len(inside):
            result = interval(metric, inside, samples=samples, seed=seed)
            rows.append(Row(low, after - 1, len(inside), result))
    return rows


def plot_by_length(
    rows_by_name: dict[str, list[Row]], metric_name: str, *, dark: bool = False
) -> "Figure":
    """The rows of one or more systems as points with error bars over the buckets of length."""
    from regard.look import style

    rows = _common_buckets(rows_by_name)
    figure, axes = style.chart(width=max(4.5, 1.2 + 0.75 * len(rows)), height=3.2, dark=dark)
    places = np.arange(len(rows))
    spread = 0.12 * (np.arange(len(rows_by_name)) - (len(rows_by_name) - 1) / 2)
    for (name, each), shift, colour in zip(
        rows_by_name.items(), spread, style.colours(len(rows_by_name), dark=dark), strict=True
    ):
        scores = np.array([row.interval.score for row in each])
        # A percentile interval of a skewed score may lie beside the score itself.
        below = np.maximum(0.0, scores - [row.interval.low for row in each])
        above = np.maximum(0.0, [row.interval.high for row in each] - scores)
        axes.errorbar(
            places + shift, scores, yerr=[below, above], label=name, color=colour,
            marker="o", markersize=4.5, linewidth=1.6, elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
    axes.set_xticks(places, [f"{row.label}\nn = {row.count:,}" for row in rows])
    axes.set_xlabel("source length (tokens)")
    axes.set_ylabel(metric_name)
    if len(rows_by_name) > 1:
        for text in axes.legend(frameon=False, labelcolor=style.theme(dark=dark).ink).get_texts():
            text.set(family=style.fonts(), parse_math=False)
    return figure


def _common_buckets(rows_by_name: dict[str, list[Row]]) -> list[Row]:
    buckets = {name: [(r.low, r.high) for r in rows] for name, rows in rows_by_name.items()}
    if not rows_by_name or any(each != next(iter(buckets.values())) for each in buckets.values()):
        raise ValueError(
            f"plot_by_length: wanted the same buckets for each of one or more systems, got "
            f"{buckets}; score all on one test set, or give by_length the same edges"
        )
    return next(iter(rows_by_name.values()))


def _checked(edges: Sequence[int]) -> list[int]:
    if sorted(set(edges)) != list(edges):
        raise ValueError(
            f"by_length: wanted edges that increase, got {list(edges)}; sort them, each once"
        )
    return list(edges)


def _automatic_edges(lengths: Int[np.ndarray, " sentence"]) -> list[int]:
    """Multiples of a round width, of which those stay that close a bucket with enough in it."""
    first, last = int(lengths.min()), int(lengths.max())
    # The few longest sentences must not set the width for all the others.
    typical = float(np.quantile(lengths, 0.98)) - first + 1
    width = next(
        nice for power in range(9) for nice in (10**power, 2 * 10**power, 5 * 10**power)
        if typical / nice <= _BUCKETS
    )  # fmt: skip
    edges: list[int] = []
    for edge in range(first - first % width + width, last + 1, width):
        begin = edges[-1] if edges else first
        enough_before = np.sum((lengths >= begin) & (lengths < edge)) >= _FEWEST
        if enough_before and np.sum(lengths >= edge) >= _FEWEST:
            edges.append(edge)
    return edges
