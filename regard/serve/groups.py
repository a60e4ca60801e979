"""Inputs that are answered together, one symbol for each at a turn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

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


def kind_of(job: Job) -> Kind:
    """Which group a job fits into; a long input would make all others of its group as slow."""
    return Kind(job.served.name, job.how, (job.size // SHORT).bit_length())


@runtime_checkable
class Going(Protocol):
    """Some inputs being answered, as `regard.tasks.asking.Asking` does it."""

    @property
    def live(self) -> Sequence[int]: ...
    def step(self) -> None: ...
    def drop(self, places: Collection[int]) -> None: ...
    def join(self, other: Any) -> int: ...
    def forget(self, place: int) -> None: ...
    def partial(self, place: int, *, look: bool = False) -> Partial: ...
    def output(self, place: int) -> Output: ...
    def trace(self, place: int) -> Trace: ...


class Group:
    """Jobs that go on together; others join them, and each is told at once of its answer."""

    def __init__(self, kind: Kind, *, spent: float) -> None:
        self.kind = kind
        self.rested = self.dropped = self.longest = 0
        """Steps since others joined, jobs that nobody waited for, symbols of the longest input."""
        self.spent = spent
        """Seconds of work, by which groups take turns."""
        self.open: dict[int, Job] = {}
        self._going: Going | None = None
        self._steps = 0
        self._joined: dict[int, int] = {}
        """The step at which each joined."""

    def padding(self, more: int) -> int:
        """What stands behind the beginnings of all inputs if more join now.

        The beginning of every answer is filled up to the length of the longest.
        """
        first = min(self._joined.values())
        return sum(self._joined.values()) - first * len(self._joined) + more * (self._steps - first)

    def join(self, jobs: Sequence[Job], going: Going) -> None:
        """Go on with these jobs as well."""
        first = 0
        if self._going is None:
            self._going = going
        else:
            first = self._going.join(going)
        new = dict(enumerate(jobs, start=first))
        self.open.update(new)
        self._joined.update(dict.fromkeys(new, self._steps))
        self.longest, self.rested = max(self.longest, *(job.size for job in jobs)), 0

    def turn(self) -> Iterator[News]:
        """A symbol more for every input, and news for those who wait."""
        going = self._going
        assert going is not None
        gone = [place for place, job in self.open.items() if job.gone]
        if gone:
            going.drop(gone)
            for place in gone:
                self._close(going, place)
            self.dropped += len(gone)
        if going.live:
            going.step()
            self._steps += 1
            self.rested += 1
        live = set(going.live)
        for place in sorted(self.open.keys() - live):
            found = News(self.open[place], self._found(going, place))
            self._close(going, place)
            yield found
        for place, job in self.open.items():
            if job.ready:
                job.ready = False
                look = self.kind.how.trace and self.kind.length < LONG
                yield News(job, going.partial(place, look=look))

    def _close(self, going: Going, place: int) -> None:
        del self.open[place], self._joined[place]
        going.forget(place)

    def fail(self) -> Iterator[News]:
        """Tell all who still wait that the work broke."""
        fault = broken(f"{len(self.open)} inputs to {self.kind.model}")
        for job in self.open.values():
            yield News(job, fault)
        self.open = {}

    def _found(self, going: Going, place: int) -> Found:
        output = going.output(place)
        if not self.kind.how.trace:
            return Found(output, None)
        trace = going.trace(place)
        small = trace.weights is None or trace.weights.size <= WEIGHTS
        return Found(output, trace.as_dict(heads=small))
