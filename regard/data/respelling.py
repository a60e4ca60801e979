"""Names and numbers that stand on both sides of a pair, spelt anew so that copying is learned."""

import re

import numpy as np

KEPT = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
"""A number or a word; of these, `copied` says which are meant."""
CLASSES = ("123456789", "aeiou", "bcdfghjklmnpqrstvwxz", "AEIOU", "BCDFGHJKLMNPQRSTVWXZ")
"""A sign becomes another of its class: a number stays one without a zero before it, a name stays
something that can be said."""


def copied(source: str, target: str) -> set[str]:
    """The numbers of two digits or more, and the words with a capital, that stand on both sides."""
    found = ({*filter(_meant, KEPT.findall(side))} for side in (source, target))
    return set.intersection(*found)


def _meant(word: str) -> bool:
    digits = sum(sign.isdecimal() for sign in word)
    return digits > 1 or (not digits and len(word) > 2 and word[0].isupper())


def _says(text: str) -> bool:
    return any(word.isalpha() for word in KEPT.findall(text))


def respelt(
    source: str, target: str, *, share: float, random: np.random.Generator
) -> tuple[str, str]:
    """Spell each of a pair's copied words anew with the probability `share`, alike on both sides.

    One table for the whole pair exchanges digits, vowels and consonants among themselves. A model
    that meets a name or a number a few times learns it by heart; of names that never come again,
    only copying can be learned.
    """
    if not (_says(source) and _says(target)):
        return source, target  # numbers alone are there for their value or their order
    chosen = {word for word in sorted(copied(source, target)) if random.random() < share}
    if not chosen:
        return source, target
    table = _table(random)

    def spell(match: re.Match[str]) -> str:
        return match[0].translate(table) if match[0] in chosen else match[0]

    return KEPT.sub(spell, source), KEPT.sub(spell, target)


def _table(random: np.random.Generator) -> dict[int, int]:
    others = "".join("".join(random.permutation(list(signs))) for signs in CLASSES)
    return str.maketrans("".join(CLASSES), others)
