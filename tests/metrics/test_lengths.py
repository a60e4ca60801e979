from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from regard.metrics import ExactMatch, by_length, plot_by_length


def right_below(lengths, limit):
    """Counts of exact match for a system that is right on sources shorter than the limit."""
    return np.stack([np.asarray(lengths) < limit, np.ones(len(lengths))], axis=1).astype(float)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=200))
def test_automatic_buckets_lose_no_sentence_and_are_never_small(lengths):
    rows = by_length(ExactMatch(), right_below(lengths, 50), lengths, samples=2)
    assert sum(row.count for row in rows) == len(lengths)
    assert all(row.count >= min(20, len(lengths)) for row in rows)
    assert rows[0].low == min(lengths)
    assert rows[-1].high == max(lengths)
    assert all(a.high + 1 == b.low for a, b in pairwise(rows))


def test_automatic_buckets_are_round_and_not_many():
    lengths = np.random.default_rng(0).integers(1, 60, 3000).tolist()
    rows = by_length(ExactMatch(), right_below(lengths, 30), lengths, samples=2)
    assert [row.low for row in rows] == [1, 10, 20, 30, 40, 50]


def test_scores_belong_to_their_buckets():
    lengths = [3, 9, 10, 19, 20, 45]
    rows = by_length(ExactMatch(), right_below(lengths, 15), lengths, edges=[10, 20])
    assert [(r.low, r.high, r.count) for r in rows] == [(3, 9, 2), (10, 19, 2), (20, 45, 2)]
    assert [row.interval.score for row in rows] == [100, 50, 0]
    assert [row.label for row in rows] == ["3–9", "10–19", "20–45"]


def test_empty_buckets_are_left_out():
    rows = by_length(ExactMatch(), np.ones((2, 2)), [12, 31], edges=[5, 10, 20, 30, 90])
    assert [(row.low, row.high) for row in rows] == [(10, 19), (30, 89)]


def test_plot_shows_every_system_and_bucket():
    lengths = np.random.default_rng(0).integers(1, 61, 600).tolist()
    rows = {
        name: by_length(ExactMatch(), right_below(lengths, limit), lengths, samples=20)
        for name, limit in {"without": 20, "with attention": 50}.items()
    }
    figure = plot_by_length(rows, "exact match")
    assert isinstance(figure, Figure)
    (axes,) = figure.axes
    assert axes.get_ylabel() == "exact match"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == list(rows)
    ticks = [text.get_text() for text in axes.get_xticklabels()]
    assert ticks == [f"{row.label}\nn = {row.count}" for row in rows["without"]]
    drawn = [container.lines[0].get_ydata().tolist() for container in axes.containers]
    assert drawn == [[row.interval.score for row in each] for each in rows.values()]


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="got 3 lengths for 2 sentences"):
        by_length(ExactMatch(), np.ones((2, 2)), [1, 2, 3])
    with pytest.raises(ValueError, match="edges that increase"):
        by_length(ExactMatch(), np.ones((2, 2)), [1, 2], edges=[9, 3])
    rows = by_length(ExactMatch(), np.ones((2, 2)), [1, 20], edges=[10])
    with pytest.raises(ValueError, match="the same buckets"):
        plot_by_length({"a": rows, "b": rows[:1]}, "exact match")
    with pytest.raises(ValueError, match="one or more systems"):
        plot_by_length({}, "exact match")
