"""Whatever comes over the wire, the server answers as its own document says, and goes on."""

from __future__ import annotations

import base64
import io
import json
import random
from typing import Any

import psutil
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from PIL import Image
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from serve.conftest import JSON, Place, served
from serve.fake import house

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_as_documented(place: Place, mode: GenerationMode) -> None:
    """Requests made from the document, and others that it forbids."""
    schema = schemathesis.openapi.from_url(f"{place.url}/openapi.json")
    tried = []
    for found in schema.get_all_operations():
        operation = found.ok()
        if mode is GenerationMode.NEGATIVE and operation.path != "/v1/run":
            continue  # there is nothing to be wrong in

        @settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def check(case: Any) -> None:
            case.call_and_validate(checks=CHECKS)

        check()
        tried.append(operation.path)
    assert "/v1/run" in tried


def photo(chance: random.Random) -> bytes:
    """A small picture of some kind."""
    file = io.BytesIO()
    size = chance.randint(1, 40), chance.randint(1, 40)
    kind = chance.choice(["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"])
    Image.new("RGB", size, (chance.randrange(256), 0, 0)).save(file, kind)
    return file.getvalue()


def spoiled(content: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, cut out or put in."""
    spoilt = bytearray(content)
    for _ in range(chance.randint(0, 8)):
        place = chance.randrange(len(spoilt))
        match chance.randrange(4):
            case 0:
                spoilt[place] = chance.randrange(256)
            case 1:
                del spoilt[place : place + chance.randint(1, 20)]
            case 2:
                spoilt[place:place] = chance.randbytes(4)
            case 3:
                spoilt[place : place + 4] = chance.choice(
                    [b"\0" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff"]
                )
        if not spoilt:
            break
    return bytes(spoilt)


def strange(chance: random.Random) -> str:
    """A text of anything but half characters."""
    planes = [
        (32, 127),
        (0, 32),
        (0x300, 0x370),
        (0x590, 0x700),
        (0x4E00, 0x9FFF),
        (0x1F300, 0x1FAFF),
    ]
    low, high = chance.choice(planes)
    return "".join(chr(chance.randrange(low, high)) for _ in range(chance.randrange(60)))


def bombard(place: Place, count: int, seed: int) -> dict[int, int]:
    """Fuzzed requests one after another on one line; how often each status came."""
    chance, found = random.Random(seed), {}
    line = place.connect()
    for _ in range(count):
        body: Any
        headers = JSON
        match chance.randrange(4):
            case 0:
                image = base64.b64encode(spoiled(photo(chance), chance)).decode()
                body = json.dumps({"model": "eye", "image": image}).encode()
            case 1:
                fields = {
                    "model": "letters",
                    "text": strange(chance),
                    "stream": chance.random() < 0.3,
                }
                body = json.dumps(fields, ensure_ascii=chance.random() < 0.5).encode()
            case 2:
                body = spoiled(b'{"model": "letters", "text": "abc", "nbest": 2}', chance)
            case 3:
                form = b'--b\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n'
                form += photo(chance) + b"\r\n--b--\r\n"
                body, headers = (
                    spoiled(form, chance),
                    {"Content-Type": "multipart/form-data; boundary=b"},
                )
        line.request("POST", "/v1/run", body, headers)
        got = line.getresponse()
        got.read()
        found[got.status] = found.get(got.status, 0) + 1
    line.close()
    return found


def test_fuzz(place: Place) -> None:
    found = bombard(place, 200, seed=1)
    assert set(found) <= {200, 400, 413, 422}
    assert found[200] > 20
    assert found[422] > 20
    assert place.letters("abc").text == "cba"
    assert place.house.worker.live == place.house.worker.waiting == 0


@pytest.mark.slow
def test_ten_thousand_leave_nothing_behind() -> None:
    process = psutil.Process()
    with served(house()) as where:
        bombard(where, 2_000, seed=1)
        before = process.memory_info().rss
        assert set(bombard(where, 10_000, seed=2)) <= {200, 400, 413, 422}
        assert process.memory_info().rss < 1.05 * before
