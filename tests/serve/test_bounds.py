"""Every bound has its status and its message, and leaves the server as it was."""

from __future__ import annotations

import base64
import io
import json
import socket
import time
from contextlib import suppress
from typing import Any

import pytest
from PIL import Image

from serve.conftest import JSON, Place, served, together, wait
from serve.fake import house


def picture(width: int = 8, height: int = 8, kind: str = "PNG") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, height), "red").save(file, kind)
    return file.getvalue()


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.fixture(scope="module")
def small() -> Any:
    with served(house(bytes=4000, pixels=100, characters=10)) as where:
        yield where


def test_body_that_says_its_size(small: Place) -> None:
    reply = small.letters("a" * 5000)
    assert reply.fault == (413, "too_large")
    assert "wanted at most 4,000 bytes, got 5,0" in reply.json["error"]["message"]
    assert reply.headers["connection"] == "close"


def test_body_without_end(small: Place) -> None:
    """Chunks are read no further than the bound and a little more."""
    with socket.create_connection((small.host, small.port), timeout=30) as line:
        line.sendall(
            b"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        sent = 0
        with suppress(OSError):
            while sent < 5_000_000:
                line.sendall(b"3e8\r\n" + b"a" * 1000 + b"\r\n")
                sent += 1000
                time.sleep(0.001)
        assert sent < 5_000_000
    assert small.letters("abc").text == "cba"


def test_chunks_that_are_too_many(small: Place) -> None:
    line = small.connect()
    line.request("POST", "/v1/run", iter([b"a" * 1000] * 6), JSON, encode_chunked=True)
    got = line.getresponse()
    assert (got.status, json.loads(got.read())["error"]["code"]) == (413, "too_large")
    line.close()


def test_pixels(small: Place) -> None:
    for reply in (
        small.ask(model="eye", image=encoded(picture(11, 10))),
        small.form({"model": b"eye", "image": picture(11, 10)}),
    ):
        assert reply.fault == (413, "too_many_pixels")
        assert "has 11 x 10 pixels; wanted at most 100" in reply.json["error"]["message"]
    assert small.ask(model="eye", image=encoded(picture(10, 10))).text == "erutcip"


def test_pixels_are_told_from_the_header(place: Place) -> None:
    """A few bytes that claim to be a huge picture are not decoded."""
    head = b"P6 60000 60000 255\n" + b"\0" * 100
    began = time.monotonic()
    assert place.form({"model": b"eye", "image": head}).fault == (413, "too_many_pixels")
    assert time.monotonic() - began < 5


def test_characters(small: Place) -> None:
    reply = small.letters("a" * 11)
    assert reply.fault == (413, "too_long")
    assert "text: wanted at most 10 characters, got 11" in reply.json["error"]["message"]
    assert small.letters("abc", prefix="a" * 11).fault == (413, "too_long")
    assert small.letters("abc", prefix=["a"] * 11).fault == (413, "too_long")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"beam": 17}, "beam: wanted at most 16, got 17"),
        ({"beam": 0}, "beam: input should be greater than or equal to 1, got 0"),
        ({"nbest": 9}, "nbest: wanted at most 8, got 9"),
        ({"beam": 2, "nbest": 3}, "nbest: wanted at most the beam's width, 2, got 3"),
        ({"beam": "5"}, "beam: input should be a valid integer, got '5'"),
        ({"length": 5}, "length: is for language models"),
        ({"sample": {"temperature": 0}}, "sample.temperature: input should be greater than 0"),
        ({"sample": {"top_q": 1}}, "sample.top_q: there is no such field; did you mean 'top_"),
        ({"bean": 2}, "bean: there is no such field; did you mean 'beam'?"),
        ({"prefix": 3}, "prefix"),
        ({"image": "AAAA"}, "wanted either text or image, got both"),
    ],
)
def test_fields(place: Place, fields: dict[str, Any], message: str) -> None:
    reply = place.letters("abc", **fields)
    assert reply.status == 422
    assert message in reply.json["error"]["message"]


def test_which_model(place: Place) -> None:
    assert place.ask(model="lettres", text="a").fault == (404, "no_model")
    assert (
        "did you mean 'letters'?" in place.ask(model="lettres", text="a").json["error"]["message"]
    )
    assert place.ask(text="a").fault == (422, "no_model")
    assert place.ask(model="../../etc/passwd", text="a").fault == (404, "no_model")
    assert place.ask(model="letters").fault == (422, "no_input")
    assert place.ask(model="eye", text="a").fault == (422, "no_input")


@pytest.mark.parametrize(
    "content",
    [b"", b"no picture", picture()[:40], b"%!PS-Adobe", b"GIF89a", picture(kind="TIFF")[:9]],
)
def test_broken_pictures(place: Place, content: bytes) -> None:
    assert place.form({"model": b"eye", "image": content}).fault == (422, "no_picture")
    assert place.ask(model="eye", image=encoded(content)).status == 422


def test_bodies_that_cannot_be_read(place: Place) -> None:
    for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"text": "\\ud800"}'):
        reply = place.send("POST", "/v1/run", body, **{"Content-Type": "application/json"})
        assert reply.status in (400, 422), body[:20]
    assert place.ask(model="eye", image="***").fault == (422, "invalid")
    for kind in ("text/plain", "", "multipart/form-data", "multipart/form-data; boundary=a"):
        reply = place.send("POST", "/v1/run", b"x", Content_Type=kind)
        assert reply.status in (400, 415, 422), kind


def test_forms(place: Place) -> None:
    fields = {"model": b"letters", "text": "abç".encode(), "nbest": b"2", "temperature": b"0.5"}
    reply = place.form(fields)
    assert [each["text"] for each in reply.json["answers"]] == ["çba", "çba"]
    assert place.form({**fields, "stream": b"true"}).events[-1][0] == "answer"
    assert place.form({**fields, "prefix": b'["a", "b"]'}).status == 200
    assert place.form({**fields, "prefix": b"[a"}).status == 200
    assert place.form({**fields, "tempreature": b"1"}).fault == (422, "invalid")
    assert place.form({**fields, "nbest": b"many"}).fault == (422, "invalid")
    assert place.form({"model": b"letters", "image": b"abc"}).fault == (422, "no_input")
    assert place.form({"model": b"eye", "image": picture(kind="JPEG")}).text == "erutcip"


def test_queue() -> None:
    """What is beyond the queue is refused at once; what was taken is answered."""
    with served(house(pace=0.02, queue=4, batch=2)) as where:
        replies = together(*[lambda: where.letters("abcdefghij")] * 24)
    refused = [reply for reply in replies if reply.status != 200]
    assert all(reply.text == "jihgfedcba" for reply in replies if reply.status == 200)
    assert refused
    assert len(refused) < 20
    for reply in refused:
        assert reply.fault == (503, "busy")
        assert int(reply.headers["retry-after"]) >= 1


def test_seconds() -> None:
    """Late is late, and the work stops."""
    with served(house(pace=0.02, seconds=0.3)) as where:
        letters: Any = where.house.models["letters"]
        began = time.monotonic()
        assert where.letters("a" * 1000).fault == (504, "too_late")
        assert time.monotonic() - began < 5
        wait(lambda: where.house.crew.live == 0)
        assert len(letters.steps) < 100
        events = where.letters("a" * 1000, stream=True).events
        assert [name for name, _ in events][-1] == "error"
        assert events[-1][1]["error"]["code"] == "too_late"
        wait(lambda: where.house.crew.live == 0)
        assert where.letters("ab").text == "ba"


def test_body_that_comes_slowly() -> None:
    with (
        served(house(seconds=0.3)) as where,
        socket.create_connection((where.host, where.port), timeout=30) as line,
    ):
        line.sendall(
            b"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: 100\r\n\r\n{"
        )
        assert line.recv(100).startswith(b"HTTP/1.1 408 ")


def test_streams() -> None:
    with served(house(pace=0.02, streams=2)) as where:
        replies = together(*[lambda: where.letters("a" * 40, stream=True)] * 5)
        assert sorted(reply.status for reply in replies) == [200, 200, 503, 503, 503]
        assert where.letters("ab", stream=True).events[-1][0] == "answer"
        wait(lambda: where.house.streams == 0)


def test_pictures_in_memory() -> None:
    own = house(pixels=100)
    eye: Any = own.models["eye"]
    eye.pace = 0.1
    with served(own) as where:
        image = encoded(picture(10, 10))
        replies = together(*[lambda: where.ask(model="eye", image=image)] * 12)
        assert sorted(reply.status for reply in replies) == [200] * 8 + [503] * 4
        assert where.ask(model="eye", image=image).status == 200


def test_token() -> None:
    with served(house(), token="sesame") as where:
        body = json.dumps({"model": "letters", "text": "abc"})
        for wrong in ("", "sesame", "Bearer sesam", "Bearer sesame2", "Basic sesame", "Bearer é"):
            headers = {"Authorization": wrong.encode().decode("latin-1")} if wrong else {}
            reply = where.send("POST", "/v1/run", body, **JSON, **headers)
            assert reply.fault == (401, "no_token")
            assert reply.headers["www-authenticate"] == "Bearer"
        for path in ("/v1/models", "/metrics", "/openapi.json", "/docs", "/nothing"):
            assert where.get(path).status == 401
            assert where.get(path, Authorization="Bearer sesame").status != 401
        right = where.send("POST", "/v1/run", body, **JSON, Authorization="bearer sesame")
        assert right.text == "cba"
        assert [where.get(path).status for path in ("/health", "/ready")] == [200, 200]


def test_heads_without_end() -> None:
    """Of the first request of a line and of a later one; a whole request has all its time."""
    head = b"POST /v1/run HTTP/1.1\r\nHost: x\r\n"
    health = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
    with served(house(pace=0.01, seconds=1.9)) as where:
        for before in (b"", health):
            with socket.create_connection((where.host, where.port), timeout=30) as line:
                if before:
                    line.sendall(before)
                    answer = b""
                    while not answer.endswith(b"}"):
                        answer += line.recv(10_000)
                line.sendall(head)
                began = time.monotonic()
                for _ in range(20):  # a byte now and then does not help
                    time.sleep(0.1)
                    with suppress(OSError):
                        line.sendall(b"X")
                with suppress(OSError):
                    assert line.recv(10_000) == b""
                assert time.monotonic() - began < 10
        assert where.letters("a" * 120).status == 200
