"""Where workers work: in a thread beside the event loop, or in processes of their own."""

from __future__ import annotations

import multiprocessing
import queue
import signal
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, NamedTuple

from regard.machine import keep_memory
from regard.serve.errand import Close, Hearing, Order
from regard.serve.faults import begin_log, log
from regard.serve.limits import Limits
from regard.serve.offered import Offered
from regard.serve.work import Worker

if TYPE_CHECKING:
    from regard.serve.offered import Answerer
    from regard.serve.wire import Facts

Load = Callable[[], Mapping[str, "Answerer"]]
SIGNALS = signal.SIGINT, signal.SIGTERM


class Thread:
    """A worker in this process, with models that are here already."""

    def __init__(self, models: Mapping[str, Answerer], limits: Limits) -> None:
        self._worker = Worker(models, limits)
        self._thread = threading.Thread(target=self._work, name="regard-worker", daemon=True)
        self._hear: Hearing = lambda _: None

    @property
    def works(self) -> bool:
        """Whether it is there."""
        return self._thread.is_alive()

    def start(self, hear: Hearing) -> None:
        """Begin."""
        self._hear = hear
        self._thread.start()

    def order(self, order: Order) -> None:
        """Pass an order on."""
        self._worker.put(order)

    def join(self) -> None:
        """Wait until it has ended."""
        self._thread.join()

    def _work(self) -> None:
        try:
            self._worker.work(self._hear)
        finally:
            self._hear(None)


class Process:
    """A worker with a process, models and threads of its own.

    What a model computes keeps Python busy, so that beside the event loop it would slow down
    whoever is being answered, and two cores would do little more than one.
    """

    def __init__(self, load: Load, limits: Limits, *, threads: int) -> None:
        spawning = multiprocessing.get_context("spawn")  # nothing of torch's threads comes along
        self._line, there = spawning.Pipe()
        self._process = spawning.Process(
            target=_work, args=(there, load, limits, threads), name="regard-worker", daemon=True
        )
        with _deaf():
            self._process.start()
        there.close()
        self._patience = limits.seconds + 5
        self._orders: queue.SimpleQueue[Order | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    @property
    def works(self) -> bool:
        """Whether it is there."""
        return self._process.is_alive()

    def facts(self) -> dict[str, Facts]:
        """What is known of the models, once they are loaded; or an error that says why not."""
        try:
            told: Loaded = self._line.recv()
        except (EOFError, OSError):
            raise ValueError("a worker ended while it loaded the models: out of memory?") from None
        if told.problem:
            raise ValueError(told.problem) from RuntimeError(told.trace)
        return told.facts

    def start(self, hear: Hearing) -> None:
        """Begin to pass orders and reports on."""
        for passing in (self._send, lambda: self._receive(hear)):
            self._threads.append(threading.Thread(target=passing, daemon=True))
            self._threads[-1].start()

    def order(self, order: Order) -> None:
        """Pass an order on; a large picture takes its time, which the event loop does not wait."""
        self._orders.put(order)

    def join(self) -> None:
        """Wait until it has ended, but no longer than anybody waits for an answer."""
        self._process.join(self._patience)
        self.kill()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()
        self._process.join()
        for thread in self._threads:
            thread.join()
        self._line.close()

    def _send(self) -> None:
        try:
            while (order := self._orders.get()) is not None:
                self._line.send(order)
        except OSError:
            return  # it has ended, which whoever receives learns as well
        except Exception:
            log.exception("a worker cannot be given orders any more")
            self._process.kill()

    def _receive(self, hear: Hearing) -> None:
        try:
            while True:
                hear(self._line.recv())
        except (EOFError, OSError):
            pass
        except Exception:
            log.exception("a worker cannot be understood any more")
            self._process.kill()
        self._process.join()
        if self._process.exitcode:
            log.error("a worker ended with %s", self._process.exitcode)
        self._orders.put(None)
        hear(None)


class Loaded(NamedTuple):
    """The first word of a worker."""

    facts: dict[str, Facts]
    problem: str = ""
    trace: str = ""


@contextmanager
def hired(load: Load, limits: Limits, *, workers: int, threads: int) -> Iterator[list[Process]]:
    """Processes that load their models side by side; none is left in the end."""
    hands: list[Process] = []
    try:
        for _ in range(workers):
            hands.append(Process(load, limits, threads=threads))
        yield hands
    finally:
        for hand in hands:
            hand.kill()


def offered(hands: Sequence[Process], limits: Limits) -> dict[str, Offered]:
    """What all of them have loaded, as anybody may ask for it."""
    known, *_ = [hand.facts() for hand in hands]
    return {name: Offered(facts, limits) for name, facts in known.items()}


@contextmanager
def _deaf() -> Iterator[None]:
    """Whoever is started meanwhile hears no signals: whoever gives the orders decides."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what becomes of signals
        return
    before = {number: signal.signal(number, signal.SIG_IGN) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _work(line: Connection, load: Load, limits: Limits, threads: int) -> None:
    """All that a process of its own does; it ends with whoever gives the orders."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    begin_log()
    keep_memory()
    import torch

    torch.set_num_threads(threads)
    with suppress(BrokenPipeError):  # nobody is there any more
        try:
            models = load()
        except Exception as error:
            known = isinstance(error, ValueError | OSError | RuntimeError | ImportError)
            problem = str(error) if known else f"{type(error).__name__}: {error}"
            line.send(Loaded({}, problem, traceback.format_exc()))
            return
        line.send(Loaded({name: served.facts for name, served in models.items()}))
        worker = Worker(models, limits)
        threading.Thread(target=_obey, args=(line, worker), daemon=True).start()
        worker.work(line.send)


def _obey(line: Connection, worker: Worker) -> None:
    try:
        with suppress(EOFError, OSError):
            while True:
                worker.put(line.recv())
    finally:
        worker.put(Close())
