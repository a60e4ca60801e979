"""The sentence map: what an encoder makes of sentences, in two dimensions."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from regard.data.files import write_whole
from regard.data.sources import data_error
from regard.data.text_files import read_lines

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Projection(NamedTuple):
    """Points along the axes of largest variance, and the share of the variance on each axis."""

    places: Float[np.ndarray, "point axis"]
    shares: Float[np.ndarray, " axis"]


@dataclass(frozen=True)
class SentenceMap:
    """Sentences with their groups, and where each of them lies."""

    sentences: list[str]
    groups: list[str]
    places: Float[np.ndarray, "sentence 2"]
    shares: Float[np.ndarray, " 2"]

    def figure(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """The map."""
        from regard.look.scatter import scatter

        return scatter(
            self.places, self.sentences, self.groups, shares=self.shares, title=title, dark=dark
        )

    def save(self, path: str | Path, *, dark: bool = False) -> Path:
        """Draw into a PNG, SVG or PDF file, by its suffix, with a table of the places beside it."""
        from regard.look.style import save

        path = save(self.figure(dark=dark), path)
        text = io.StringIO()
        table = csv.writer(text, delimiter="\t", lineterminator="\n")
        table.writerow(["sentence", "group", "x", "y"])
        for sentence, group, (x, y) in zip(self.sentences, self.groups, self.places, strict=True):
            table.writerow([sentence, group, f"{x:.6g}", f"{y:.6g}"])
        write_whole(beside(path), text.getvalue())
        return path


def sentence_map(
    sentences: Sequence[str],
    summaries: Float[np.ndarray, "sentence dim"],
    groups: Sequence[str] | None = None,
) -> SentenceMap:
    """Each sentence where its summary lies on the two axes of largest variance.

    Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks", NeurIPS 2014,
    figure 2.
    """
    enough(sentences)
    found = principal(summaries)
    return SentenceMap(list(sentences), list(groups or [""] * len(sentences)), *found)


def beside(picture: Path) -> Path:
    """Where the table of a map is, under a name that sentences are hardly kept in."""
    return picture.with_suffix(".places.tsv")


def enough(sentences: Sequence[str]) -> None:
    """Refuse what makes no map."""
    if len(sentences) < 3:
        raise ValueError(
            f"a map: wanted 3 sentences or more, got {len(sentences)}; two always lie on one line"
        )


def principal(points: Float[np.ndarray, "point dim"], *, axes: int = 2) -> Projection:
    """Principal components: x - mean = U Σ Vᵀ, places U Σ (Pearson, 1901; Hotelling, 1933).

    Each axis points to where its largest entry is positive, so that no map comes out mirrored.
    """
    if min(points.shape) < axes:
        raise ValueError(f"a map: wanted {axes} points and sizes or more, got {points.shape}")
    exact = points.astype(np.float64)
    centred = exact - exact.mean(0)
    _, sigma, basis = np.linalg.svd(centred, full_matrices=False)
    if sigma[0] <= 1e-6 * max(1.0, float(np.abs(exact).max())):
        raise ValueError(
            "a map: wanted sentences that the encoder tells apart, got the same vector for each; "
            "give sentences that differ, or train the model"
        )
    largest = np.take_along_axis(basis, np.abs(basis).argmax(1)[:, None], 1)
    basis = (basis * np.sign(largest))[:axes]
    return Projection(centred @ basis.T, (sigma**2 / (sigma**2).sum())[:axes])


def read_sentences(path: str | Path) -> tuple[list[str], list[str]]:
    """The sentences of a file, one a line, and their groups, each behind a tab or ""."""
    sentences, groups = [], []
    for line in read_lines(Path(path)):
        where = f"{path}:{line.number}"
        if line.fault:
            raise data_error(where, line.fault, "mend or delete the line")
        sentence, *group = (part.strip() for part in line.text.split("\t"))
        if len(group) > 1:
            problem = (
                f"wanted a sentence, or a sentence, a tab and its group, got {len(group)} tabs"
            )
            raise data_error(where, problem, "keep the first tab only")
        if sentence:
            sentences.append(sentence)
            groups.append(group[0] if group else "")
    return sentences, groups
