"""Learning the pieces of a unigram language model, the same ones at every run.

Kudo, "Subword Regularization", ACL 2018. The trainer of the library `tokenizers` adds up in the
order of a random hash, and finds no candidates among words that occur in one form only, however
often: common short words then fall to pieces.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_PIECE = 16
# Longer words are cut, so that their probability stays above the smallest float.
LONGEST_WORD = 24
MOST_WORDS = 100_000
CANDIDATES = 10
SHRINK = 0.75

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]


@dataclass(frozen=True)
class Lattices:
    """All pieces of all words as edges between places, grouped by where they end and start."""

    words: int
    ends: Ints
    by_end: list[tuple[Ints, Ints, Ints]]
    by_start: list[tuple[Ints, Ints, Ints]]


def _lattices(words: list[str], numbers: dict[str, int], *, whole: bool) -> Lattices:
    """Find the known pieces inside each word, the word as one piece only where it may be."""
    edges = (
        (row, start, end, number)
        for row, word in enumerate(words)
        for start in range(len(word))
        for end in range(start + 1, min(len(word), start + LONGEST_PIECE) + 1)
        if (whole or end - start < len(word))
        and (number := numbers.get(word[start:end])) is not None
    )
    table = np.fromiter(edges, np.dtype((np.int32, 4)))
    row, start, end, piece = table.T
    longest = max(map(len, words))
    by_end = [np.flatnonzero(end == place) for place in range(longest + 1)]
    by_start = [np.flatnonzero(start == place) for place in range(longest + 1)]
    return Lattices(
        len(words),
        np.array([len(word) for word in words], dtype=np.int32),
        [(row[at], start[at], piece[at]) for at in by_end],
        [(row[at], end[at], piece[at]) for at in by_start],
    )


def _expected(lattices: Lattices, counts: Floats, probability: Floats) -> Floats:
    """Say how often each piece is used on average over all ways to cut the words (E step)."""
    rows = np.arange(lattices.words)
    before = np.zeros((len(lattices.by_end), lattices.words))
    before[0] = 1.0
    for end, (row, start, piece) in enumerate(lattices.by_end):
        if len(row):
            share = before[start, row] * probability[piece]
            before[end] = np.bincount(row, share, lattices.words)
    after = np.zeros_like(before)
    after[lattices.ends, rows] = counts / before[lattices.ends, rows]
    expected = np.zeros(len(probability))
    for place in reversed(range(len(lattices.by_start))):
        row, ending, piece = lattices.by_start[place]
        if len(row):
            share = probability[piece] * after[ending, row]
            after[place] += np.bincount(row, share, lattices.words)
            expected += np.bincount(piece, share * before[place, row], len(probability))
    return expected


def _best(lattices: Lattices, score: Floats) -> Floats:
    """Give the log-probability of the best way to cut each word."""
    best = np.full((len(lattices.by_end), lattices.words), -np.inf)
    best[0] = 0.0
    for end, (row, start, piece) in enumerate(lattices.by_end):
        np.maximum.at(best[end], row, best[start, row] + score[piece])
    found: Floats = best[lattices.ends, np.arange(lattices.words)]
    return found


def _candidates(words: Counter[str], most: int) -> list[str]:
    """Take the characters, then the substrings that cover most of the text."""
    found: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(len(word)):
            for end in range(start + 1, min(len(word), start + LONGEST_PIECE) + 1):
                found[word[start:end]] += count
    characters = sorted(piece for piece in found if len(piece) == 1)
    longer = [piece for piece, count in found.items() if len(piece) > 1 and count > 1]
    longer.sort(key=lambda piece: (-found[piece] * len(piece), piece))
    return characters + longer[:most]


def _shortened(words: Counter[str]) -> Counter[str]:
    kept: Counter[str] = Counter()
    for word, count in words.items():
        for start in range(0, len(word), LONGEST_WORD):
            kept[word[start : start + LONGEST_WORD]] += count
    order = sorted(kept, key=lambda word: (-kept[word], word))
    return Counter({word: kept[word] for word in order[:MOST_WORDS]})


def learn(words: Counter[str], size: int) -> list[tuple[str, float]]:
    """Give at most `size` pieces with their log-probability: every character, then the best."""
    words = _shortened(words)
    pieces = _candidates(words, CANDIDATES * size)
    numbers = {piece: number for number, piece in enumerate(pieces)}
    counts = np.array(list(words.values()), dtype=np.float64)
    lattices = _lattices(list(words), numbers, whole=True)
    inside = _lattices(pieces, numbers, whole=False)
    fixed = np.array([len(piece) == 1 for piece in pieces])
    size = max(size, int(fixed.sum()))
    expected = np.ones(len(pieces))
    kept = np.ones(len(pieces), dtype=bool)
    while True:
        for _ in range(2):
            # A character that no cut uses any more must stay possible.
            usage = np.where(fixed, np.maximum(expected, 0.1), expected) * kept
            expected = _expected(lattices, counts, usage / usage.sum())
            kept &= fixed | (expected > 0.5)
        usage = np.where(fixed, np.maximum(expected, 0.1), expected) * kept
        with np.errstate(divide="ignore"):
            score = np.log(usage / usage.sum())
        if kept.sum() <= size:
            break
        kept &= _worth_keeping(score, expected, _best(inside, score), fixed, kept, size)
    chosen = sorted(np.flatnonzero(kept).tolist(), key=lambda n: (-round(score[n], 6), pieces[n]))
    return [(pieces[number], round(float(score[number]), 6)) for number in chosen]


def _worth_keeping(
    score: Floats,
    used: Floats,
    without: Floats,
    fixed: NDArray[np.bool_],
    kept: NDArray[np.bool_],
    size: int,
) -> NDArray[np.bool_]:
    """Mark the pieces whose loss would cost the likelihood most."""
    loss = np.full(len(score), -np.inf)
    loss[kept] = used[kept] * (score[kept] - without[kept])
    loss[fixed] = np.inf
    most = max(size, int(SHRINK * kept.sum()))
    worth = np.zeros(len(score), dtype=bool)
    # Rounded, so that the last digits of a processor's logarithm decide nothing.
    worth[np.argsort(-np.round(loss, 6), kind="stable")[:most]] = True
    return worth
