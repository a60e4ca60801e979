"""What stands before every route: the token, the headers of every answer, the last resort."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

from fastapi.requests import Request
from starlette.datastructures import MutableHeaders

from regard.serve.faults import RefusedError, broken

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from regard.serve.house import House

OPEN = ("/health", "/ready", "/", "/favicon.ico")
FILES = ("/page/", "/look/")
"""What needs no token: how the server is, and the page that asks for the token."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Lets nobody in without the token, and no traceback out."""

    def __init__(self, app: ASGIApp, *, house: House, token: str | None) -> None:
        self.app, self.house = app, house
        self.token = None if token is None else token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                self._dress(message)
            await send(message)

        try:
            if not self._known(scope):
                raise _unknown()
            await self.app(scope, receive, guarded)
        except RefusedError as refused:
            await refused.response()(scope, receive, guarded)
        except Exception:
            fault = broken("a request")
            if not started:
                await fault.response()(scope, receive, guarded)

    def _known(self, scope: Scope) -> bool:
        if self.token is None or scope["path"] in OPEN or scope["path"].startswith(FILES):
            return True
        kind, _, token = Request(scope).headers.get("authorization", "").partition(" ")
        # All of the token is compared, however early it differs: time tells nothing.
        same = hmac.compare_digest(token.strip().encode(), self.token)
        return kind.lower() == "bearer" and same

    def _dress(self, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        for name, value in HEADERS.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
        if self.house.closing:
            headers["Connection"] = "close"


def _unknown() -> RefusedError:
    message = "Authorization: wanted 'Bearer TOKEN' with the token that the server was started with"
    return RefusedError(401, "no_token", message, headers={"WWW-Authenticate": "Bearer"})
