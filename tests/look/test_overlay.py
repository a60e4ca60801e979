"""A picture word by word: as a strip and as an animation, soft and hard."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from PIL import Image

from regard.look import animation, style
from regard.look.overlay import contact_sheet, overlay
from regard.look.places import Photo

SAID = ["a", "狗", "runs"]


def photo():
    """A grid of 2 x 4 on the right half of a picture."""
    pixels = np.random.default_rng(0).integers(0, 255, (40, 160, 3), np.uint8)
    return Photo(Image.fromarray(pixels), (2, 4), (80.0, 0.0, 160.0, 40.0))


def weights():
    """Soft for the first word, hard for the others."""
    rows = np.zeros((3, 8))
    rows[0] = 1 / 8
    rows[1, 0] = rows[2, 7] = 1
    return rows


def frames(axes):
    return [patch.get_bbox().bounds for patch in axes.patches if isinstance(patch, Rectangle)]


def test_hard_attention_has_a_frame_around_its_field():
    _whole, soft, first, last = overlay(photo(), SAID, weights()).axes
    assert frames(soft) == []
    assert frames(first) == [pytest.approx((79.5, -0.5, 20, 20))]
    assert frames(last) == [pytest.approx((139.5, 19.5, 20, 20))]


def test_a_large_picture_is_made_smaller_and_its_frame_with_it():
    large = Photo(Image.new("RGB", (800, 800)), (2, 2), (0.0, 0.0, 800.0, 800.0))
    _whole, axes = overlay(large, ["a"], np.array([[0.0, 0.0, 0.0, 1.0]])).axes
    assert frames(axes) == [pytest.approx((199.5, 199.5, 200, 200))]


def test_a_frame_for_the_photo_and_for_each_word():
    drawn = animation.frames(photo(), SAID, weights())
    assert len(drawn) == 4
    assert len({frame.size for frame in drawn}) == 1
    brightness = [np.asarray(frame)[30:100, 30:200].mean() for frame in drawn]
    # The left half is no part of the grid: it is dark as soon as something is looked at.
    assert brightness[0] > 2 * max(brightness[1:])
    assert len({frame.tobytes() for frame in drawn}) == 4


@pytest.mark.parametrize(("suffix", "kind"), [("gif", "GIF"), ("WEBP", "WEBP")])
def test_animations(tmp_path, suffix, kind):
    drawn = animation.frames(photo(), SAID, weights(), dark=True)
    first = animation.save(drawn, tmp_path / f"first.{suffix}")
    second = animation.save(drawn, tmp_path / f"second.{suffix}")
    assert first.read_bytes() == second.read_bytes()
    with Image.open(first) as opened:
        assert (opened.format, opened.n_frames, opened.info["loop"]) == (kind, 4, 0)
        assert opened.size == drawn[0].size
        opened.seek(3)
        opened.load()
        assert opened.info["duration"] == 2700


def test_an_animation_is_no_png(tmp_path):
    with pytest.raises(ValueError, match=r"wanted a file that ends in \.gif, \.webp, got '\.png'"):
        animation.save([Image.new("RGB", (2, 2))], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_the_same_bytes():
    first, second = (style.render(overlay(photo(), SAID, weights()), "png") for _ in "ab")
    assert first == second


def test_a_sheet_is_as_tall_as_its_captions():
    image, long = Image.new("RGB", (30, 20)), " ".join(["words"] * 40)
    short, tall = (contact_sheet([(image, "one")] * 4 + [(image, text)]) for text in ("two", long))
    lines = max(len(text.get_text().splitlines()) for text in tall.texts)
    assert lines == 7
    assert "…" not in "".join(text.get_text() for text in tall.texts)
    grown = tall.get_size_inches()[1] - short.get_size_inches()[1]
    assert grown == pytest.approx(6 * 0.15)
    tall.canvas.draw()
    top, bottom = tall.get_size_inches()[1] * tall.dpi, 0
    for text in tall.texts:
        box = text.get_window_extent()
        assert bottom <= box.y0 < box.y1 <= top
        assert all(not box.overlaps(axes.get_window_extent()) for axes in tall.axes)


def test_even_a_caption_without_end_has_one():
    sheet = contact_sheet([(Image.new("RGB", (30, 20)), "word " * 2000)])
    (text,) = sheet.texts
    assert len(text.get_text().splitlines()) == 12
    assert text.get_text().endswith(" …")
