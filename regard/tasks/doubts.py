"""What speaks against the scores of captions: the classic failures, told by what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from regard.metrics.captions import CiderD
from regard.tasks.text import evenly
from regard.tasks.usual import Usual

ALIKE, BETTER, STRANGE = 0.5, 1.3, 4.0
"""The share of equal captions, how many times better captions must fit their own pictures than
others, and the distance from training's pictures, beyond which something is wrong."""
ENOUGH, MOST = 20, 300
"""Pictures that are enough to say so, and to see how captions fit."""


def doubts(
    outputs: list[str],
    references: Sequence[Sequence[str]],
    seen: Float[np.ndarray, "picture dim"],
    usual: Usual | None,
) -> list[str]:
    """Signs that captions do not depend on pictures, or that those are unlike training's."""
    if len(outputs) < ENOUGH:
        return []
    found = []
    ((_, common),) = Counter(outputs).most_common(1)
    if common > ALIKE * len(outputs):
        found.append(
            f"{common} of {len(outputs)} captions are the same: the model hardly depends on "
            "what it is shown"
        )
    else:
        own, other = _fits(outputs, references)
        if own <= BETTER * other:
            found.append(
                f"captions fit other pictures about as well as their own (CIDEr-D {other:.1f} and "
                f"{own:.1f}): the model hardly depends on what it is shown"
            )
    away = usual.away(seen) if usual is not None else 0.0
    if away > STRANGE:
        found.append(
            f"these pictures look unlike those of training (by {away:.1f}, of which chance "
            "makes 1): are colours and brightness right, and are they photos of that kind?"
        )
    return found


def _fits(outputs: list[str], references: Sequence[Sequence[str]]) -> tuple[float, float]:
    """The CIDEr-D of captions with their own pictures, and with others."""
    pairs = evenly(list(zip(outputs, references, strict=True)), MOST)
    said, wanted = [text for text, _ in pairs], [texts for _, texts in pairs]
    mixed = [wanted[place] for place in np.random.default_rng(0).permutation(len(wanted))]
    metric = CiderD()
    own, other = (metric.score(metric.statistics(said, each).sum(0)) for each in (wanted, mixed))
    return own, other
