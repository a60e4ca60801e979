"""Every head is shown, and the best by each measure is marked and named."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from regard.look.align import gold
from regard.look.heads import heads

SOURCE = ["the", "black", "cat", "</s>"]
TARGET = ["le", "chat", "noir"]


def weights(*shape):
    raw = np.random.default_rng(0).random(shape) ** 4
    return raw / raw.sum(axis=-1, keepdims=True)


def frames(figure):
    """How many frames each panel has, in order."""
    panels = [axes for axes in figure.axes if len(axes.images) == 1]
    return [sum(isinstance(patch, Rectangle) for patch in axes.patches) for axes in panels]


def texts(figure):
    return [text.get_text() for text in figure.texts]


def test_every_head_and_the_mean():
    given_weights = weights(2, 3, 3, 4)
    figure = heads(given_weights, SOURCE, TARGET, title="cross-attention")
    *panels, mean, _bar = figure.axes
    assert len(panels) == 6
    for panel, each in zip(panels, given_weights.reshape(6, 3, 4), strict=True):
        np.testing.assert_array_equal(panel.images[0].get_array(), each)
    np.testing.assert_allclose(
        np.hstack([np.asarray(image.get_array()) for image in mean.images]),
        given_weights.mean(axis=(0, 1)),
    )
    assert [text.get_text() for text in mean.xaxis.get_ticklabels()] == SOURCE
    assert [panel.get_title() for panel in panels[:3]] == ["head 1", "head 2", "head 3"]
    assert [panel.get_ylabel() for panel in panels[::3]] == ["layer 1", "layer 2"]
    assert len({image.get_clim() for axes in [*panels, mean] for image in axes.images}) == 1
    assert texts(figure)[0] == "cross-attention"


def test_the_best_are_framed_and_named():
    given_weights = np.full((2, 3, 3, 4), 0.25)
    given_weights[0, 1] = 0.05 + 0.8 * np.eye(4)[[0, 2, 3]]
    given_weights[1, 2] = np.eye(4)[[3, 0, 0]]
    figure = heads(given_weights, SOURCE, TARGET)
    assert frames(figure) == [0, 1, 0, 0, 0, 1]
    assert "sharpest: layer 2, head 3 (entropy 0.00)" in texts(figure)
    # By hand: c = [1, 2/3, 1/3, 0], [0, 1, 1, 0], [0, 1/3, 2/3, 1].
    near = ((0.85 + 0.05 * 1) + (0.85 + 0.05) + (0.85 + 0.05 * 1)) / 3
    assert f"most diagonal: layer 1, head 2 (diagonality {near:.2f})" in texts(figure)
    assert not any("errors" in text for text in texts(figure))


def test_one_head_may_be_the_best_by_all():
    given_weights = np.full((1, 2, 4, 4), 0.25)
    given_weights[0, 1] = np.eye(4)
    figure = heads(given_weights, SOURCE, [*TARGET, "</s>"], gold=gold("0-0 1-1 2-2"))
    assert frames(figure) == [0, 3]
    assert "fewest errors: layer 1, head 2 (error rate 0.00)" in texts(figure)
    panel = figure.axes[1]
    styles = {
        (patch.get_edgecolor(), patch.get_linestyle())
        for patch in panel.patches
        if isinstance(patch, Rectangle)
    }
    assert len({colour for colour, _ in styles}) == len({line for _, line in styles}) == 3


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 12, 2, 40), (1, 2, 50, 3)])
def test_panels_do_not_overlap(shape):
    figure = heads(weights(*shape), ["ab"] * shape[3], ["cd"] * shape[2])
    boxes = [axes.get_position() for axes in figure.axes]
    for k, one in enumerate(boxes):
        assert 0 <= one.x0 < one.x1 <= 1
        assert 0 <= one.y0 < one.y1 <= 1
        assert not any(one.overlaps(other) for other in boxes[k + 1 :])


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match="heads: wanted weights of 4 axes"):
        heads(weights(2, 3, 4, 4), SOURCE, TARGET)
    with pytest.raises(ValueError, match=r"between 4 source words and 3 target words.*got 4-0"):
        heads(weights(2, 2, 3, 4), SOURCE, TARGET, gold=gold("4-0"))
