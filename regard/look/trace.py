"""All that is known of how a model said one thing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float

from regard.look.places import Place, Span, one_each, spelt, whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from regard.look.align import Gold

END = "</s>"


class Choice(NamedTuple):
    """A symbol that could have been said."""

    token: str
    log_prob: float


class Branch(NamedTuple):
    """One continuation that the search considered; as `regard.search.Fork`, its symbol spelt."""

    step: int
    parent: int
    token: str
    log_prob: float
    score: float
    kept: bool
    ended: bool


@dataclass(frozen=True)
class SearchTree:
    """What a beam of some width kept and pruned; `best` are the places of the answer's forks."""

    width: int
    forks: list[Branch]
    best: list[int]

    def as_dict(self) -> dict[str, Any]:
        """For JSON, a row for each branch."""
        rows = [
            [b.step, b.parent, b.token, round(b.log_prob, 4), b.kept, b.ended, round(b.score, 4)]
            for b in self.forks
        ]
        return {"width": self.width, "best": self.best, "forks": rows}


@dataclass(frozen=True)
class Trace:
    """What was said, where the model looked for each symbol, and what else it considered."""

    source: Place
    target: list[str]
    """The symbols that were said, the end included."""
    words: list[Span]
    """The words among them."""
    text: str
    weights: Float[np.ndarray, "layer head time source"] | None
    """None for a model that looks nowhere."""
    log_probs: Float[np.ndarray, " time"]
    choices: list[list[Choice]]
    """The likeliest symbols in place of each, best first."""
    search: SearchTree | None = None

    @property
    def said(self) -> list[str]:
        """The symbols that were said, without the end."""
        return self.target[:-1] if self.target[-1:] == [END] else self.target

    @property
    def looks(self) -> Float[np.ndarray, "layer head time source"]:
        """The weights of a model that has some."""
        if self.weights is None:
            raise ValueError("this model has no attention: there is nowhere that it looked")
        return self.weights

    @property
    def searched(self) -> SearchTree:
        """The search of an answer that was searched for."""
        if self.search is None:
            raise ValueError("this answer was given: there is no search for it to show")
        return self.search

    @property
    def alignment(self) -> Float[np.ndarray, "time source"]:
        """One matrix: the mean over the heads of the layer that looks most sharply."""
        by_layer = self.looks.mean(axis=1)
        sharpness = (by_layer * np.log(by_layer.clip(1e-9))).sum(-1).mean(-1)
        return np.asarray(by_layer[int(sharpness.argmax())])

    def merged(self) -> Trace:
        """The same with symbols merged into words on both sides.

        What is looked at adds up; of the looks of several symbols the mean is taken.
        """
        source, columns = self.source.merged()
        rows = whole(self.words, len(self.target))
        weights = self.weights
        if weights is not None:
            weights = np.stack([weights[..., a:b].sum(-1) for a, b in columns], -1)
            weights = np.stack([weights[:, :, a:b].mean(2) for a, b in rows], 2)
        return replace(
            self,
            source=source,
            target=[spelt(self.target[a:b]) for a, b in rows],
            words=one_each(self.words, rows),
            weights=weights,
            log_probs=np.array([self.log_probs[a:b].sum() for a, b in rows]),
            choices=[self.choices[a] for a, _ in rows],
        )

    def as_dict(self, *, heads: bool = True) -> dict[str, Any]:
        """For JSON: the page, the report and notebooks draw from it."""
        plain: dict[str, Any] = {
            "kind": self.source.kind,
            "text": self.text,
            "source": self.source.as_dict(),
            "target": {"tokens": self.target, "words": [list(span) for span in self.words]},
            "log_probs": _short(self.log_probs),
            "choices": [[[c.token, round(c.log_prob, 4)] for c in place] for place in self.choices],
            "search": None if self.search is None else self.search.as_dict(),
        }
        if self.weights is not None:
            plain |= {"layers": len(self.weights), "heads": self.weights.shape[1]}
            plain["alignment"] = _short(self.alignment)
            if heads:
                plain["weights"] = _short(self.weights)
        return plain

    def figure(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """Where the model looked: a matrix, a picture for each word, or a timeline."""
        return self.source.figure(self, title=title, dark=dark)

    def arcs(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """What was read above, what was said below, and a curve for every strong look."""
        from regard.look.arcs import arcs

        return arcs(self.alignment, self.source.labels, self.target, title=title, dark=dark)

    def heads(
        self, *, gold: Gold | None = None, title: str | None = None, dark: bool = False
    ) -> Figure:
        """All layers and heads as small multiples; `gold` are the links to measure them by."""
        from regard.look.heads import heads

        given: dict[str, Any] = {"gold": gold, "title": title, "dark": dark}
        return heads(self.looks, self.source.labels, self.target, **given)

    def tree(self, *, title: str | None = None, dark: bool = False) -> Figure:
        """What the search kept and pruned at each step."""
        from regard.look.tree import tree

        return tree(self.searched, title=title, dark=dark)

    def save(
        self, path: str | Path, *, view: str = "matrix", gold: Gold | None = None,
        title: str | None = None, dark: bool = False,
    ) -> Path:  # fmt: skip
        """Draw one view into a file, by its suffix.

        .png, .svg and .pdf are figures, .gif and .webp a picture word by word, .html is a page with
        all views that fit.
        """
        from regard.look.save import save

        return save(self, Path(path), view=view, gold=gold, title=title, dark=dark)

    def _repr_html_(self) -> str:
        """For notebooks."""
        from regard.look.html import fragment

        return fragment(self.as_dict(), image=self.source.picture)


def _short(numbers: np.ndarray) -> Any:
    """Numbers of four digits; as float32 they would be written with twenty."""
    return numbers.astype(float).round(4).tolist()
