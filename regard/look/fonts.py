"""Letters of every script: the fonts that this machine has, and words for what none of them has.

Matplotlib shapes text and orders it (Arabic joins, Hebrew runs from right to left, marks sit on
their letters) and takes each letter from the first family that has it.
"""

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from matplotlib.font_manager import FontProperties, findfont, findSystemFonts, fontManager, get_font

# Latin first, then families that have what it lacks: Chinese, Japanese, Korean, Arabic, Hebrew,
# Indic, other Asian and African scripts, emoji. Colour emoji are left out: Matplotlib draws
# outlines only.
_FAMILIES = (
    "DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Noto Sans JP",
    "Noto Sans KR", "Source Han Sans SC", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "SimHei", "WenQuanYi Zen Hei",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Bengali",
    "Noto Sans Gurmukhi", "Noto Sans Gujarati", "Noto Sans Tamil", "Noto Sans Telugu",
    "Noto Sans Kannada", "Noto Sans Malayalam", "Noto Sans Sinhala", "Noto Sans Thai",
    "Noto Sans Lao", "Noto Sans Khmer", "Noto Sans Myanmar", "Noto Sans Ethiopic",
    "Arial Unicode MS", "Noto Emoji", "Segoe UI Emoji", "Symbola", "Noto Sans Symbols2",
    "Unifont",
)  # fmt: skip

# A joiner of pictographs, and the wish to see one in colour; skin tones stand between 1F3FB and FF.
_JOINERS = "\u200d\ufe0f"


@cache
def fonts() -> tuple[str, ...]:
    """The families that this machine has; naming others makes Matplotlib complain."""
    _learn_new()
    installed = {font.name for font in fontManager.ttflist}
    return tuple(family for family in _FAMILIES if family in installed)


def _learn_new() -> None:
    """Add what was installed after Matplotlib made its list of fonts, which it keeps for ever."""
    begins = {"".join(family.lower().split()[:3]) for family in _FAMILIES}
    known = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        stem = Path(path).stem.lower().partition("-")[0]
        if path not in known and stem in begins:
            with suppress(OSError, RuntimeError):  # a broken file is no font
                fontManager.addfont(path)


def spelled(words: str) -> str:
    """Text with the names of pictographs that no font has, such as :rocket:.

    What joins or tints them is left out: it has no outline of its own.
    """
    if words.isascii():
        return words
    shown, pictured = "", False
    for character in words:
        if pictured and (character in _JOINERS or "\U0001f3fb" <= character <= "\U0001f3ff"):
            continue
        pictured = unicodedata.category(character) == "So"
        shown += _name(character) if pictured and not _drawable(character) else character
    return shown


def _name(character: str) -> str:
    name = unicodedata.name(character, "picture").lower()
    # A flag is two letters, each a symbol of its own.
    flag = name.removeprefix("regional indicator symbol letter ")
    return flag.upper() if flag != name else f":{name.replace(' ', '-')}:"


def _drawable(character: str) -> bool:
    return any(ord(character) in letters for letters in _letters())


@cache
def _letters() -> tuple[frozenset[int], ...]:
    """What each family has."""
    paths = [findfont(FontProperties(family=[family])) for family in fonts()]
    return tuple(frozenset(get_font(path).get_charmap()) for path in paths)


def leftward(tokens: Iterable[str]) -> bool:
    """Whether these symbols are of a script that runs from right to left, most of them."""
    ways = [unicodedata.bidirectional(character) for token in tokens for character in token]
    return sum(way in ("R", "AL") for way in ways) > sum(way == "L" for way in ways)
