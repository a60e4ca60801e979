"""From the bytes of a request to what it asks for: bounded, JSON or a form, the same in the end."""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import reprlib
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any, NamedTuple

from fastapi import Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from regard.serve.faults import GoneError, RefusedError
from regard.serve.limits import Limits
from regard.serve.wire import Ask, Form, Sample
from regard.words import close

CLOSE = {"Connection": "close"}
LINGER = 1.0
"""Seconds for which the rest of too large a body is read, so that its sender sees the answer."""


class Asked(NamedTuple):
    """A request as it was read; the picture is still a file's content."""

    ask: Ask
    image: bytes | None


async def read(request: Request, limits: Limits) -> Asked:
    """What a request asks for."""
    kind, _, _ = request.headers.get("content-type", "").partition(";")
    kind = kind.strip().lower()
    chunks = _bounded(request, limits.bytes)
    if kind == "application/json":
        return _from_json(b"".join([chunk async for chunk in chunks]))
    if kind == "multipart/form-data":
        return await _from_form(request, chunks, limits)
    raise RefusedError(
        415,
        "unknown_type",
        f"Content-Type: wanted application/json or multipart/form-data, got {kind[:80]!r}",
    )


async def _bounded(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """The parts of a body, until there are too many bytes of them."""
    told = request.headers.get("content-length", "")
    if told.isdecimal() and int(told[:20]) > most:
        if request.headers.get("expect", "").lower() != "100-continue":
            await _linger(request, most)
        raise _too_large(most, f"{int(told[:20]):,}")
    got, more = 0, True
    while more:
        chunk, more = await _received(request)
        got += len(chunk)
        if got > most:
            if more:
                await _linger(request, most)
            raise _too_large(most, "more")
        if chunk:
            yield chunk


async def _linger(request: Request, most: int) -> None:
    """Throw some of a body away: who is still sending would take an answer for a broken line."""
    left, more = 4 * most, True
    with suppress(TimeoutError):
        async with asyncio.timeout(LINGER):
            while more and left > 0:
                chunk, more = await _received(request)
                left -= len(chunk)


async def _received(request: Request) -> tuple[bytes, bool]:
    """The next part of a body, and whether there are more."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise GoneError
    return message.get("body", b""), message.get("more_body", False)


def _too_large(most: int, got: str) -> RefusedError:
    message = f"body: wanted at most {most:,} bytes, got {got}; send a smaller picture or text"
    return RefusedError(413, "too_large", message, headers=CLOSE)


def _from_json(body: bytes) -> Asked:
    try:
        ask = Ask.model_validate_json(body, strict=True)
    except ValidationError as error:
        raise told(error) from None
    return Asked(ask, None if ask.image is None else _decoded(ask.image))


def _decoded(image: str) -> bytes:
    content = image.partition(",")[2] if image.startswith("data:") else image
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, ValueError):
        message = f"image: wanted a picture file in base64, got {image[:20]!r}"
        raise RefusedError(422, "invalid", message) from None


async def _from_form(
    request: Request, chunks: AsyncGenerator[bytes, None], limits: Limits
) -> Asked:
    parser = MultiPartParser(
        request.headers, chunks, max_files=1, max_fields=20, max_part_size=limits.bytes
    )
    parser.spool_max_size = limits.bytes + 1  # in memory: nothing of a request touches the disk
    try:
        form = await parser.parse()
    except (MultiPartException, ValueError) as error:
        said = error.message if isinstance(error, MultiPartException) else "it is broken"
        raise RefusedError(400, "invalid", f"form: wanted multipart/form-data; {said}") from None
    fields: dict[str, Any] = {}
    image: bytes | None = None
    for name, value in form.multi_items():
        if name not in Form.model_fields:
            hint = close(name[:80], Form.model_fields)
            raise RefusedError(422, "invalid", f"form: there is no field {name[:80]!r}{hint}")
        if name in fields or (name == "image" and image is not None):
            raise RefusedError(422, "invalid", f"{name}: wanted it once, got it several times")
        if isinstance(value, UploadFile) != (name == "image"):
            wanted = "a file" if name == "image" else "a field without a file name"
            raise RefusedError(422, "invalid", f"{name}: wanted {wanted}")
        if isinstance(value, UploadFile):
            image = await value.read()
        else:
            fields[name] = value
    await form.close()
    return Asked(_from_fields(fields), image)


def _from_fields(fields: dict[str, Any]) -> Ask:
    prefix = fields.get("prefix", "")
    if prefix.startswith("["):
        with suppress(ValueError, RecursionError):  # a text may begin with a bracket, too
            fields["prefix"] = json.loads(prefix)
    drawing = {name: fields.pop(name) for name in Sample.model_fields if name in fields}
    if drawing:
        fields["sample"] = drawing
    try:
        return Ask.model_validate(fields)
    except ValidationError as error:
        raise told(error) from None


def told(error: ValidationError) -> RefusedError:
    """What is wrong with the fields of a request, in one line."""
    first = error.errors(include_url=False, include_context=False)[0]
    if first["type"] == "json_invalid":
        return RefusedError(400, "invalid", f"body: wanted JSON; {first['msg']}")
    where = ".".join(str(part)[:40] for part in first["loc"]) or "body"
    if first["type"] == "extra_forbidden":
        known = Sample.model_fields if first["loc"][0] == "sample" else Ask.model_fields
        hint = close(str(first["loc"][-1])[:80], known)
        return RefusedError(422, "invalid", f"{where}: there is no such field{hint}")
    said = first["msg"][0].lower() + first["msg"][1:]
    return RefusedError(422, "invalid", f"{where}: {said}, got {reprlib.repr(first['input'])}")
