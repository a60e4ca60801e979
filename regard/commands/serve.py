"""`regard serve`: models behind HTTP, with a page to try them on."""

from __future__ import annotations

import logging
import os
from importlib.util import find_spec
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from regard.serve.limits import Limits

if TYPE_CHECKING:
    from regard.serve.house import House

PACKAGES = ("fastapi", "uvicorn", "python_multipart", "prometheus_client")


def serve(
    models: list[str],
    host: str,
    port: int,
    token: str | None,
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
) -> None:
    """Load the models, listen, and serve until a signal comes."""
    for package in PACKAGES:
        if find_spec(package) is None:
            raise ValueError(
                f'there is no {package}; install what the server needs: pip install "regard[serve]"'
            )
    from regard.serve.app import build
    from regard.serve.house import House
    from regard.serve.served import load
    from regard.serve.server import address, listen, made

    _log()
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
    with listen(host, port) as opened:
        house = House(load(models, limits), limits=limits, prepare=lambda: _threads(threads))
        app = build(house, token=secret)
        server = made(app, house, begun=lambda: _say(house, address(opened), secret is not None))
        server.run(sockets=[opened])


def _say(house: House, where: str, asks: bool) -> None:
    for name, served in house.models.items():
        print(f"{name}: {served.facts.about or 'a model'}")
    print(f"listening on {where}: open it in a browser, or see {where}/docs", flush=True)
    if not asks and not ip_address(urlsplit(where).hostname or "").is_loopback:
        print("whoever reaches this address may use it; --token lets only some in", flush=True)


def _log() -> None:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    for parser in ("python_multipart", "PIL"):  # what they say of strange bytes, the sender is told
        logging.getLogger(parser).setLevel(logging.CRITICAL)


def _secret(token: str) -> str | None:
    if not (token.isascii() and token.isprintable()) or " " in token:
        raise ValueError("--token: wanted letters, digits and signs without blanks")
    return token or None


def _threads(threads: int | None) -> None:
    """Leave a core to those who ask, unless told otherwise."""
    import torch

    torch.set_num_threads(threads or max(1, (os.cpu_count() or 2) - 1))
