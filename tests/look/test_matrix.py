"""The figures show the weights that they were given, beside the right tokens."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.look import style
from regard.look.matrix import alignment

SOURCE = ["the", "black", "cat", "</s>"]
TARGET = ["le", "chat", "noir"]


def weights(*shape):
    raw = np.random.default_rng(0).random(shape) ** 4
    return raw / raw.sum(axis=-1, keepdims=True)


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def data(axes):
    """The weights that are drawn, with those of the end joined to the rest."""
    blocks = {
        tuple(image.get_extent()[0::3]): np.asarray(image.get_array()) for image in axes.images
    }
    rows = sorted({top for _, top in blocks})
    columns = sorted({left for left, _ in blocks})
    return np.block([[blocks[column, row] for column in columns] for row in rows])


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


def test_the_ends_stand_apart_and_fainter():
    figure = alignment(weights(4, 4), SOURCE, [*TARGET, "</s>"])
    axes = figure.axes[0]
    assert len(axes.images) == 4
    assert data(axes).shape == (4, 4)
    for axis in (axes.xaxis, axes.yaxis):
        steps = np.diff(axis.get_ticklocs())
        np.testing.assert_allclose(steps[:-1], 1.0)
        assert steps[-1] > 1.2
        inks = [text.get_color() for text in axis.get_ticklabels(which="major")]
        assert inks == [style.LIGHT.ink] * 3 + [style.LIGHT.dim]
    # Between the blocks there is nothing but paper.
    lefts = sorted({image.get_extent()[0] for image in axes.images})
    rights = sorted({image.get_extent()[1] for image in axes.images})
    assert rights[0] < lefts[1]


def test_an_end_alone_is_no_part():
    assert len(alignment(np.ones((1, 1)), ["</s>"], ["</s>"]).axes[0].images) == 1


def test_long_sentences_have_tokens_on_every_side():
    tokens = [f"word{number}" for number in range(80)]
    figure = alignment(weights(80, 80), tokens, tokens)
    axes = figure.axes[0]
    ticks = axes.xaxis.get_major_ticks(), axes.yaxis.get_major_ticks()
    for side in ticks:
        assert all(tick.label1.get_visible() and tick.label2.get_visible() for tick in side)
    assert ticks[0][0].label1.get_fontsize() >= 7
    assert figure.get_size_inches().max() < 16


def test_mistakes_are_explained():
    with pytest.raises(ValueError, match=r"\(target, source\) = \(3, 4\), got shape \(4, 3\)"):
        alignment(weights(4, 3), SOURCE, TARGET)
    with pytest.raises(ValueError, match="finite"):
        alignment(np.full((3, 4), np.nan), SOURCE, TARGET)
    with pytest.raises(ValueError, match="alignment"):
        alignment(np.ones((0, 4)), SOURCE, [])
