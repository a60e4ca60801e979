"""Inputs that are answered together, one symbol for each at a turn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from regard.serve.faults import broken
from regard.serve.job import Found, Job, News

if TYPE_CHECKING:
    from regard.look.trace import Trace
    from regard.serve.offered import How
    from regard.tasks.asking import Partial
    from regard.tasks.output import Output

SHORT = 64
"""Symbols up to which inputs count as of one length; above, each doubling is a kind of its own."""
LONG = 3
"""Doublings from which on beginnings of answers come without attention: it grows with both."""
WEIGHTS = 300_000
"""Numbers up to which a trace has the weights of all heads; beyond, only their alignment."""


class Kind(NamedTuple):
    """What inputs must have in common to be answered together."""

    model: str
    how: How
    length: int


def kind_of(job: Job, size: int) -> Kind:
    """Which group a job fits into; a long input would make all others of its group as slow."""
    return Kind(job.served.name, job.how, (size // SHORT).bit_length())


@runtime_checkable
class Going(Protocol):
    """Some inputs being answered, as `regard.tasks.asking.Asking` does it."""

    @property
    def live(self) -> Sequence[int]: ...
    def step(self) -> None: ...
    def drop(self, places: Collection[int]) -> None: ...
    def partial(self, place: int, *, look: bool = False) -> Partial: ...
    def output(self, place: int) -> Output: ...
    def trace(self, place: int) -> Trace: ...


class Group:
    """Jobs that go on together; each is told at once when its answer is there."""

    def __init__(self, kind: Kind, jobs: Sequence[Job], going: Going, *, spent: float) -> None:
        self.kind, self.jobs, self.going = kind, jobs, going
        self.steps, self.dropped = 0, 0
        self.spent = spent
        """Seconds of work, by which groups take turns."""
        self.open = set(range(len(jobs)))

    def turn(self) -> Iterator[News]:
        """A symbol more for every input, and news for those who wait."""
        gone = [place for place in self.open if self.jobs[place].gone]
        if gone:
            self.going.drop(gone)
            self.open.difference_update(gone)
            self.dropped += len(gone)
        if self.going.live:
            self.going.step()
            self.steps += 1
        live = set(self.going.live)
        for place in sorted(self.open - live):
            yield News(self.jobs[place], self._found(place))
        self.open &= live
        for place in sorted(self.open):
            job = self.jobs[place]
            if job.ready:
                job.ready = False
                look = self.kind.how.trace and self.kind.length < LONG
                yield News(job, self.going.partial(place, look=look))

    def fail(self) -> Iterator[News]:
        """Tell all who still wait that the work broke."""
        fault = broken(f"{len(self.open)} inputs to {self.kind.model}")
        for place in self.open:
            yield News(self.jobs[place], fault)
        self.open = set()

    def _found(self, place: int) -> Found:
        output = self.going.output(place)
        if not self.kind.how.trace:
            return Found(output, None)
        trace = self.going.trace(place)
        small = trace.weights is None or trace.weights.size <= WEIGHTS
        return Found(output, trace.as_dict(heads=small))
