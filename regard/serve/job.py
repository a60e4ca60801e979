"""One request on its way: the event loop waits for it, the worker's thread answers it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from regard.serve.faults import GoneError, RefusedError

if TYPE_CHECKING:
    from regard.serve.offered import How, Offered
    from regard.tasks.asking import Partial
    from regard.tasks.output import Output


class Found(NamedTuple):
    """An answer with its trace, where one was asked for."""

    output: Output
    trace: dict[str, Any] | None


class Job:
    """What is to be answered, and who waits for it.

    All but `gone`, `ready` and `size` belongs to the event loop; the worker's thread hands over
    what it finds through `News`.
    """

    def __init__(
        self,
        served: Offered,
        given: Any,
        how: How,
        *,
        prefix: str | list[str] | None = None,
        stream: bool = False,
    ) -> None:
        self.served, self.given, self.how, self.prefix = served, given, how, prefix
        self.stream = stream
        self.loop = asyncio.get_running_loop()
        self.gone = False
        """Nobody waits any more: the worker drops it."""
        self.ready = stream
        """Whether a beginning of the answer may be sent: the one before is on its way."""
        self.size = 0
        """Symbols of the input, as the worker counts them."""
        self._found: asyncio.Future[Found] = self.loop.create_future()
        self._begun: Partial | None = None
        self._news = asyncio.Event()

    async def found(self) -> Found:
        """The answer, once it is there."""
        return await asyncio.shield(self._found)

    async def next(self) -> Partial | Found:
        """The newest beginning of the answer that was not given yet, or the answer itself.

        Who reads slowly gets fewer beginnings, and the worker makes no more than are read.
        """
        await self._news.wait()
        self._news.clear()
        if self._found.done():
            self._news.set()
            return self._found.result()
        begun, self._begun = self._begun, None
        assert begun is not None
        self.ready = True
        return begun

    def leave(self) -> None:
        """Wait no more: the worker gives the work up, and whoever still waits is told."""
        self.gone = True
        self.hear(GoneError())

    def hear(self, news: Partial | Found | Exception) -> None:
        """Take over what the worker found."""
        if self._found.done():
            return
        if isinstance(news, Exception):
            self._found.set_exception(news)
            self._found.exception()  # it is no fault that nobody may be there to ask for it
        elif isinstance(news, Found):
            self._found.set_result(news)
        else:
            self._begun = news
        self._news.set()


class News(NamedTuple):
    """Something that the worker found for a job."""

    job: Job
    what: Partial | Found | RefusedError


def tell(news: Sequence[News]) -> None:
    """Hand over what was found, from the worker's thread to the event loop, in one go."""
    if not news:
        return
    try:
        news[0].job.loop.call_soon_threadsafe(_hear, news)
    except RuntimeError:
        return  # the loop has ended, and with it everybody who waited


def _hear(news: Sequence[News]) -> None:
    for job, what in news:
        job.hear(what)
