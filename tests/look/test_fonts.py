"""Every script is drawn with a font that has it, or said in words."""

import pytest
from matplotlib.figure import Figure

from regard.look import fonts, style


@pytest.fixture
def plain(monkeypatch):
    """A machine with one font only, which is the one that comes with Matplotlib."""
    monkeypatch.setattr(fonts, "_letters", lambda: (frozenset(range(0x3000)),))


def test_only_installed_fonts_are_named():
    assert fonts.fonts()[0] == "DejaVu Sans"


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("plain", "plain"), ("中文 é", "中文 é"), ("🚀 off", ":rocket: off"),
        ("👩‍👧", ":woman::girl:"), ("🇩🇪", "DE"), ("👍🏽!", ":thumbs-up-sign:!"), ("♥\ufe0f", "♥"),
        ("क्‍ष", "क्‍ष"),  # a joiner of letters stays
    ],
)  # fmt: skip
def test_pictures_that_no_font_has_are_named(plain, words, shown):
    assert fonts.spelled(words) == shown


def test_a_token_is_named_too(plain):
    assert style.printable("🚀") == ":rocket:"


def test_a_font_that_is_new_is_found(monkeypatch):
    added = []
    monkeypatch.setattr(
        fonts, "findSystemFonts", lambda: ["/f/NotoSansArabic-Regular.ttf", "/f/Other.ttf"]
    )
    monkeypatch.setattr(fonts.fontManager, "addfont", added.append)
    fonts._learn_new()
    assert added == ["/f/NotoSansArabic-Regular.ttf"]


def test_a_broken_font_is_passed_over(monkeypatch, tmp_path):
    path = tmp_path / "NotoSansArabic-Regular.ttf"
    path.write_bytes(b"no font")
    monkeypatch.setattr(fonts, "findSystemFonts", lambda: [str(path)])
    fonts._learn_new()


@pytest.mark.parametrize(("typed", "same"), [("אבג", "גבא"), ("שלום", "םולש")])
def test_hebrew_runs_from_right_to_left(typed, same):
    """What is typed is ordered; typed backwards under an override, it looks the same."""

    def pixels(words):
        figure = Figure(figsize=(2, 1))
        figure.text(0.1, 0.5, words, family=style.fonts())
        return style.render(figure, "png")

    assert pixels(typed) == pixels(f"\u202d{same}\u202c")
    assert pixels(typed) != pixels(f"\u202d{typed}\u202c")
