"""One request to run a model, from its first byte to the end of its answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response

from regard.serve.body import CLOSE, read
from regard.serve.errand import Found
from regard.serve.faults import GoneError, RefusedError
from regard.serve.job import Job
from regard.serve.stream import Events, begun, event, faulty
from regard.serve.wire import Answer, Answers

if TYPE_CHECKING:
    from regard.serve.house import House
    from regard.serve.offered import Offered
    from regard.tasks.asking import Partial

GONE = 499
"""What the counts call a request whose sender has gone."""


class Visit:
    """Whoever asks, with the time that is left."""

    def __init__(self, house: House, request: Request) -> None:
        self.house, self.request = house, request
        self.began = asyncio.get_running_loop().time()
        self.until = self.began + house.limits.seconds
        self.reading = True
        self.model, self.status = "", 500

    async def answer(self) -> Response:
        """The answer, whole or as events."""
        with ExitStack() as left:
            left.callback(self._count)
            try:
                async with asyncio.timeout_at(self.until):
                    return await self._answer(left)
            except TimeoutError:
                late = self._late()
                self.status = late.status
                raise late from None
            except RefusedError as refused:
                self.status = refused.status
                raise
            except GoneError:
                self.status = GONE
                return Response(status_code=GONE)

    async def _answer(self, left: ExitStack) -> Response:
        job = await self._enter(left)
        # Whatever happens from here on, the worker learns that nobody waits any more.
        left.callback(job.leave)
        watching = asyncio.create_task(self._watch(job))
        try:
            first: Partial | Found = await (job.next() if job.stream else job.found())
        finally:
            watching.cancel()
        if job.stream:
            self.status = 200
            return Events(self._events(job, first), left.pop_all(), until=self.until)
        assert isinstance(first, Found)
        said = self._said(job, first)
        self.status = 200
        return Response(said, media_type="application/json")

    async def _enter(self, left: ExitStack) -> Job:
        """Read what is asked and hand it to the worker."""
        with self.house.entering():
            ask, image = await read(self.request, self.house.limits)
            self.reading = False
            served = self.house.model(ask.model)
            self.model = served.name
            how = served.how(ask)
            given = await self._given(served, ask.text, image, left)
            if ask.stream:
                left.enter_context(self.house.streaming())
            job = Job(served, given, how, prefix=ask.prefix, stream=ask.stream)
            self.house.crew.put(job)
            return job

    async def _given(
        self, served: Offered, text: str | None, image: bytes | None, left: ExitStack
    ) -> Any:
        """What the model is to answer: a text, or an open picture."""
        if text is not None and image is not None:
            raise RefusedError(422, "invalid", "wanted either text or image, got both")
        if not served.sees:
            return served.text(text)
        if image is None:
            raise RefusedError(422, "no_input", f"image: {served.name} wants a picture, got none")
        picture = await self.house.opened(image)
        left.enter_context(self.house.holding(picture))
        return picture

    async def _watch(self, job: Job) -> None:
        """Let the job go when its sender does."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass
        job.leave()

    async def _events(self, job: Job, news: Partial | Found) -> AsyncIterator[bytes]:
        try:
            while not isinstance(news, Found):
                yield event("partial", begun(news))
                async with asyncio.timeout_at(self.until):
                    news = await job.next()
            yield event("answer", self._said(job, news))
        except TimeoutError:
            late = self._late()
            self.status = late.status
            yield event("error", faulty(late.as_dict()))
        except RefusedError as refused:
            self.status = refused.status
            yield event("error", faulty(refused.as_dict()))

    def _said(self, job: Job, found: Found) -> str:
        output, trace = found
        return Answers(
            model=job.served.name,
            answers=[
                Answer(
                    text=each.text,
                    tokens=each.tokens,
                    log_prob=each.log_prob,
                    score=each.score,
                    complete=each.complete,
                )
                for each in (output, *output.others)
            ],
            unknown=sorted(set(output.unknown)),
            seconds=round(self._seconds, 4),
            trace=trace,
        ).model_dump_json(exclude_none=True)

    @property
    def _seconds(self) -> float:
        return asyncio.get_running_loop().time() - self.began

    def _late(self) -> RefusedError:
        seconds = f"within {self.house.limits.seconds:g} seconds"
        if self.reading:
            message = f"body: wanted all of it {seconds}"
            return RefusedError(408, "too_slow", message, headers=CLOSE)
        message = f"there was no answer {seconds}; ask for a shorter text or a narrower beam"
        return RefusedError(504, "too_late", message)

    def _count(self) -> None:
        metrics = self.house.metrics
        metrics.requests.labels(self.model, str(self.status)).inc()
        if self.status == 200:
            metrics.seconds.labels(self.model).observe(self._seconds)
