"""Dialogues: every turn but the first is a reply to those before it."""

import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from regard.data.json_lines import MissingKeyError, as_text, called, reach, records
from regard.data.sources import JSON, Checks, OnError, Pair, Pairs, Report
from regard.data.text_files import existing
from regard.data.tokenizer import TURN

_SHORTENED = re.compile(r"(?<=\w) ?[’'] ?(s|t|m|d|re|ve|ll|clock|am)\b", re.IGNORECASE)
_SPACING = (
    (re.compile(r" +(?=[.,!?;:%)])"), ""),
    (re.compile(r"(?<=[(£$¥]) +"), ""),
    (re.compile(r"(?<=[a-z][.,!?])(?=[A-Z])"), " "),
)


def joined(turns: Sequence[str]) -> str:
    """Give turns as one text."""
    return f" {TURN} ".join(map(one_turn, turns))


def one_turn(text: str) -> str:
    """Give a text that is one turn, whatever stands in it: the mark becomes a blank."""
    return text.replace(TURN, " ").strip()


def as_typed(text: str) -> str:
    """Give "Don't worry, it's $5." for "Don ’ t worry , it's $ 5 ."."""
    text = _SHORTENED.sub(lambda found: "'" + found[1].lower(), text)
    for wrong, right in _SPACING:
        text = wrong.sub(right, text)
    return text


class Dialogues(Pairs):
    """A file with one dialogue a line: a JSON list of turns, or an object with one in a field.

    A pair is a reply with the last `turns` turns before it. Whole dialogues that stand in the file
    `without` are left out.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        turns: int = 3,
        field: str | None = None,
        text: str | None = None,
        typed: bool = False,
        without: str | Path | None = None,
        on_error: OnError = "stop",
        longest: int = 10_000,
    ) -> None:
        if turns < 1:
            raise ValueError(f"turns: wanted 1 or more before each reply, got {turns}")
        self.path = Path(path).expanduser()
        self.without = None if without is None else Path(without).expanduser()
        self.turns, self.field, self.text, self.typed = turns, field, text, typed
        self.checks = Checks(on_error, longest)

    @property
    def files(self) -> list[Path]:
        """The file, and the one whose dialogues are left out."""
        return [existing(path) for path in (self.path, self.without) if path is not None]

    @property
    def settings(self) -> dict[str, JSON]:
        """How many turns, where they are, how they are written, and the checks."""
        return {
            "is": "data.Dialogues",
            "turns": self.turns,
            "keys": [self.field, self.text],
            "typed": self.typed,
            "without": self.without is not None,
            **self.checks.as_dict(),
        }

    def read(self, report: Report) -> Iterator[Pair]:
        """Give a pair for every reply; blank lines and dialogues without a reply are counted."""
        other = self._dialogues(self.without, Report()) if self.without else ()
        known = {tuple(turns) for _, turns in other}
        yield from self.checks.kept(self._pairs(known, report), (), report)

    def group(self, pair: Pair) -> str:
        """The whole dialogue: its turns stand in several pairs."""
        return pair.where.rpartition(" turn ")[0].rpartition(":")[2]

    def _pairs(self, known: Container[tuple[str, ...]], report: Report) -> Iterator[Pair]:
        for where, turns in self._dialogues(self.path, report):
            if tuple(turns) in known:
                report.skip("dialogue also stands in the file of without", where)
            elif len(turns) < 2:
                report.skip("dialogue without a reply", where)
            else:
                for place in range(1, len(turns)):
                    before = joined(turns[max(0, place - self.turns) : place])
                    yield Pair(before, turns[place], f"{where} turn {place + 1}")

    def _dialogues(self, path: Path, report: Report) -> Iterator[tuple[str, list[str]]]:
        for where, record in records(path, self.checks, report):
            try:
                turns = self._turns(record)
            except MissingKeyError as error:
                self.checks.refuse(report, "bad dialogue", where, str(error))
            else:
                yield where, turns

    def _turns(self, record: object) -> list[str]:
        turns = record if self.field is None else reach(record, self.field)
        if not isinstance(turns, list):
            hint = "; name the key with the turns as field" if isinstance(turns, dict) else ""
            raise MissingKeyError(f"wanted a list of turns, got {called(turns)}{hint}")
        return [self._turn(turn, f"turn {number}") for number, turn in enumerate(turns, 1)]

    def _turn(self, turn: object, name: str) -> str:
        inner = turn if self.text is None else reach(turn, self.text)
        text = one_turn(as_text(inner, name))
        if not text:
            raise MissingKeyError(f"{name} is empty")
        return as_typed(text) if self.typed else text
