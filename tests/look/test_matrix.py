"""The figures show the weights that they were given, beside the right tokens."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.look import style
from regard.look.matrix import alignment, heads, sharpest

SOURCE = ["the", "black", "cat", "</s>"]
TARGET = ["le", "chat", "noir"]


def weights(*shape):
    raw = np.random.default_rng(0).random(shape) ** 4
    return raw / raw.sum(axis=-1, keepdims=True)


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def data(axes):
    (image,) = axes.images
    return np.asarray(image.get_array())


def test_image_is_the_weights_and_axes_have_the_tokens():
    given_weights = weights(3, 4)
    axes, _bar = alignment(given_weights, SOURCE, TARGET).axes
    np.testing.assert_array_equal(data(axes), given_weights)
    assert labels(axes.xaxis) == SOURCE
    assert labels(axes.yaxis) == TARGET
    assert axes.xaxis.get_ticks_position() == "top"
    # Row 0 is on top: the y axis goes down.
    assert axes.get_ylim() == (2.5, -0.5)


def test_cells_are_square():
    for shape in [(3, 4), (1, 60), (58, 60), (20, 2)]:
        figure = alignment(weights(*shape), ["tok"] * shape[1], ["tok"] * shape[0])
        box = figure.axes[0].get_position()
        width, height = figure.get_size_inches()
        assert box.width * width / shape[1] == pytest.approx(box.height * height / shape[0])


@pytest.mark.parametrize(("largest", "top"), [(0.04, 0.05), (0.3, 0.5), (0.7, 1.0), (1.0, 1.0)])
def test_colours_end_at_a_round_number(largest, top):
    image = alignment(np.full((3, 4), largest), SOURCE, TARGET).axes[0].images[0]
    assert image.get_clim() == (0.0, top)


def test_themes_differ_and_title_is_shown():
    light = alignment(weights(3, 4), SOURCE, TARGET, title="cost: $5 or $6")
    dark = alignment(weights(3, 4), SOURCE, TARGET, dark=True)
    assert light.get_facecolor() != dark.get_facecolor()
    assert [text.get_text() for text in light.texts] == ["cost: $5 or $6"]
    assert not dark.texts


@given(st.lists(st.text(max_size=30), min_size=1, max_size=4))
def test_any_token_can_be_drawn(tokens):
    style.render(alignment(weights(len(tokens), len(tokens)), tokens, tokens), "png")


def test_strange_scripts_make_no_noise(capfd, caplog):
    tokens = [
        "中文",
        "日本語",
        "한국어",
        "שלום",
        "مرحبا",
        "😀",
        "$",
        "$x^",
        "\\frac",
        "",
        " ",
        "\ud800",
    ]
    figure = alignment(weights(12, 12), tokens, tokens, title="中文 😀 $")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("png", "svg"):
            style.render(figure, kind)
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


def test_heads_shows_every_head_and_the_mean():
    given_weights = weights(2, 3, 3, 4)
    figure = heads(given_weights, SOURCE, TARGET, title="cross-attention")
    *panels, mean, _bar = figure.axes
    assert len(panels) == 6
    for panel, each in zip(panels, given_weights.reshape(6, 3, 4), strict=True):
        np.testing.assert_array_equal(data(panel), each)
    np.testing.assert_allclose(data(mean), given_weights.mean(axis=(0, 1)))
    assert labels(mean.xaxis) == SOURCE
    assert [panel.get_title() for panel in panels[:3]] == ["head 1", "head 2", "head 3"]
    assert [panel.get_ylabel() for panel in panels[::3]] == ["layer 1", "layer 2"]
    assert len({axes.images[0].get_clim() for axes in [*panels, mean]}) == 1


def test_the_sharpest_head_is_framed():
    given_weights = np.full((2, 3, 3, 4), 0.25)
    given_weights[1, 2] = np.eye(4)[:3]
    assert sharpest(given_weights) == (1, 2)
    figure = heads(given_weights, SOURCE, TARGET)
    frames = [axes.spines["top"].get_linewidth() for axes in figure.axes[:6]]
    assert frames.index(max(frames)) == 5
    assert "sharpest: layer 2, head 3" in [text.get_text() for text in figure.texts]


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 12, 2, 40), (1, 2, 50, 3)])
def test_panels_do_not_overlap(shape):
    figure = heads(weights(*shape), ["ab"] * shape[3], ["cd"] * shape[2])
    boxes = [axes.get_position() for axes in figure.axes]
    for k, one in enumerate(boxes):
        assert 0 <= one.x0 < one.x1 <= 1
        assert 0 <= one.y0 < one.y1 <= 1
        assert not any(one.overlaps(other) for other in boxes[k + 1 :])


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match=r"\(target, source\) = \(3, 4\), got shape \(4, 3\)"):
        alignment(weights(4, 3), SOURCE, TARGET)
    with pytest.raises(ValueError, match="heads: wanted weights of 4 axes"):
        heads(weights(2, 3, 4, 4), SOURCE, TARGET)
    with pytest.raises(ValueError, match="finite"):
        alignment(np.full((3, 4), np.nan), SOURCE, TARGET)
    with pytest.raises(ValueError, match="alignment"):
        alignment(np.ones((0, 4)), SOURCE, [])
