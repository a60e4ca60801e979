"""A count that a person can follow while something long goes on."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

PLAIN_SECONDS = 10.0


@contextmanager
def counting(
    what: str, unit: str, *, shown: bool, total: int | None = None
) -> Iterator[Callable[[int], None]]:
    """Give a function that counts on: a live line on a terminal, plain lines elsewhere.

    With a total the line says how much is left and how fast it goes.
    """
    if not shown:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _live(what, unit, total) as advance:
            yield advance
    else:
        with _plain(what, unit, total) as advance:
            yield advance


@contextmanager
def _live(what: str, unit: str, total: int | None) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        ProgressColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    count = TextColumn("{task.completed:,.0f} " + unit)
    columns: list[ProgressColumn] = [SpinnerColumn(), TextColumn(what), count, TimeElapsedColumn()]
    if total is not None:
        of = TextColumn("{task.completed:,.0f} of {task.total:,.0f} " + unit)
        columns = [TextColumn(what), BarColumn(), of, TextColumn("{task.fields[speed]}")]
        columns.append(TimeRemainingColumn())
    start = time.monotonic()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, speed="")

        def advance(further: int) -> None:
            done = bar.tasks[0].completed + further
            speed = f"{done / max(time.monotonic() - start, 1e-9):,.1f}/s"
            bar.update(task, advance=further, speed=speed)

        yield advance


@contextmanager
def _plain(what: str, unit: str, total: int | None) -> Iterator[Callable[[int], None]]:
    done, start, said = 0, time.monotonic(), time.monotonic()

    def speed() -> str:
        return f" ({done / max(time.monotonic() - start, 1e-9):,.1f}/s)" if total else ""

    def advance(further: int) -> None:
        nonlocal done, said
        done += further
        if time.monotonic() - said > PLAIN_SECONDS:
            said = time.monotonic()
            of = f" of {total:,}" if total else ""
            print(f"{what}: {done:,}{of} {unit}{speed()}", file=sys.stderr)

    yield advance
    seconds = time.monotonic() - start
    print(f"{what}: {done:,} {unit} in {seconds:.1f} s{speed()}", file=sys.stderr)
