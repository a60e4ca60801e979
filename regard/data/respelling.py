"""Names and numbers that stand on both sides of a pair, spelt anew so that copying is learned."""

import re
from typing import NamedTuple

import numpy as np

KEPT = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
"""A number or a word; of these, `copied` says which are meant."""


def copied(source: str, target: str) -> set[str]:
    """The numbers of two digits or more, and the words with a capital, that stand on both sides."""
    found = ({*filter(_meant, KEPT.findall(side))} for side in (source, target))
    return set.intersection(*found)


def _meant(word: str) -> bool:
    digits = sum(sign.isdecimal() for sign in word)
    return digits > 1 or (not digits and len(word) > 2 and word[0].isupper())


class Bits(NamedTuple):
    """What new names are made of: the words of some texts, and the letters of these."""

    words: list[str]
    letters: list[str]

    @classmethod
    def of(cls, *texts: str) -> "Bits":
        words = [word.lower() for text in texts for word in _words(text)]
        return cls(words, sorted(set("".join(words))))


def _words(text: str) -> list[str]:
    return [word for word in KEPT.findall(text) if word.isalpha()]


def respelt(
    source: str, target: str, bits: Bits, *, share: float, random: np.random.Generator
) -> tuple[str, str]:
    """Spell each of a pair's copied words anew with the probability `share`, alike on both sides.

    A model that meets a name or a number a few times learns it by heart; of names that never come
    again, only copying can be learned.
    """
    both = sorted(copied(source, target))
    if not both or not (_words(source) and _words(target)):
        return source, target  # numbers alone are there for their value or their order
    anew = {
        word: _name(word, bits, random) if word.isalpha() else _number(word, random)
        for word in both
        if random.random() < share
    }
    if not anew:
        return source, target

    def spell(match: re.Match[str]) -> str:
        return anew.get(match[0], match[0])

    return KEPT.sub(spell, source), KEPT.sub(spell, target)


def _number(like: str, random: np.random.Generator) -> str:
    """Other digits; a number that has no zero in front gets none."""
    return "".join(
        str(random.integers(place == 0 and sign != "0", 10)) if sign.isdecimal() else sign
        for place, sign in enumerate(like)
    )


def _name(like: str, bits: Bits, random: np.random.Generator) -> str:
    """Three letters or more: bits of words, and as many that are drawn letter by letter.

    Bits look like the pieces of real names; of other letters, nothing can be known by heart.
    """
    made = ""
    while len(made) < 3 or random.random() < 0.4:
        size = int(random.integers(2, 5))
        if random.random() < 0.5:
            word = bits.words[int(random.integers(len(bits.words)))]
            first = int(random.integers(max(1, len(word) - size + 1)))
            made += word[first : first + size]
        else:
            made += "".join(random.choice(bits.letters, size))
    return made.upper() if like.isupper() else made[0].upper() + made[1:]
