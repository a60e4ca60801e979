"""An answer sent while it comes about, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any

from fastapi.sse import EventSourceResponse, format_sse_event

from regard.serve.wire import Begun

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from regard.tasks.asking import Partial

HEADERS = {"X-Accel-Buffering": "no"}
"""Proxies are to pass events on as they come."""
LINGER = 2.0
"""Seconds for the last event to be read."""


class Events(EventSourceResponse):
    """Events as an answer; what was entered for them is left when they end, however they end.

    Whoever does not read them is not waited for: a while after `until` the line is cut.
    """

    def __init__(self, events: AsyncIterator[bytes], left: ExitStack, *, until: float) -> None:
        super().__init__(events, headers=HEADERS)
        self.left, self.until = left, until

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.left, suppress(TimeoutError):
            async with asyncio.timeout_at(self.until + LINGER):
                await super().__call__(scope, receive, send)


def event(name: str, data: str) -> bytes:
    """One event on the wire; its data are JSON."""
    return format_sse_event(event=name, data_str=data)


def begun(partial: Partial) -> str:
    """The beginning of an answer, as JSON."""
    rows = partial.attention
    return Begun(
        text=partial.text,
        tokens=partial.tokens,
        settled=partial.settled,
        log_prob=partial.log_prob,
        attention=None if rows is None else rows.astype(float).round(4).tolist(),
        source=partial.source,
    ).model_dump_json()


def faulty(fault: dict[str, Any]) -> str:
    """What went wrong, as JSON."""
    return json.dumps(fault)
