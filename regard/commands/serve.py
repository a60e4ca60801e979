"""`regard serve`: models behind HTTP, with a page to try them on."""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from regard.serve.limits import Limits

if TYPE_CHECKING:
    from regard.serve.house import House

MOST_WORKERS = 4
"""Workers that are started unless more are asked for: each has the models in its own memory."""
PACKAGES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")


def serve(
    models: list[str],
    host: str,
    port: int,
    token: str | None,
    workers: int | None,
    threads: int | None,
    seconds: float,
    queue: int,
    streams: int,
    batch: int,
    characters: int,
    beam: int,
    nbest: int,
    length: int,
    bytes: int,  # noqa: A002
    pixels: int,
    trust: list[str],
) -> None:
    """Load the models, listen, and serve until a signal comes."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise ValueError(
                f'there is no {package}; install what the server needs: pip install "regard[serve]"'
            )
    from regard.serve.app import build
    from regard.serve.faults import begin_log
    from regard.serve.hands import hired, offered
    from regard.serve.house import House
    from regard.serve.served import load, named
    from regard.serve.server import address, listen, made

    begin_log()
    limits = Limits(
        seconds=seconds,
        queue=queue,
        streams=streams,
        batch=batch,
        characters=characters,
        beam=beam,
        nbest=nbest,
        length=length,
        bytes=bytes,
        pixels=pixels,
    )
    secret = _secret(token or os.environ.get("REGARD_TOKEN", ""))
    count, each = _shares(workers, threads)
    loading = partial(load, named(models), limits, trust=tuple(trust))
    with (
        listen(host, port) as opened,
        hired(loading, limits, workers=count, threads=each) as hands,
    ):
        house = House(offered(hands, limits), hands=hands, limits=limits)
        app = build(house, token=secret)
        server = made(app, house, begun=lambda: _say(house, address(opened), secret is not None))
        server.run(sockets=[opened])
        if server.failed:
            raise RuntimeError("all workers have ended; the log says how")


def _say(house: House, where: str, asks: bool) -> None:
    for name, served in house.models.items():
        print(f"{name}: {served.facts.about or 'a model'}")
    print(f"listening on {where}: open it in a browser, or see {where}/docs", flush=True)
    if not asks and not ip_address(urlsplit(where).hostname or "").is_loopback:
        print("whoever reaches this address may use it; --token lets only some in", flush=True)


def _secret(token: str) -> str | None:
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError("--token: wanted letters, digits and signs without blanks")
    return token or None


def _shares(workers: int | None, threads: int | None) -> tuple[int, int]:
    """How many workers, and threads of each: a core for each worker, if none is told otherwise."""
    for name, value in {"--workers": workers, "--threads": threads}.items():
        if value is not None and value < 1:
            raise ValueError(f"{name}: wanted at least 1, got {value}")
    cores = _cores()
    count = workers or min(MOST_WORKERS, cores)
    return count, threads or max(1, cores // count)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))  # a container may have few of the machine's
    except AttributeError:
        return os.cpu_count() or 1
