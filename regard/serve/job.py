"""One request on its way: the event loop waits for it, a worker answers it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from regard.serve.errand import Ask, Found, Leave, More, Order
from regard.serve.faults import GoneError

if TYPE_CHECKING:
    from regard.serve.offered import How, Offered
    from regard.tasks.asking import Partial


class Job:
    """What is to be answered, and who waits for it; it belongs to the event loop."""

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
        self._number = 0
        self._order: Callable[[Order], object] = lambda _: None
        self._found: asyncio.Future[Found] = asyncio.get_running_loop().create_future()
        self._begun: Partial | None = None
        self._news = asyncio.Event()

    @property
    def over(self) -> bool:
        """Whether the answer is there, or nobody waits for it any more."""
        return self._found.done()

    def begin(self, number: int, order: Callable[[Order], object]) -> None:
        """Have it answered by whoever takes these orders."""
        self._number, self._order = number, order
        order(Ask(number, self.served.name, self.given, self.how, self.prefix, self.stream))

    async def found(self) -> Found:
        """The answer, once it is there."""
        return await asyncio.shield(self._found)

    async def next(self) -> Partial | Found:
        """The newest beginning of the answer that was not given yet, or the answer itself.

        Who reads slowly gets fewer beginnings, and the worker makes no more than are read.
        """
        await self._news.wait()
        self._news.clear()
        if self.over:
            self._news.set()
            return self._found.result()
        begun, self._begun = self._begun, None
        assert begun is not None
        self._order(More(self._number))
        return begun

    def leave(self) -> None:
        """Wait no more: the worker gives the work up, and whoever still waits is told."""
        if not self.over:
            self._order(Leave(self._number))
            self.hear(GoneError())

    def hear(self, news: Partial | Found | Exception) -> None:
        """Take over what the worker found."""
        if self.over:
            return
        if isinstance(news, Exception):
            self._found.set_exception(news)
            self._found.exception()  # it is no fault that nobody may be there to ask for it
        elif isinstance(news, Found):
            self._found.set_result(news)
        else:
            self._begun = news
        self._news.set()
