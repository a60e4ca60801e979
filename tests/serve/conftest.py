"""Servers in a thread, and a client that says no more than it must."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

pytest.importorskip("fastapi")

from regard.serve.app import build
from regard.serve.house import House
from regard.serve.server import address, listen, made
from serve.fake import house

ROOT = Path(__file__).parents[2]
JSON = {"Content-Type": "application/json"}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def fault(self) -> tuple[int, str]:
        return self.status, self.json["error"]["code"]

    @property
    def text(self) -> str:
        return str(self.json["answers"][0]["text"])

    @property
    def events(self) -> list[tuple[str, Any]]:
        parts = self.body.decode().strip().split("\n\n")
        pairs = (part.split("\n") for part in parts)
        return [(e.removeprefix("event: "), json.loads(d.removeprefix("data: "))) for e, d in pairs]


class Place:
    """A server that listens."""

    def __init__(self, url: str, own: House) -> None:
        self.url, self.house = url, own
        parts = urlsplit(url)
        self.host, self.port = parts.hostname or "", parts.port or 0

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.host, self.port, timeout=60)

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> Reply:
        with_names = {name.replace("_", "-"): value for name, value in headers.items()}
        line = self.connect()
        try:
            line.request(method, path, body, with_names)
            got = line.getresponse()
            told = {name.lower(): value for name, value in got.getheaders()}
            return Reply(got.status, told, got.read())
        finally:
            line.close()

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, **headers)

    def ask(self, **fields: Any) -> Reply:
        return self.send("POST", "/v1/run", json.dumps(fields), Content_Type="application/json")

    def letters(self, text: str, **fields: Any) -> Reply:
        return self.ask(model="letters", text=text, **fields)

    def form(self, parts: dict[str, bytes], boundary: str = "x-y-z") -> Reply:
        """A form; a part named `image` is a file."""
        lines = []
        for name, content in parts.items():
            file = '; filename="../../etc/passwd"' if name == "image" else ""
            head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'
            lines.append(head.encode() + content + b"\r\n")
        body = b"".join(lines) + f"--{boundary}--\r\n".encode()
        kind = f"multipart/form-data; boundary={boundary}"
        return self.send("POST", "/v1/run", body, Content_Type=kind)


@contextmanager
def served(own: House, *, token: str | None = None) -> Iterator[Place]:
    """A server in a thread of this process."""
    begun = threading.Event()
    with listen("127.0.0.1", 0) as opened:
        server = made(build(own, token=token), own, begun=begun.set)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
        thread.start()
        assert begun.wait(30)
        try:
            yield Place(address(opened), own)
        finally:
            server.should_exit = True
            thread.join(30)
    assert not thread.is_alive()
    assert not own.crew.works


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    """A server of fakes with the usual bounds."""
    with served(house()) as where:
        yield where


@pytest.fixture
def process(request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """A server of fakes in a process of its own; its first line says where."""
    command = [sys.executable, "-m", "serve.fake", str(getattr(request, "param", 0.01))]
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT}"}
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    yield started
    started.kill()
    started.wait()


def wait(until: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end
        time.sleep(0.005)


def together(*calls: Callable[[], Any]) -> list[Any]:
    """The results of calls that are made at the same time."""
    found: dict[int, Any] = {}

    def call(number: int) -> None:
        found[number] = calls[number]()

    threads = [threading.Thread(target=call, args=(number,)) for number in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return [found[number] for number in range(len(calls))]
