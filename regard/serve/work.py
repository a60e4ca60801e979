"""The worker: one thread that owns the models and shares its time among all who ask."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable
from time import perf_counter

from regard.serve.faults import RefusedError, broken
from regard.serve.groups import Going, Group, Kind, kind_of
from regard.serve.job import Job, News, tell
from regard.serve.limits import Limits
from regard.serve.metrics import Metrics

GATHER = 0.002
"""Seconds that the first of several requests that arrive together waits for the others."""
REST = 4, 4
"""Steps of a group after which others may join it again: so many, or one for so many inputs.

To read those who join costs about a step, and to put their states beside many others as much.
"""
PADDING = 500
"""Symbols behind the beginnings of answers that a group may have; docs/decisions.md says why."""
SYMBOLS = 16_384
"""Source symbols of a group, padding included."""


class Worker:
    """Gathers requests into groups and gives each group in turn a symbol more.

    Whoever comes later joins the youngest group of its kind where that stands: a step costs little
    more for many than for one, and nobody waits for the answers of others. Only where ages would
    differ so much that padding costs more than it saves, a new group begins. The group that has had
    least time is next, so that a heavy one delays the others by one of its steps.
    """

    def __init__(
        self, limits: Limits, metrics: Metrics, *, prepare: Callable[[], object] = lambda: None
    ) -> None:
        self.limits, self.metrics = limits, metrics
        self.live = 0
        self._prepare = prepare
        self._inbox: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._waiting: dict[Kind, deque[Job]] = {}
        self._groups: list[Group] = []
        self._put = self._begun = 0
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="regard-worker", daemon=True)

    @property
    def waiting(self) -> int:
        """Jobs whose group has not begun; each thread counts only what it does itself."""
        return self._put - self._begun

    @property
    def works(self) -> bool:
        """Whether the thread is there."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begin to take jobs."""
        self._thread.start()

    def put(self, job: Job) -> None:
        """Take a job, from the event loop."""
        self._put += 1
        self._inbox.put(job)

    def stop(self) -> None:
        """Finish what was taken, then end."""
        self._inbox.put(None)
        self._thread.join()

    def _work(self) -> None:
        self._prepare()
        while self._take():
            self._begin()
            if self._groups:
                self._turn(min(self._groups, key=lambda group: group.spent))

    def _take(self) -> bool:
        """Sort what has come by its kind; where there is nothing to do, wait for it."""
        idle = not (self._groups or self._waiting)
        if idle and self._closing:
            return False
        if idle:
            self._sort(self._inbox.get())
        until = perf_counter() + GATHER if idle and not self._closing else 0.0
        while True:
            try:
                left = until - perf_counter()
                self._sort(self._inbox.get(timeout=left) if left > 0 else self._inbox.get_nowait())
            except queue.Empty:
                return True

    def _sort(self, job: Job | None) -> None:
        if job is None:
            self._closing = True
            return
        try:
            job.size = job.served.size(job.given)
        except Exception:
            self._begun += 1
            tell([News(job, broken(f"an input to {job.served.name}"))])
            return
        self._waiting.setdefault(kind_of(job), deque()).append(job)

    def _begin(self) -> None:
        """Let those who wait begin, where there is room and it is time."""
        for kind in list(self._waiting):
            youngest = self._youngest(kind)
            if youngest is not None and youngest.rested < max(
                REST[0], len(youngest.open) // REST[1]
            ):
                continue
            waiting = self._waiting.pop(kind)
            self._ask(kind, self._chosen(waiting))
            if waiting:
                self._waiting[kind] = waiting  # behind all other kinds

    def _youngest(self, kind: Kind) -> Group | None:
        own = [group for group in self._groups if group.kind == kind]
        return own[-1] if own else None

    def _chosen(self, waiting: deque[Job]) -> list[Job]:
        """As many as fit side by side, those that came first."""
        chosen: list[Job] = []
        longest = 1
        room = min(self.limits.live - self.live, waiting[0].served.batch)
        while waiting and len(chosen) < room:
            longest = max(longest, waiting[0].size)
            if chosen and longest * (len(chosen) + 1) > SYMBOLS:
                break
            job = waiting.popleft()
            self._begun += 1
            if job.gone:
                self.metrics.dropped.inc()
            else:
                chosen.append(job)
        return chosen

    def _ask(self, kind: Kind, jobs: list[Job]) -> None:
        if not jobs:
            return
        served, inputs = jobs[0].served, [job.given for job in jobs]
        try:
            going = served.ask(inputs, kind.how, [job.prefix for job in jobs])
        except ValueError as error:
            if len(jobs) == 1:
                tell([News(jobs[0], RefusedError(422, "unfit", str(error)))])
            for job in jobs if len(jobs) > 1 else ():
                self._ask(kind, [job])  # one of them is at fault, and the others are not
            return
        except Exception:
            fault = broken(f"{len(jobs)} inputs to {kind.model}")
            tell([News(job, fault) for job in jobs])
            return
        self._join(kind, jobs, going)

    def _join(self, kind: Kind, jobs: list[Job], going: Going) -> None:
        group = self._youngest(kind)
        if group is None or not self._fits(group, jobs):
            group = Group(kind, spent=min((each.spent for each in self._groups), default=0.0))
            self._groups.append(group)
        group.join(jobs, going)
        self.live += len(jobs)
        self.metrics.together.labels(kind.model).observe(len(group.open))

    def _fits(self, group: Group, jobs: list[Job]) -> bool:
        """Whether jobs may join a group, or had better make one of their own."""
        together = len(group.open) + len(jobs)
        longest = max(group.longest, *(job.size for job in jobs))
        return (
            together <= self.limits.batch
            and longest * together <= SYMBOLS
            and group.padding(len(jobs)) <= PADDING
        )

    def _turn(self, group: Group) -> None:
        began, before, dropped = perf_counter(), len(group.open), group.dropped
        news: list[News] = []
        try:
            news.extend(group.turn())
        except Exception:
            news.extend(group.fail())
        self.metrics.steps.inc()
        self.metrics.dropped.inc(group.dropped - dropped)
        self.live -= before - len(group.open)
        if not group.open:
            self._groups.remove(group)
        tell(news)  # after the counts: whoever has an answer finds them right
        group.spent += perf_counter() - began
