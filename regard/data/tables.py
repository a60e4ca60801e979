"""Tables of text, one pair a row."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, TypeAlias

from regard.data.sources import JSON, Checks, OnError, Pair, Pairs, Report, data_error
from regard.data.text_files import existing, kind, read_lines
from regard.words import close

Column: TypeAlias = int | str
SEPARATORS = {".tsv": "\t", ".csv": ","}
HEADERS = {("source", "target"), ("src", "tgt"), ("src", "trg")}
"""First rows that nobody means as a pair."""


class UniqueIds:
    """Refuses an identifier that was seen before."""

    def __init__(self, checks: Checks) -> None:
        self.checks = checks
        self.seen: dict[str, str] = {}

    def new(self, key: str, where: str, report: Report) -> bool:
        """Remember the identifier; a repeated one stops or is counted."""
        first = self.seen.setdefault(key, where)
        if first == where:
            return True
        problem = f"the id {key!r} stands at {first} already"
        self.checks.refuse(report, "duplicated id", where, problem)
        return False


class _Feed:
    """Gives the good lines of a file to the csv module, and knows the number of the last one."""

    def __init__(self, path: Path, checks: Checks, report: Report) -> None:
        self.path, self.checks, self.report = path, checks, report
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in read_lines(self.path):
            self.number = line.number
            if line.fault:
                where = f"{self.path}:{line.number}"
                self.checks.refuse(self.report, "unreadable line", where, line.fault)
            else:
                yield line.text + "\n"


class Table(Pairs):
    """A file of rows with a separator: .tsv (quotes mean nothing) and .csv (quoted) by suffix."""

    KEYS: ClassVar[tuple[str, ...]] = ("source", "target")

    def __init__(
        self,
        path: str | Path,
        *,
        source: Column = 0,
        target: Column = 1,
        separator: str | None = None,
        header: bool | None = None,
        id: Column | None = None,  # noqa: A002  the word that a recipe says
        without: str | Path | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        self.path = Path(path).expanduser()
        self.without = None if without is None else Path(without).expanduser()
        self.checks = Checks(on_error, longest)
        self.columns: list[Column] = [source, target, *([] if id is None else [id])]
        self.separator = separator if separator is not None else SEPARATORS.get(kind(path), "")
        named = [column for column in self.columns if isinstance(column, str)]
        self.header = bool(named) if header is None else header
        if not self.separator:
            problem = f"no separator is known for the suffix {kind(path)!r}"
            raise data_error(path, problem, 'give one, such as separator: "\\t"')
        if named and not self.header:
            problem = f"the column {named[0]!r} is given by name, but header is false"
            raise data_error(path, problem, "give columns by number, from 0, or set header: true")

    @property
    def files(self) -> list[Path]:
        """The table, and the one whose sources are left out."""
        return [existing(path) for path in (self.path, self.without) if path is not None]

    @property
    def settings(self) -> dict[str, JSON]:
        """How the table is read."""
        return {
            "is": "data.Table",
            "columns": list(self.columns),
            "separator": self.separator,
            "header": self.header,
            "without": self.without is not None,
            **self.checks.as_dict(),
        }

    def read(self, report: Report) -> Iterator[Pair]:
        """Give one pair a row; blank lines are counted."""
        other = self._pairs(self.without, Report()) if self.without else ()
        known = {pair.source for pair in other}
        yield from self.checks.kept(self._pairs(self.path, report), known, report)

    def _pairs(self, path: Path, report: Report) -> Iterator[Pair]:
        rows = self._rows(path, report)
        names = self._names(path, rows)
        places = [self._place(path, column, names) for column in self.columns]
        ids = UniqueIds(self.checks)
        for number, (where, row) in enumerate(rows):
            if not row:
                report.skip("blank line", where)
            elif not number and not self.header and tuple(map(str.lower, row)) in HEADERS:
                problem = f"a row of names ({', '.join(row)}) would be a pair; set header: true"
                self.checks.refuse(report, "header", where, problem)
            elif len(row) <= max(places):
                problem = f"has {len(row)} columns, wanted at least {max(places) + 1}"
                self.checks.refuse(report, "missing column", where, problem)
            elif len(places) < 3 or ids.new(row[places[2]], where, report):
                yield Pair(row[places[0]].strip(), row[places[1]].strip(), where)

    def _names(self, path: Path, rows: Iterator[tuple[str, list[str]]]) -> list[str]:
        if not self.header:
            return []
        for _, row in rows:
            if row:
                return [name.strip() for name in row]
        raise data_error(path, "is empty, wanted a header with columns", "check the file")

    def _place(self, path: Path, column: Column, names: list[str]) -> int:
        if isinstance(column, int):
            if column < 0:
                raise data_error(path, f"column {column} does not exist", "count columns from 0")
            return column
        if column in names:
            return names.index(column)
        problem = f"has no column {column!r}, only {', '.join(names)}{close(column, names)}"
        numbers = ", ".join(f"{key}: {place}" for place, key in enumerate(self.KEYS))
        remedy = f"name a column of the header or, where there is none, count: {numbers}"
        for other in (";", ",", "\t", "|"):
            if len(names) == 1 and column in map(str.strip, names[0].split(other)):
                remedy = f"say what stands between the columns: separator: {json.dumps(other)}"
        raise data_error(f"{path}:1", problem, remedy)

    def _rows(self, path: Path, report: Report) -> Iterator[tuple[str, list[str]]]:
        feed = _Feed(path, self.checks, report)
        if self.separator == ",":
            yield from self._quoted(feed)
            return
        for line in feed:
            text = line.removesuffix("\n")
            yield f"{path}:{feed.number}", text.split(self.separator) if text.strip() else []

    def _quoted(self, feed: _Feed) -> Iterator[tuple[str, list[str]]]:
        reader = csv.reader(feed, strict=True)
        while True:
            where = f"{feed.path}:{feed.number + 1}"
            try:
                yield where, next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                problem = f"the row that starts here is not CSV: {error}"
                self.checks.refuse(feed.report, "bad CSV", where, problem)
