"""`regard run MODEL --talk`: a dialogue in the terminal, or through a pipe."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator

from regard.tasks.talk import Talk

WELCOME = "Say something, line by line; /new forgets what was said, /quit ends."


def converse(talk: Talk) -> None:
    """Reply to every line, until /quit or the end of the input."""
    _note(WELCOME)
    for line in map(str.strip, _lines()):
        if line == "/quit":
            return
        if line == "/new":
            talk.forget()
            _note("a new dialogue")
        elif line.startswith("/"):
            _note(f"there is no {line.split()[0]}, only /new and /quit")
        elif line:
            print(talk.say(line), flush=True)


def _note(text: str) -> None:
    # Apart from the replies, which a program may read.
    print(text, file=sys.stderr, flush=True)


def _lines() -> Iterator[str]:
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")  # one broken byte ends no dialogue
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    while True:
        try:
            yield input("> ")
        except EOFError:
            print()
            return
