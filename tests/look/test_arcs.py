"""Arcs join the words that they are of, as strongly as the model looked."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.patches import PathPatch

from regard.look import style
from regard.look.arcs import arcs

SOURCE = ["the", "black", "cat", "</s>"]
TARGET = ["le", "chat", "noir", "</s>"]
WEIGHTS = np.array(
    [[0.9, 0.1, 0, 0], [0, 0.06, 0.94, 0], [0.05, 0.8, 0.15, 0], [0.03, 0.03, 0.03, 0.91]]
)


def curves(figure):
    """Each curve with where it begins and ends, across."""
    found = [patch for patch in figure.axes[0].patches if isinstance(patch, PathPatch)]
    return [(p.get_path().vertices[0][0], p.get_path().vertices[-1][0], p) for p in found]


def middles(figure):
    """Where words stand across, by word, above and below."""
    width = figure.get_size_inches()[0]
    placed = [
        (t.get_text(), t.get_position()[0] * width, t.get_position()[1]) for t in figure.texts
    ]
    half = np.mean([y for *_, y in placed])
    above = {word: x for word, x, y in placed if y > half}
    return above, {word: x for word, x, y in placed if y < half}


def test_only_strong_looks_and_each_where_it_belongs():
    figure = arcs(WEIGHTS, SOURCE, TARGET)
    above, below = middles(figure)
    wanted = {
        (above[SOURCE[column]], below[TARGET[row]])
        for row, column in [(0, 0), (0, 1), (1, 2), (2, 1), (2, 2), (3, 3)]
    }
    drawn = {(start, end) for start, end, _ in curves(figure)}
    np.testing.assert_allclose(sorted(drawn), sorted(wanted))


def test_the_strongest_is_there_however_weak():
    assert len(curves(arcs(np.full((4, 4), 0.01), SOURCE, TARGET))) == 4


def test_more_weight_is_wider_and_darker():
    found = [patch for *_, patch in curves(arcs(WEIGHTS, SOURCE, TARGET))]
    for one, other in pairwise(found):
        assert one.get_linewidth() < other.get_linewidth()
        assert one.get_alpha() < other.get_alpha()


def test_the_end_is_fainter_and_apart():
    figure = arcs(WEIGHTS, SOURCE, TARGET)
    inks = {text.get_text(): text.get_color() for text in figure.texts}
    assert inks["</s>"] == style.LIGHT.dim
    assert inks["cat"] == style.LIGHT.ink


def test_hebrew_runs_from_right_to_left():
    hebrew = ["החתול", "השחור", "ישן", "</s>"]
    above, below = middles(arcs(np.eye(4), hebrew, TARGET))
    assert above["החתול"] > above["השחור"] > above["ישן"] > above["</s>"]
    assert below["le"] < below["chat"] < below["noir"] < below["</s>"]
    mixed = ["abcdef", "שלום", "</s>"]
    above, _ = middles(arcs(np.eye(3), mixed, TARGET[:3]))
    assert above["abcdef"] < above["שלום"]


@pytest.mark.parametrize("size", [1, 12, 60])
def test_words_do_not_overlap(size):
    words = [f"w{number}" * (1 + number % 3) for number in range(size)]
    figure = arcs(np.eye(size), words, words, title="$ $")
    figure.canvas.draw()
    boxes = sorted((t.get_window_extent() for t in figure.texts), key=lambda b: (round(b.y0), b.x0))
    assert not any(a.overlaps(b) for a, b in pairwise(boxes))
    assert min(box.x0 for box in boxes) >= 0


def test_the_same_bytes_and_mistakes():
    first, second = (style.render(arcs(WEIGHTS, SOURCE, TARGET, dark=True), "svg") for _ in "ab")
    assert first == second
    with pytest.raises(ValueError, match="arcs: wanted weights of 2 axes"):
        arcs(WEIGHTS[:2], SOURCE, TARGET)
