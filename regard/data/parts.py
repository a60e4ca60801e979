"""Parts of a source of pairs: some set aside by a fixed rule, or only the short ones."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

from regard.data.choose import as_pairs
from regard.data.sources import JSON, Checks, Pair, Pairs, Report, set_aside

P = TypeVar("P", bound="_Part")


class _Part(Pairs):
    """Some of the pairs of another source."""

    def __init__(self, of: Pairs | str | list[str]) -> None:
        self.of = as_pairs(of)
        self.checks: Checks = self.of.checks
        self.turns = self.of.turns

    def skipping(self: P) -> P:
        """Give the same part of the whole without what is bad in it."""
        other = super().skipping()
        other.of = self.of.skipping()
        return other

    @property
    def files(self) -> list[Path]:
        """Those of the whole source."""
        return self.of.files

    def group(self, pair: Pair) -> str:
        """That of the whole source."""
        return self.of.group(pair)


class SetAside(_Part):
    """A share of the pairs that is set aside, or all the others.

    What a pair belongs to alone decides, which is its source text, or the dialogue that it is from:
    texts that occur twice stand on one side, and further lines in the file move none of those that
    were there.
    """

    def __init__(
        self, of: Pairs | str | list[str], *, share: float, part: Literal["kept", "aside"]
    ) -> None:
        if not 0 < share < 1:
            raise ValueError(f"share: wanted a share between 0 and 1, got {share}")
        super().__init__(of)
        self.share, self.part = share, part

    @property
    def settings(self) -> dict[str, JSON]:
        """Those of the whole source, with the rule."""
        inner: JSON = self.of.settings
        return {"is": "data.SetAside", "of": inner, "share": self.share, "part": self.part}

    def read(self, report: Report) -> Iterator[Pair]:
        """Give the pairs of this part; what the whole leaves out is counted with those kept."""
        for pair in self.of.read(report if self.part == "kept" else Report()):
            if set_aside(self.of.group(pair), self.share) == (self.part == "aside"):
                yield pair


class UpTo(_Part):
    """The pairs whose sides have at most so many words each."""

    def __init__(self, of: Pairs | str | list[str], *, words: int) -> None:
        if words < 1:
            raise ValueError(f"words: wanted 1 or more, got {words}")
        super().__init__(of)
        self.words = words

    @property
    def settings(self) -> dict[str, JSON]:
        """Those of the whole source, with the limit."""
        inner: JSON = self.of.settings
        return {"is": "data.UpTo", "of": inner, "words": self.words}

    def read(self, report: Report) -> Iterator[Pair]:
        """Give the short pairs; the others are counted."""
        for pair in self.of.read(report):
            if max(len(pair.source.split()), len(pair.target.split())) <= self.words:
                yield pair
            else:
                report.skip(f"over {self.words} words", pair.where)
