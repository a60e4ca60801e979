"""What is wrong with a request, in the one form that every error answer has."""

from __future__ import annotations

import json
import logging
import secrets
from functools import partial
from typing import Any

from fastapi import Response
from pydantic import BaseModel

log = logging.getLogger("regard.serve")


def begin_log() -> None:
    """Write to the standard error what whoever runs a server should know."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    for parser in ("python_multipart", "PIL"):  # what they say of strange bytes, the sender is told
        logging.getLogger(parser).setLevel(logging.CRITICAL)


class Fault(BaseModel):
    """What was wanted, what came, what to do."""

    code: str
    message: str


class Faulty(BaseModel):
    """The body of every answer that is no success."""

    error: Fault


class RefusedError(Exception):
    """A request that is not answered, with the status that says why."""

    def __init__(
        self, status: int, code: str, message: str, *, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.headers = headers or {}

    def __reduce__(self) -> tuple[Any, ...]:
        """Go from one process to another."""
        return partial(RefusedError, headers=self.headers), (self.status, self.code, self.message)

    def as_dict(self) -> dict[str, dict[str, str]]:
        """For JSON."""
        return {"error": {"code": self.code, "message": self.message}}

    def response(self) -> Response:
        """As an answer."""
        content = json.dumps(self.as_dict())  # ASCII: a message may quote half a character
        return Response(content, self.status, self.headers, media_type="application/json")


class GoneError(Exception):
    """Nobody waits for the answer any more."""


def busy(what: str, seconds: float) -> RefusedError:
    """There is no room now, but there will be."""
    later = {"Retry-After": str(max(1, round(seconds)))}
    return RefusedError(503, "busy", f"{what}; ask again in a moment", headers=later)


def broken(what: str) -> RefusedError:
    """Write the error that is being handled into the log; only its number goes outside."""
    number = secrets.token_hex(4)
    log.exception("%s failed (%s)", what, number)
    return RefusedError(500, "internal", f"something broke here; the server's log has it: {number}")
