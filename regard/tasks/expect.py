"""What may be expected of a model that has just been trained, in a few plain sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.tasks.copies import Copies, copies
from regard.tasks.evaluate import Evaluation


def expectations(found: Evaluation, trained_on: NDArray[np.int32]) -> list[str]:
    """How good it is, for how long a text, and what it was never taught."""
    name = next(iter(found.scores))
    score = found.scores[name].interval()
    lines = [
        f"{name} {score.score:.1f} ({score.low:.1f} to {score.high:.1f}) on texts like the "
        f"{len(found.sources):,} validation ones"
    ]
    by_length = [row for row in found.by_length(name) if row.count >= 20]
    if len(by_length) > 1:
        spans = ", ".join(f"{row.interval.score:.1f} for {row.label}" for row in by_length)
        lines.append(f"by symbols of the source: {spans}")
    usual, longest = int(np.quantile(trained_on, 0.99)), int(trained_on.max())
    lines.append(
        f"it learned from sources of up to {longest} symbols, few of them over {usual}: cut longer "
        "texts into sentences"
    )
    if Copies.name in found.scores:
        share = found.scores[Copies.name].value
        pairs = copies(found.sources, found.outputs, found.references)
        lost = sorted(set().union(*(wrong for _, wrong in pairs)))
        such = f", others not, such as {', '.join(lost[:3])}" if lost else ""
        lines.append(f"{int(share)}% of the names and numbers to be copied were{such}")
    again = [output for output in found.outputs if repeats(output)]
    if again:
        lines.append(
            f"{len(again) / len(found.outputs):.1%} of its answers repeat themselves, such as "
            f"{again[0][:60]!r}"
        )
    return lines


def behind(found: Evaluation, card: Mapping[str, Any]) -> list[str]:
    """A warning where a recipe's `decode` does worse than what validation decoded with."""
    name = next(iter(found.scores))
    score, before = found.scores[name], card.get("validation", {}).get(name)
    if before is None:
        return []
    lost = before - score.value if score.metric.higher_is_better else score.value - before
    if lost <= abs(before) / 50:
        return []
    return [
        f"beware: {name} is {score.value:.1f} with the recipe's decode, {before:.1f} with its "
        "validate_with; try another decode.penalty, decode.coverage, decode.beam or ngrams.weight"
    ]


def repeats(text: str) -> bool:
    """Whether one, two or three words come three times in a row.

    Inside a word, and where blanks part nothing, two to eight signs do, with a letter among them
    and not all the same.
    """
    words = text.split()
    return any(any(_thrice(words, size)) for size in (1, 2, 3)) or any(
        len(set(run)) > 1 and any(sign.isalpha() for sign in run)
        for size in range(2, 9)
        for run in _thrice(text, size)
    )


def _thrice(row: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Each run of so many that comes three times."""
    for first in range(len(row) - 3 * size + 1):
        parts = [row[first + size * n : first + size * (n + 1)] for n in range(3)]
        if parts[0] == parts[1] == parts[2]:
            yield parts[0]
