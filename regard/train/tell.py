"""What a run tells: numbers into the logs, and lines or a live view for whoever looks on."""

from __future__ import annotations

import time
from pathlib import Path

from regard.train.learning import Validation
from regard.train.log import Log, Logger, NoLog
from regard.train.state import State
from regard.train.view import Pulse, View


class Teller:
    """The logs and the view of a run, and its clock; only the first process tells anything."""

    def __init__(
        self, folder: Path, state: State, view: View, *, first: bool, tensorboard: bool
    ) -> None:
        self.state, self.view = state, view if first else View(quiet=True)
        self.log: Logger = NoLog()
        if first:
            self.log = Log(
                folder, size=state.log_size, update=state.update, tensorboard=tensorboard
            )
        self.began = time.monotonic() - state.seconds
        self.rest()

    def seconds(self) -> float:
        """Since the run began, without the time that it lay still."""
        return time.monotonic() - self.began

    def rest(self) -> None:
        """Measure the speed anew from here: what came before was no training."""
        self.clock, self.tokens = time.perf_counter(), 0

    def pulse(self, pulse: Pulse) -> None:
        """The latest update."""
        speed = self.tokens / (time.perf_counter() - self.clock)
        facts = {"epoch": pulse.epoch, "loss": pulse.loss}
        self.log.write(pulse.update, {**facts, "rate": pulse.rate, "gradient": pulse.gradient})
        self.log.time(pulse.update, {"seconds": self.seconds(), "tokens_per_second": speed})
        self.view.pulse(pulse, self.state.total, speed)
        self.rest()

    def validation(self, found: Validation, *, best: bool) -> None:
        """What real decoding gave."""
        update = self.state.update
        self.log.write(update, {f"valid/{k}": v for k, v in found.scores.items()})
        self.log.time(update, {"seconds": self.seconds(), **found.scores})
        self.view.validation(update, found, best=best)
        self.rest()

    def final(self, found: Validation, which: str) -> None:
        """What the weights that are kept give."""
        update = self.state.update
        self.log.write(update, {f"final/{k}": v for k, v in found.scores.items()})
        self.view.say(f"final weights ({which}):")
        self.view.validation(update, found, best=False)

    def close(self) -> None:
        """Leave the terminal and the files in order."""
        self.view.stop()
        self.log.close()
