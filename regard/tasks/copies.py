"""How many names and numbers of the source come through as they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from regard.data.respelling import KEPT, copied
from regard.metrics import Metric
from regard.metrics.base import number_of_references

FEW = 10
"""Of fewer copies than these no share is told."""


class Copies(Metric):
    """The share of the words that output and reference copy among those that the reference copies.

    Such words are numbers of two digits or more and words with a capital, which stand in the source
    as they do in one of its references.
    """

    name = "copies"
    higher_is_better = True

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        return np.asarray(100 * totals[:, 0] / np.maximum(totals[:, 1], 1))

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        return f"copies|nrefs:{number_of_references(references)}|words:capital,two-digits"

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        raise NotImplementedError("copies are counted with the sources")


def copies(
    sources: Sequence[str], outputs: Sequence[str], references: Sequence[Sequence[str]]
) -> list[tuple[set[str], set[str]]]:
    """The words of each source that are copied, and those that are not but should have been."""
    found = []
    for source, output, each in zip(sources, outputs, references, strict=True):
        wanted = set.union(*(copied(source, reference) for reference in each))
        said = {
            word.lower() for word in KEPT.findall(output)
        }  # a model may know small letters only
        right = {word for word in wanted if word.lower() in said}
        found.append((right, wanted - right))
    return found


def counted(found: Sequence[tuple[set[str], set[str]]]) -> Float[np.ndarray, "sentence count"]:
    """Copied and wanted words of each sentence."""
    return np.array([(len(right), len(right) + len(wrong)) for right, wrong in found], np.float64)
