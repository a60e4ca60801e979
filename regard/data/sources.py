"""What every source of text pairs has in common: pairs, checks, a report of what was left out."""

from abc import ABC, abstractmethod
from collections.abc import Container, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, TypeVar, get_args
from zlib import crc32

JSON: TypeAlias = "bool | int | float | str | list[JSON] | dict[str, JSON] | None"
OnError: TypeAlias = Literal["stop", "skip"]
C = TypeVar("C", bound="Checked")


class DataError(ValueError):
    """Data that cannot be used: the message says where it stands, what is wrong, what to do."""

    def or_skipped(self, what: str) -> "DataError":
        """The same error where such data may as well be left out."""
        return DataError(
            f"{str(self).removesuffix('.')}, or set on_error: skip to leave such {what} out and "
            "count them (regard train: data.on_error=skip; regard evaluate: --on-error skip)."
        )


def data_error(where: object, problem: str, remedy: str) -> DataError:
    """Build the one form that every message about data has."""
    end = "" if problem.endswith("?") else "."
    return DataError(f"{where}: {problem}{end} Remedy: {remedy}.")


class Pair(NamedTuple):
    """One source text with its target, and where it was read, such as "train.tsv:17"."""

    source: str
    target: str
    where: str


@dataclass
class Report:
    """Counts what was left out, by reason, with the first places where it happened."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    shown: int = 3

    def skip(self, reason: str, where: str) -> None:
        """Count one pair that is left out."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        places = self.examples.setdefault(reason, [])
        if len(places) < self.shown:
            places.append(where)

    @property
    def total(self) -> int:
        """How many were left out for any reason."""
        return sum(self.counts.values())

    def lines(self) -> list[str]:
        """Say it for people, the commonest reason first."""
        said = []
        for reason, count in sorted(self.counts.items(), key=lambda item: (-item[1], item[0])):
            more = ", ..." if count > len(self.examples[reason]) else ""
            said.append(f"{count:,} skipped: {reason} ({', '.join(self.examples[reason])}{more})")
        return said

    def as_dict(self) -> dict[str, JSON]:
        """Say it for programs."""
        return {
            reason: {"count": count, "examples": list(self.examples[reason])}
            for reason, count in sorted(self.counts.items())
        }


@dataclass(frozen=True)
class Checks:
    """What a pair must fulfil, and whether a bad one stops the reading or is counted and left."""

    on_error: OnError = "stop"
    longest: int = 10_000

    def __post_init__(self) -> None:
        """Refuse settings that mean nothing."""
        if self.on_error not in get_args(OnError):
            wanted = " or ".join(get_args(OnError))
            raise ValueError(f"on_error: wanted {wanted}, got {self.on_error!r}")
        if self.longest < 1:
            raise ValueError(f"longest: wanted a number of characters above 0, got {self.longest}")

    def refuse(self, report: Report, reason: str, where: str, problem: str) -> None:
        """Stop with the problem, or count it under its reason."""
        if self.on_error == "stop":
            raise data_error(where, problem, "correct it").or_skipped("lines")
        report.skip(reason, where)

    def passes(self, pair: Pair, report: Report) -> bool:
        """Tell whether both sides hold text of a bearable length."""
        for side, text in (("source", pair.source), ("target", pair.target)):
            if not text:
                self.refuse(report, f"empty {side}", pair.where, f"the {side} side is empty")
                return False
            if len(text) > self.longest:
                problem = (
                    f"the {side} side has {len(text):,} characters, "
                    f"wanted at most {self.longest:,} (longest)"
                )
                self.refuse(report, f"{side} over {self.longest} characters", pair.where, problem)
                return False
        return True

    def kept(self, pairs: Iterator[Pair], known: Container[str], report: Report) -> Iterator[Pair]:
        """Give the pairs that pass and whose source side is not among the known ones."""
        for pair in pairs:
            if not self.passes(pair, report):
                continue
            if pair.source in known:
                report.skip("source also stands in the file of without", pair.where)
            else:
                yield pair

    def as_dict(self) -> dict[str, JSON]:
        """Give what changes the content of what is read."""
        return {"on_error": self.on_error, "longest": self.longest}


def set_aside(what: str, share: float) -> bool:
    """Whether something belongs to the share that is set aside, as its own text alone decides."""
    return crc32(what.encode()) < share * 2**32


class Checked:
    """A source of data whose lines are checked."""

    checks: Checks = Checks()

    def skipping(self: C) -> C:
        """Give the same source, but what is bad in it is left out and counted."""
        other = copy(self)
        other.checks = replace(self.checks, on_error="skip")
        return other


class Pairs(Checked, ABC):
    """A source of text pairs that can be read again and again, in the same order each time."""

    turns: int = 1
    """How many turns of a dialogue a source side may hold, with `tokenizer.TURN` between them."""

    @abstractmethod
    def read(self, report: Report) -> Iterator[Pair]:
        """Give the pairs one by one; what is left out is counted in the report."""

    def group(self, pair: Pair) -> str:
        """What must not be torn apart when some pairs are set aside: those of one source text."""
        return pair.source.casefold()

    @property
    @abstractmethod
    def files(self) -> list[Path]:
        """The files whose content decides what is read."""

    @property
    @abstractmethod
    def settings(self) -> dict[str, JSON]:
        """Whatever else decides what is read."""
