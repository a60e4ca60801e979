"""The workers of a server, each with its models, and who of them answers which request."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from regard.serve.errand import Close, Hearing, Order, Report
from regard.serve.faults import GoneError, RefusedError, busy
from regard.serve.job import Job
from regard.serve.metrics import Metrics


@runtime_checkable
class Hand(Protocol):
    """A worker somewhere: in a thread, or in a process of its own."""

    @property
    def works(self) -> bool:
        """Whether it is there."""

    def start(self, hear: Hearing) -> None:
        """Begin; `hear` is called from any thread."""

    def order(self, order: Order) -> None:
        """Pass an order on, without waiting."""

    def join(self) -> None:
        """Wait until it has ended."""


class _Desk:
    """What the event loop knows of one worker."""

    def __init__(self, hand: Hand) -> None:
        self.hand = hand
        self.jobs: dict[int, Job] = {}
        self.put = self.begun = self.live = 0


class Crew:
    """Gives every job to the worker that has the fewest; it belongs to the event loop."""

    def __init__(self, hands: Sequence[Hand], metrics: Metrics) -> None:
        self.metrics = metrics
        self._desks = [_Desk(hand) for hand in hands]
        self._number = 0

    @property
    def works(self) -> bool:
        """Whether anybody is there."""
        return any(desk.hand.works for desk in self._desks)

    @property
    def hands(self) -> int:
        """How many workers are there."""
        return sum(desk.hand.works for desk in self._desks)

    @property
    def waiting(self) -> int:
        """Jobs whose group has not begun."""
        return sum(desk.put - desk.begun for desk in self._desks)

    @property
    def live(self) -> int:
        """Inputs that are worked on."""
        return sum(desk.live for desk in self._desks)

    def start(self) -> None:
        """Let all begin, from the event loop."""
        loop = asyncio.get_running_loop()
        for desk in self._desks:
            desk.hand.start(_hearing(loop, self._hear, desk))

    def put(self, job: Job) -> None:
        """Have a job done."""
        there = [desk for desk in self._desks if desk.hand.works]
        if not there:
            raise _ended()
        desk = min(there, key=lambda desk: len(desk.jobs))
        self._number += 1
        desk.jobs[self._number] = job
        desk.put += 1
        job.begin(self._number, desk.hand.order)

    def stop(self) -> None:
        """Have all finish what they took, and wait for it, beside the event loop."""
        for desk in self._desks:
            desk.hand.order(Close())
        for desk in self._desks:
            desk.hand.join()

    def _hear(self, desk: _Desk, report: Report | None) -> None:
        if report is None:
            self._lost(desk)
            return
        desk.begun, desk.live = report.begun, report.live
        self.metrics.steps.inc(report.steps)
        self.metrics.dropped.inc(sum(isinstance(each.what, GoneError) for each in report.news))
        for model, count in report.together:
            self.metrics.together.labels(model).observe(count)
        for number, what, last in report.news:
            job = desk.jobs.pop(number) if last else desk.jobs[number]
            job.hear(what)

    def _lost(self, desk: _Desk) -> None:
        """Tell all who wait for a worker that has ended."""
        for job in desk.jobs.values():
            job.hear(_ended())
        desk.jobs = {}
        desk.begun, desk.live = desk.put, 0


def _hearing(
    loop: asyncio.AbstractEventLoop, hear: Callable[[_Desk, Report | None], object], desk: _Desk
) -> Hearing:
    def heard(report: Report | None) -> None:
        try:
            loop.call_soon_threadsafe(hear, desk, report)
        except RuntimeError:
            return  # the loop has ended, and with it everybody who waited

    return heard


def _ended() -> RefusedError:
    return busy("the worker that had this request has ended", 1.0)
