"""Files with one JSON object a line."""

import json
from collections.abc import Iterator
from pathlib import Path

from regard.data.sources import JSON, Checks, OnError, Pair, Pairs, Report
from regard.data.tables import UniqueIds
from regard.data.text_files import existing, read_lines, unwritable
from regard.words import close


class MissingKeyError(ValueError):
    """A key that a record does not have, or that holds no text."""


def reach(record: object, key: str) -> object:
    """Give what is under a dotted key, such as translation.en; a key with dots in it wins."""
    here = record
    rest = key
    while rest:
        if not isinstance(here, dict):
            raise MissingKeyError(f"no key {key!r}: wanted an object there, got {called(here)}")
        name, rest = (rest, "") if rest in here else rest.partition(".")[::2]
        if name not in here:
            known = [str(known) for known in here]
            raise MissingKeyError(f"no key {key!r}, only {', '.join(known)}{close(name, known)}")
        here = here[name]
    return here


def dig(record: object, key: str) -> str:
    """Give the text under a dotted key."""
    return as_text(reach(record, key), f"the key {key!r}")


def as_text(value: object, name: str) -> str:
    """Give a value that is a text which can be written."""
    if not isinstance(value, str):
        raise MissingKeyError(f"{name} holds {called(value)}, wanted a text")
    if unwritable(value) >= 0:
        raise MissingKeyError(f"{name} holds half a surrogate pair, wanted a text")
    return value


def called(value: object) -> str:
    """Say what kind of JSON a value is."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a truth value"}
    return "nothing" if value is None else names.get(type(value), "a number")


def records(path: Path, checks: Checks, report: Report) -> Iterator[tuple[str, object]]:
    """Give what each line of JSON holds, and where it stands; blank lines are counted."""
    for line in read_lines(path):
        where = f"{path}:{line.number}"
        if line.fault:
            checks.refuse(report, "unreadable line", where, line.fault)
        elif not line.text.strip():
            report.skip("blank line", where)
        else:
            try:
                record = json.loads(line.text)
            except (json.JSONDecodeError, RecursionError) as error:
                checks.refuse(report, "bad JSON", where, f"not JSON: {error}")
            else:
                yield where, record


class JsonLines(Pairs):
    """A file with one JSON object a line, the texts under (dotted) keys."""

    def __init__(
        self,
        path: str | Path,
        *,
        source: str = "source",
        target: str = "target",
        id: str | None = None,  # noqa: A002  the word that a recipe says
        without: str | Path | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        self.path = Path(path).expanduser()
        self.without = None if without is None else Path(without).expanduser()
        self.source, self.target, self.id = source, target, id
        self.checks = Checks(on_error, longest)

    @property
    def files(self) -> list[Path]:
        """The file, and the one whose sources are left out."""
        return [existing(path) for path in (self.path, self.without) if path is not None]

    @property
    def settings(self) -> dict[str, JSON]:
        """The keys and the checks."""
        return {
            "is": "data.JsonLines",
            "keys": [self.source, self.target, self.id],
            "without": self.without is not None,
            **self.checks.as_dict(),
        }

    def read(self, report: Report) -> Iterator[Pair]:
        """Give one pair a line; blank lines are counted."""
        other = self._pairs(self.without, Report()) if self.without else ()
        known = {pair.source for pair in other}
        yield from self.checks.kept(self._pairs(self.path, report), known, report)

    def _pairs(self, path: Path, report: Report) -> Iterator[Pair]:
        ids = UniqueIds(self.checks)
        for where, record in records(path, self.checks, report):
            if not isinstance(record, dict):
                hint = "; dialogues are read by data.Dialogues" if isinstance(record, list) else ""
                problem = f"wanted an object with keys, got {called(record)}{hint}"
                self.checks.refuse(report, "bad JSON", where, problem)
                continue
            try:
                source, target = dig(record, self.source), dig(record, self.target)
                key = None if self.id is None else str(record[self.id])
            except (MissingKeyError, KeyError) as error:
                problem = str(error) if isinstance(error, MissingKeyError) else f"no id {error}"
                self.checks.refuse(report, "missing key", where, problem)
                continue
            if key is None or ids.new(key, where, report):
                yield Pair(source.strip(), target.strip(), where)
