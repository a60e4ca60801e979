"""The nearest right word, for every message that names a wrong one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def close(word: str, words: Iterable[str], *, cutoff: float = 0.5) -> str:
    """'; did you mean ...?' where a right word is near, whatever its capitals."""
    by_letters = {each.lower(): each for each in sorted(words)}
    found = difflib.get_close_matches(word.lower(), by_letters, n=1, cutoff=cutoff)
    return f"; did you mean {by_letters[found[0]]!r}?" if found else ""


def nearest(word: str, words: Iterable[str]) -> str:
    """The near word, else a short list of the right ones."""
    words = sorted(words)
    listed = f"; wanted one of {', '.join(words[:20])}" if words else ""
    return close(word, words) or listed
