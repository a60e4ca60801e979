"""A count that a person can follow while something long goes on."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PLAIN_SECONDS = 10.0


@contextmanager
def counting(what: str, unit: str, *, shown: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that counts on: a live line on a terminal, plain lines elsewhere."""
    if not shown:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _live(what, unit) as advance:
            yield advance
    else:
        with _plain(what, unit) as advance:
            yield advance


@contextmanager
def _live(what: str, unit: str) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    count = TextColumn("{task.completed:,.0f} " + unit)
    columns = SpinnerColumn(), TextColumn(what), count, TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda further: bar.update(task, advance=further)


@contextmanager
def _plain(what: str, unit: str) -> Iterator[Callable[[int], None]]:
    done, start, said = 0, time.monotonic(), time.monotonic()

    def advance(further: int) -> None:
        nonlocal done, said
        done += further
        if time.monotonic() - said > PLAIN_SECONDS:
            said = time.monotonic()
            print(f"{what}: {done:,} {unit}", file=sys.stderr)

    yield advance
    print(f"{what}: {done:,} {unit} in {time.monotonic() - start:.1f} s", file=sys.stderr)
