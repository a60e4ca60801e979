"""The server's process: where it listens, and how it ends without losing a request."""

from __future__ import annotations

import socket
from collections.abc import Callable
from time import monotonic
from types import FrameType

import uvicorn
from fastapi import FastAPI

from regard.serve.house import House
from regard.serve.line import Line

LINGER = 0.5
"""Seconds without a request after which nobody listens any more; until then all are told to leave.

Whoever waits for an answer asks again as soon as it is there, and a line that nobody takes any more
is lost: so the door is closed only when all have been told.
"""

IDLE = 30
"""Seconds for which a line is kept while no request comes through it."""


class Server(uvicorn.Server):
    """Ends in three steps: refuse what is new, finish what was taken, leave."""

    def __init__(
        self, config: uvicorn.Config, house: House, *, begun: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self.house, self.begun = house, begun
        self.failed = False
        """Whether it ended because nobody was left to answer: something has to start it again."""
        self._until = self._latest = 0.0
        self._seen = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.begun()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        """At the first signal close the door, at a second one leave at once."""
        if self.house.closing:
            self.should_exit = self.force_exit = True
        self.house.closing = True
        self._until = monotonic() + LINGER
        self._latest = self._until + self.house.limits.seconds

    async def on_tick(self, counter: int) -> bool:
        if not self.house.closing and not self.house.crew.works:
            self.failed = self.should_exit = True
        if self.house.closing:
            asked = self.server_state.total_requests
            if self.server_state.tasks or asked != self._seen:
                self._until = monotonic() + LINGER
            self._seen = asked
            self.should_exit = self.should_exit or monotonic() >= min(self._until, self._latest)
        return await super().on_tick(counter)


def listen(host: str, port: int) -> socket.socket:
    """A socket at an address; 0 is any port that is free."""
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol said, the event loop knows that answers are to be sent without delay.
    opened = socket.socket(kind, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((host, port))
    except (OSError, OverflowError) as error:
        opened.close()
        raise ValueError(
            f"--host {host} --port {port}: cannot listen there ({error}); choose another port"
        ) from error
    return opened


def address(opened: socket.socket) -> str:
    """What to open in a browser."""
    host, port = opened.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def made(app: FastAPI, house: House, *, begun: Callable[[], object] = lambda: None) -> Server:
    """A server of an application; `begun` is called when requests can come."""
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        lifespan="on",
        http=Line,
        timeout_keep_alive=max(1, min(IDLE, int(house.limits.seconds))),
        timeout_graceful_shutdown=int(house.limits.seconds) + 5,
    )
    return Server(config, house, begun=begun)
