"""Clients of a server, as cheap as they can be: they share the machine with what they measure."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit


@dataclass
class Load:
    """What became of some requests."""

    seconds: float = 0.0
    taken: list[float] = field(default_factory=list)
    """Seconds of each that was answered."""
    ends: Counter[str] = field(default_factory=Counter)
    """By status; `lost` were sent and never answered, `closed` found nobody listening."""
    answers: dict[str, str] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.taken) / self.seconds

    def share(self, part: float) -> float:
        """Seconds within which this part of the requests was answered."""
        ordered = sorted(self.taken)
        return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


class Client:
    """One connection, kept while the server keeps it."""

    def __init__(self, url: str, model: str | None = None) -> None:
        parts = urlsplit(url)
        self.model = model
        self.host, self.port = parts.hostname or "", parts.port or 80
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, text: str, load: Load) -> str:
        """Send a text, wait for what comes, and write down how it ended."""
        body = json.dumps({"text": text, "model": self.model}).encode()
        began = perf_counter()
        try:
            if self._line is not None and self._line[0].at_eof():
                await self.close()
            if self._line is None:
                self._line = await asyncio.open_connection(self.host, self.port)
        except OSError:
            load.ends["closed"] += 1
            return "closed"
        try:
            status, answer, kept = await self._exchange(body)
        except (OSError, EOFError, ValueError):
            await self.close()
            load.ends["lost"] += 1
            return "lost"
        if not kept:
            await self.close()
        load.ends[status] += 1
        if status == "200":
            load.taken.append(perf_counter() - began)
            load.answers[text] = answer["answers"][0]["text"]
        return status

    async def _exchange(self, body: bytes) -> tuple[str, Any, bool]:
        assert self._line is not None
        reader, writer = self._line
        writer.write(
            b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        answer = json.loads(await reader.readexactly(length))
        return head.split(" ", 2)[1], answer, "connection: close" not in head

    async def close(self) -> None:
        """Leave."""
        if self._line is not None:
            self._line[1].close()
            self._line = None


async def closed(
    url: str,
    texts: Sequence[str],
    clients: int,
    *,
    stop: Callable[[str], bool] = lambda _: False,
    model: str | None = None,
) -> Load:
    """Clients of which each asks again as soon as it is answered, until all texts are answered."""
    load, left = Load(), iter(texts)

    async def one() -> None:
        client = Client(url, model)
        for text in left:
            if stop(await client.ask(text, load)):
                break
        await client.close()

    began = perf_counter()
    await asyncio.gather(*(one() for _ in range(clients)))
    load.seconds = perf_counter() - began
    return load


async def paced(url: str, texts: Sequence[str], rate: float, *, seed: int = 1) -> Load:
    """Requests at random moments, so many a second whatever becomes of them (Poisson)."""
    load, chance, free = Load(), random.Random(seed), [Client(url)]

    async def one(text: str) -> None:
        client = free.pop() if free else Client(url)
        await client.ask(text, load)
        free.append(client)

    began = due = perf_counter()
    asked = []
    for text in texts:
        due += chance.expovariate(rate)
        await asyncio.sleep(max(0.0, due - perf_counter()))
        asked.append(asyncio.create_task(one(text)))
    await asyncio.gather(*asked)
    load.seconds = perf_counter() - began
    for client in free:
        await client.close()
    return load
