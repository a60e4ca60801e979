"""What a person sees while a model learns: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from regard.train.learning import Validation


class Pulse(NamedTuple):
    """The numbers of one update."""

    update: int
    epoch: int
    loss: float
    rate: float
    gradient: float

    def text(self, speed: float) -> str:
        """The numbers in one line."""
        return (
            f"loss {self.loss:.3f}  ppl {math.exp(min(self.loss, 50)):.2f}  "
            f"lr {self.rate:.2e}  |g| {self.gradient:.2f}  {speed:,.0f} tok/s"
        )


class View:
    """Shows progress on a terminal, prints lines where there is none, and is silent if told so."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.console = Console(stderr=True, quiet=quiet, highlight=False)
        self.live = self.console.is_terminal and not quiet
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._said = 0.0

    def say(self, text: str, *, style: str | None = None) -> None:
        """One line for the reader."""
        self.console.print(escape(text), style=style, soft_wrap=not self.live)

    def start(self, total: int, done: int) -> None:
        """Begin to show progress."""
        if not self.live:
            return
        self._progress = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[pulse]}"),
            TimeRemainingColumn(),
            console=self.console,
            transient=False,
        )
        self._progress.start()
        self._task = self._progress.add_task("", total=total, completed=done, epoch=1, pulse="")

    def pulse(self, pulse: Pulse, total: int, speed: float) -> None:
        """Show the latest numbers."""
        if self._progress is not None:
            self._progress.update(
                self._task,
                completed=pulse.update,
                total=total,
                epoch=pulse.epoch + 1,
                pulse=pulse.text(speed),
            )
        elif time.monotonic() - self._said > 10 or pulse.update == total:
            self._said = time.monotonic()
            self.say(f"epoch {pulse.epoch + 1}  update {pulse.update}/{total}  {pulse.text(speed)}")

    def validation(self, update: int, validation: Validation, *, best: bool) -> None:
        """Show the scores and a few outputs."""
        scores = "  ".join(f"{name} {value:.2f}" for name, value in validation.scores.items())
        self.say(
            f"validation at {update}: {scores}{'  (best so far)' if best else ''}",
            style="bold green" if best else "bold",
        )
        for sample in validation.samples:
            if sample.reference is None:
                self.say(f"  {_short(sample.output, 200)}", style="dim")
                continue
            mark = "=" if sample.output == sample.reference else "≠"
            self.say(
                f"  {_short(sample.source)} → {_short(sample.output)}  {mark} "
                f"{_short(sample.reference)}",
                style="dim",
            )

    def stop(self) -> None:
        """End the live line."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        sys.stderr.flush()


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
