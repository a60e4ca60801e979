"""Requests of which many are broken in ways that nobody thought of."""

from __future__ import annotations

import base64
import io
import json
import random

from PIL import Image

from serve.conftest import JSON, Place

ANSWERS = {200, 400, 404, 413, 422}
"""What a fuzzed request may be answered with."""
FORM = {"Content-Type": "multipart/form-data; boundary=b"}
PLANES = [(32, 127), (0, 32), (768, 880), (1424, 1792), (0x4E00, 0x9FFF), (0x1F300, 0x1FAFF)]
"""Plain and control characters, combining marks, right-to-left scripts, Chinese, emoji."""


def photo(chance: random.Random) -> bytes:
    """A small picture of some kind."""
    file = io.BytesIO()
    size = chance.randint(1, 40), chance.randint(1, 40)
    kind = chance.choice(["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
    Image.new("RGB", size, (chance.randrange(256), 0, 0)).save(file, kind)
    return file.getvalue()


def strange(chance: random.Random) -> str:
    """A text of some script."""
    low, high = chance.choice(PLANES)
    return "".join(chr(chance.randrange(low, high)) for _ in range(chance.randrange(60)))


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, cut out or put in."""
    spoilt = bytearray(content)
    for _ in range(chance.randint(0, 8)):
        place = chance.randrange(len(spoilt) + 1)
        length = chance.choice([1, 1, 4, 20])
        put = chance.choice([b"", b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", chance.randbytes(4)])
        spoilt[place : place + length] = put
    return bytes(spoilt)


def request(chance: random.Random, reads: str, sees: str) -> tuple[bytes, dict[str, str]]:
    """The body and the headers of a request to one of two models."""
    match chance.randrange(4):
        case 0:
            image = base64.b64encode(spoiled(photo(chance), chance)).decode()
            return json.dumps({"model": sees, "image": image}).encode(), JSON
        case 1:
            fields = {"model": reads, "text": strange(chance), "stream": chance.random() < 0.3}
            return json.dumps(fields, ensure_ascii=chance.random() < 0.5).encode(), JSON
        case 2:
            fields = {"model": reads, "text": "abc", "nbest": 2}
            return spoiled(json.dumps(fields).encode(), chance), JSON
        case _:
            part = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
            form = part.format("model", "").encode() + sees.encode() + b"\r\n"
            form += part.format("image", '; filename="a"').encode() + photo(chance)
            return spoiled(form + b"\r\n--b--\r\n", chance), FORM


def bombard(
    place: Place, count: int, *, seed: int, reads: str = "letters", sees: str = "eye"
) -> dict[int, int]:
    """Send requests one after another on one line; how often each status came."""
    chance = random.Random(seed)
    found: dict[int, int] = {}
    line = place.connect()
    for _ in range(count):
        line.request("POST", "/v1/run", *request(chance, reads, sees))
        got = line.getresponse()
        got.read()
        found[got.status] = found.get(got.status, 0) + 1
    line.close()
    return found
