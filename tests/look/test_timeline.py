"""Time is along one side and what was said along the other."""

import numpy as np
import pytest

from regard.look import style
from regard.look.timeline import timeline

TARGET = ["n", "ow", "z", "</s>"]


def weights(steps=40):
    centre = np.linspace(0.1, 0.9, 4)[:, None]
    raw = np.exp(-(((np.linspace(0, 1, steps)[None] - centre) / 0.1) ** 2))
    return raw / raw.sum(axis=1, keepdims=True)


def test_strips_lie_along_the_seconds():
    figure = timeline(weights(), TARGET, 3.2)
    axes, _bar = figure.axes
    assert axes.get_xlim() == (0, 3.2)
    assert axes.get_xlabel() == "seconds"
    assert [label.get_text() for label in axes.get_yticklabels()] == TARGET
    said, end = axes.images
    np.testing.assert_array_equal(said.get_array(), weights()[:3])
    np.testing.assert_array_equal(end.get_array(), weights()[3:])
    assert list(said.get_extent()) == [0, 3.2, 2.5, -0.5]
    assert end.get_extent()[3] > 2.5


def test_marks_name_equal_parts():
    figure = timeline(weights(), TARGET, 4.0, ["first part", "second"])
    axes = figure.axes[0]
    (line,) = axes.lines
    assert list(line.get_xdata()) == [2.0, 2.0]
    box = axes.get_position()
    places = {text.get_text(): text.get_position()[0] for text in figure.texts}
    assert places["first part"] == pytest.approx(box.x0 + box.width / 4)
    assert places["second"] == pytest.approx(box.x0 + box.width * 3 / 4)


@pytest.mark.parametrize(("steps", "top"), [(4, 1.0), (40, 0.2), (4000, 0.005)])
def test_many_steps_stay_visible(steps, top):
    image = timeline(weights(steps), TARGET, 1.0).axes[0].images[0]
    assert image.get_clim() == (0.0, top)


def test_the_same_bytes_and_mistakes():
    first, second = (style.render(timeline(weights(), TARGET, 1.0, dark=True), "png") for _ in "ab")
    assert first == second
    with pytest.raises(ValueError, match="wanted more than 0 seconds, got 0"):
        timeline(weights(), TARGET, 0.0)
    with pytest.raises(ValueError, match="timeline: wanted weights of 2 axes"):
        timeline(weights(), TARGET[:2], 1.0)
