"""A line to a client, which is cut where no request comes through it."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol


class Line(H11Protocol):
    """HTTP as uvicorn speaks it; whoever begins a request must get to the end of its head.

    uvicorn itself waits for ever for the rest of a head, so that anybody could hold as many lines
    as they like. Here a head may take as long as a line may be idle between two requests.
    """

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forgive()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Whether a request is there or still to come; the clock runs on if it ran already."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forgive()
        elif self._late is None:
            self._late = self.loop.call_later(self.timeout_keep_alive, self._cut)

    def _forgive(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _cut(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
