"""What a server and its workers say to each other, whether in one process or in several."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from regard.serve.faults import GoneError, RefusedError
    from regard.serve.offered import Answerer, How
    from regard.serve.work import Worker
    from regard.tasks.asking import Partial
    from regard.tasks.output import Output


class Found(NamedTuple):
    """An answer with its trace, where one was asked for."""

    output: Output
    trace: dict[str, Any] | None


class News(NamedTuple):
    """Something that was found for the request of a number; each has one last news."""

    number: int
    what: Partial | Found | RefusedError | GoneError
    last: bool = True


class Report(NamedTuple):
    """News, with what a worker has done since its last report and how it stands."""

    news: list[News]
    begun: int
    """Requests whose group has begun, or that were given up before."""
    live: int
    """Inputs that are worked on."""
    steps: int
    together: list[tuple[str, int]]
    """For each time that some joined a group: its model, and how many were in it then."""


class Errand:
    """A request as a worker knows it."""

    def __init__(self, order: Ask, served: Answerer) -> None:
        self.number, self.given, self.how, self.prefix = order[:1] + order[2:5]
        self.served = served
        self.size = 0
        """Symbols of the input."""
        self.gone = False
        """Nobody waits any more: it is dropped."""
        self.ready = order.stream
        """Whether a beginning of the answer may be sent: the one before was taken."""


class Ask(NamedTuple):
    """Answer this."""

    number: int
    model: str
    given: Any
    how: How
    prefix: str | list[str] | None
    stream: bool

    def obey(self, worker: Worker) -> None:
        worker.take(self)


class Leave(NamedTuple):
    """Nobody waits for it any more."""

    number: int

    def obey(self, worker: Worker) -> None:
        if self.number in worker.errands:
            worker.errands[self.number].gone = True


class More(NamedTuple):
    """The last beginning of its answer was taken: there may be another."""

    number: int

    def obey(self, worker: Worker) -> None:
        if self.number in worker.errands:
            worker.errands[self.number].ready = True


class Close(NamedTuple):
    """Finish what was taken, then end."""

    def obey(self, worker: Worker) -> None:
        worker.close()


Order = Ask | Leave | More | Close
Hearing = Callable[[Report | None], object]
"""Whoever gets the reports of a worker, and None when there will be no more."""
