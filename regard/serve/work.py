"""The worker: it owns the models and shares its time among all who ask."""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING

from regard.serve.errand import Ask, Errand, News, Order, Report
from regard.serve.faults import GoneError, RefusedError, broken
from regard.serve.groups import Going, Group, Kind, kind_of
from regard.serve.limits import Limits

if TYPE_CHECKING:
    from regard.serve.offered import Answerer

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

    Only `put` may be called by others than the thread that calls `work`.
    """

    def __init__(self, models: Mapping[str, Answerer], limits: Limits) -> None:
        self.models, self.limits = models, limits
        self.errands: dict[int, Errand] = {}
        self._report: Callable[[Report], object] = lambda _: None
        self._inbox: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._waiting: dict[Kind, deque[Errand]] = {}
        self._groups: list[Group] = []
        self._live = self._begun = self._steps = 0
        self._together: list[tuple[str, int]] = []
        self._closing = False

    def put(self, order: Order) -> None:
        """Give an order, from any thread."""
        self._inbox.put(order)

    def work(self, report: Callable[[Report], object]) -> None:
        """Obey until an order says that no more will come and all is done."""
        self._report = report
        while self._listen():
            self._begin()
            if self._groups:
                self._turn(min(self._groups, key=lambda group: group.spent))

    def close(self) -> None:
        """End once all that was taken is done."""
        self._closing = True

    def _listen(self) -> bool:
        """Obey what has been ordered; where there is nothing to do, wait for it."""
        idle = not (self._groups or self._waiting)
        if idle and self._closing:
            return False
        if idle:
            self._inbox.get().obey(self)
        until = perf_counter() + GATHER if idle and not self._closing else 0.0
        while True:
            try:
                left = until - perf_counter()
                order = self._inbox.get(timeout=left) if left > 0 else self._inbox.get_nowait()
            except queue.Empty:
                return True
            order.obey(self)

    def take(self, order: Ask) -> None:
        """Sort what has come by its kind."""
        errand = Errand(order, self.models[order.model])
        self.errands[errand.number] = errand
        try:
            errand.size = errand.served.size(errand.given)
        except Exception:
            self._begun += 1
            self._end([errand], broken(f"an input to {order.model}"))
            return
        self._waiting.setdefault(kind_of(errand), deque()).append(errand)

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

    def _chosen(self, waiting: deque[Errand]) -> list[Errand]:
        """As many as fit side by side, those that came first."""
        chosen: list[Errand] = []
        longest = 1
        room = min(self.limits.live - self._live, waiting[0].served.batch)
        while waiting and len(chosen) < room:
            longest = max(longest, waiting[0].size)
            if chosen and longest * (len(chosen) + 1) > SYMBOLS:
                break
            errand = waiting.popleft()
            self._begun += 1
            if errand.gone:
                self._end([errand], GoneError())
            else:
                chosen.append(errand)
        return chosen

    def _ask(self, kind: Kind, errands: list[Errand]) -> None:
        if not errands:
            return
        served, inputs = errands[0].served, [errand.given for errand in errands]
        try:
            going = served.ask(inputs, kind.how, [errand.prefix for errand in errands])
        except ValueError as error:
            if len(errands) == 1:
                self._end(errands, RefusedError(422, "unfit", str(error)))
            for errand in errands if len(errands) > 1 else ():
                self._ask(kind, [errand])  # one of them is at fault, and the others are not
        except Exception:
            self._end(errands, broken(f"{len(errands)} inputs to {kind.model}"))
        else:
            self._join(kind, errands, going)

    def _join(self, kind: Kind, errands: list[Errand], going: Going) -> None:
        group = self._youngest(kind)
        if group is None or not self._fits(group, errands):
            group = Group(kind, spent=min((each.spent for each in self._groups), default=0.0))
            self._groups.append(group)
        try:
            group.join(errands, going)
        except Exception:
            self._end(errands, broken(f"{len(errands)} inputs to {kind.model}"))
            self._close(group, list(group.fail()))
            return
        self._live += len(errands)
        self._together.append((kind.model, len(group.open)))
        self._tell([])

    def _fits(self, group: Group, errands: list[Errand]) -> bool:
        """Whether errands may join a group, or had better make one of their own."""
        together = len(group.open) + len(errands)
        longest = max(group.longest, *(errand.size for errand in errands))
        return (
            together <= self.limits.batch
            and longest * together <= SYMBOLS
            and group.padding(len(errands)) <= PADDING
        )

    def _turn(self, group: Group) -> None:
        began = perf_counter()
        news: list[News] = []
        try:
            news.extend(group.turn())
        except Exception:
            news.extend(group.fail())
        self._steps += 1
        self._close(group, news)
        group.spent += perf_counter() - began

    def _close(self, group: Group, news: list[News]) -> None:
        """Tell what a group has found; it is over when nobody in it waits any more."""
        self._live -= sum(each.last for each in news)
        if not group.open:
            self._groups.remove(group)
        if news:
            self._tell(news)

    def _end(self, errands: Sequence[Errand], why: RefusedError | GoneError) -> None:
        self._tell([News(errand.number, why) for errand in errands])

    def _tell(self, news: list[News]) -> None:
        """Report news together with all counts, so that whoever has an answer finds them right."""
        for each in news:
            if each.last:
                del self.errands[each.number]
        counts = self._begun, self._live, self._steps, self._together
        self._steps, self._together = 0, []
        self._report(Report(news, *counts))
