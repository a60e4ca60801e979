"""How well each head aligns: how sharply, how diagonally, and against gold alignments."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

Link = tuple[int, int]

_LINK = re.compile(r"(\d+)([-p?])(\d+)")


def entropy(
    weights: Float[np.ndarray, "*head time source"],
) -> Float[np.ndarray, "*head"]:
    """How spread the looks of each head are, in nats: the less, the sharper.

    H = -1/T · Σ_t Σ_j α_tj log α_tj
    """
    # 0 log 0 is 0.
    each = -np.sum(weights * np.log(np.where(weights > 0, weights, 1.0)), axis=-1)
    return np.asarray(each.mean(axis=-1))


def diagonality(
    weights: Float[np.ndarray, "*head time source"],
) -> Float[np.ndarray, "*head"]:
    """How near to the diagonal each head looks: 1 on it, 0 always as far from it as can be.

    D = 1/T · Σ_t Σ_j α_tj c_tj,  c_tj = (max_k d_tk - d_tj) / (max_k d_tk - min_k d_tk),
    d_tj = |j / (S - 1) - t / (T - 1)|

    Zhang, Loweimi, Bell and Renals, "On the Usefulness of Self-Attention for Automatic Speech
    Recognition with Transformers", SLT 2021, for matrices that are not square: there as long a
    share of the source as of the target has gone by.
    """
    time, source = weights.shape[-2:]
    distance = np.abs(np.linspace(0, 1, source)[None] - np.linspace(0, 1, time)[:, None])
    furthest, nearest = (pick(axis=1, keepdims=True) for pick in (distance.max, distance.min))
    room = np.where(furthest > nearest, furthest - nearest, 1.0)
    central = np.where(furthest > nearest, (furthest - distance) / room, 1.0)
    return np.asarray((weights * central).sum(axis=-1).mean(axis=-1))


@dataclass(frozen=True)
class Gold:
    """The links (source, target) that people drew; all that is sure is possible too."""

    sure: frozenset[Link]
    possible: frozenset[Link]


def gold(text: str) -> Gold:
    """Links in the Pharaoh format: `0-0 1-2 2p3`, source first, from 0; p or ? only possible."""
    sure, possible = set(), set()
    for word in text.split():
        found = _LINK.fullmatch(word)
        if found is None:
            raise ValueError(
                "alignment: wanted links such as 0-0 or, if only possible, 1p2 or 1?2: the "
                f"place of a source word and of a target word, from 0; got {word!r}"
            )
        link = (int(found[1]), int(found[3]))
        possible.add(link)
        if found[2] == "-":
            sure.add(link)
    return Gold(frozenset(sure), frozenset(possible))


def read_gold(path: str | Path) -> list[Gold]:
    """The links of a file, a sentence on each line."""
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        try:
            found.append(gold(line))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
    return found


def links(weights: Float[np.ndarray, "time source"], *, ends: bool = True) -> frozenset[Link]:
    """Each target word with the source word that it looked at most.

    With `ends`, the last row and the last column are the ends: a word that looked at the end of
    the source is linked to nothing.
    """
    strongest = weights.argmax(axis=1)
    if not ends:
        return frozenset((int(place), row) for row, place in enumerate(strongest))
    last = weights.shape[1] - 1
    return frozenset((int(place), row) for row, place in enumerate(strongest[:-1]) if place != last)


def error_rate(found: frozenset[Link], wanted: Gold) -> float:
    """The alignment error rate, 0 at best.

    AER = 1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)

    Och and Ney, "A Systematic Comparison of Various Statistical Alignment Models", Computational
    Linguistics 29(1), 2003.
    """
    size = len(found) + len(wanted.sure)
    right = len(found & wanted.sure) + len(found & wanted.possible)
    return 1 - right / size if size else 0.0


def error_rates(
    weights: Float[np.ndarray, "layer head time source"], wanted: Gold, *, ends: bool = True
) -> Float[np.ndarray, "layer head"]:
    """The alignment error rate of every head."""
    time, source = (side - 1 if ends else side for side in weights.shape[2:])
    for link in sorted(wanted.possible):
        if link[0] >= source or link[1] >= time:
            raise ValueError(
                f"alignment: wanted links between {source} source words and {time} target words, "
                f"counted from 0, got {link[0]}-{link[1]}; merge subwords into words, and give "
                "the answer that the links are for"
            )
    rates = [[error_rate(links(head, ends=ends), wanted) for head in layer] for layer in weights]
    return np.array(rates)


class Best(NamedTuple):
    """The head that is best by one measure; layer and head are counted from 0."""

    measure: str
    layer: int
    head: int
    value: float


def best(
    weights: Float[np.ndarray, "layer head time source"],
    wanted: Gold | None = None,
    *,
    ends: bool = True,
) -> list[Best]:
    """The sharpest head, the most diagonal, and against gold the one with fewest errors."""
    spread, near = entropy(weights), diagonality(weights)
    found = [
        _at("sharpest", spread, spread.argmin()),
        _at("most diagonal", near, near.argmax()),
    ]
    if wanted is not None:
        rates = error_rates(weights, wanted, ends=ends)
        found.append(_at("fewest errors", rates, rates.argmin()))
    return found


def _at(measure: str, values: Float[np.ndarray, "layer head"], place: np.intp) -> Best:
    layer, head = np.unravel_index(int(place), values.shape)
    return Best(measure, int(layer), int(head), float(values[layer, head]))


def sharpest(weights: Float[np.ndarray, "layer head time source"]) -> tuple[int, int]:
    """The layer and the head with the lowest entropy, counted from 0."""
    found = best(weights)[0]
    return found.layer, found.head
