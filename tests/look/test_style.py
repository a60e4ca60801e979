"""Files are the same each time, and themes can be told apart by every eye."""

import matplotlib as mpl
import numpy as np
import pytest

from regard.look import style
from regard.look.matrix import alignment

SIGNS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def figure():
    return alignment(np.eye(3), ["a", "b", "c"], ["x", "y", "z"], title="one")


@pytest.mark.parametrize("kind", SIGNS)
def test_files_are_deterministic(tmp_path, kind):
    first = style.save(figure(), tmp_path / f"first.{kind}").read_bytes()
    second = style.save(figure(), tmp_path / "below" / f"second.{kind.upper()}").read_bytes()
    assert first == second
    assert first.startswith(SIGNS[kind])
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [f"first.{kind}"]


def test_tokens_stay_text_in_svg():
    tokens = ["中文", "😀"]
    content = style.render(alignment(np.eye(2), tokens, tokens), "svg").decode()
    assert content.count("中文") >= 2


@pytest.mark.parametrize("name", ["figure.jpg", "figure"])
def test_an_unknown_suffix_names_the_known_ones(tmp_path, name):
    with pytest.raises(ValueError, match=r"wanted a file that ends in \.png, \.svg, \.pdf, got"):
        style.save(figure(), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "figure.png"
    path.write_bytes(b"old")
    monkeypatch.setattr("pathlib.Path.replace", lambda self, other: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        style.save(figure(), path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_settings_of_the_process_stay_as_they_were():
    before = dict(mpl.rcParams)
    style.render(figure(), "svg")
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("theme", [style.LIGHT, style.DARK])
def test_lightness_moves_one_way_in_even_steps(theme):
    lightness = np.array([style._to_oklab(colour)[0] for colour in theme.weights.colors])
    steps = np.diff(lightness)
    np.testing.assert_allclose(steps, steps.mean(), rtol=0.02)
    assert abs(lightness[-1] - lightness[0]) > 0.6


def test_oklab_of_white_and_back():
    np.testing.assert_allclose(style._to_oklab(np.ones(3)), [1, 0, 0], atol=1e-6)
    colours = np.random.default_rng(0).random((20, 3))
    lab = np.array([style._to_oklab(colour) for colour in colours])
    np.testing.assert_allclose(style._from_oklab(lab), colours, atol=1e-6)


def test_only_installed_fonts_are_named():
    assert "DejaVu Sans" in style.fonts()


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("word", "word"), ("", "∅"), ("a b", "a␣b"), ("\n", "⏎"), ("\t", "⇥"), ("\x00", "�"),
        ("\ud800", "�"), ("x" * 24, "x" * 24), ("x" * 25, "x" * 23 + "…"),
    ],
)  # fmt: skip
def test_printable(token, shown):
    assert style.printable(token) == shown


def test_colours_repeat():
    assert len(set(style.colours(7))) == 7
    assert style.colours(8)[7] == style.colours(1)[0]
