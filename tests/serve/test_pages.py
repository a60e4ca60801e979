"""What is served beside the models: the page, the manual, the state."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from regard.serve import house as houses
from regard.serve.files import files
from serve.conftest import Place, served
from serve.fake import house


def test_models(place: Place) -> None:
    letters, eye = place.get("/v1/models").json["models"]
    assert (letters["name"], letters["input"], letters["examples"]) == ("letters", "text", ["abc"])
    assert eye["input"] == "picture"
    assert letters["limits"]["characters"] == 2000


def test_every_answer_is_dressed(place: Place) -> None:
    for path in ("/", "/v1/models", "/health", "/nothing", "/docs", "/look/view.js"):
        headers = place.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self';" in policy
        assert "img-src 'self' blob: data:" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
    assert place.get("/v1/models").headers["cache-control"] == "no-store"


def test_files(place: Place) -> None:
    reply = place.get("/look/view.js")
    assert reply.headers["content-type"] == "text/javascript; charset=utf-8"
    assert reply.headers["cache-control"] == "no-cache"
    again = place.get("/look/view.js", If_None_Match=reply.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    assert place.get("/look/view.css").headers["content-type"].startswith("text/css")


@pytest.mark.parametrize(
    "path",
    [
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page//etc/passwd",
        "/look/..%2fwatch.py",
        "/look/%00",
        "/page/",
        "/nothing",
    ],
)
def test_nothing_else(place: Place, path: str) -> None:
    assert place.get(path).fault == (404, "not_found")


def test_only_known_kinds_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/x.js", "x.py", "x.pyc", ".env"):
        (tmp_path / name).write_text("x")
    assert list(files(tmp_path)) == ["a/x.js"]
    assert files(tmp_path / "not there") == {}


def test_without_a_page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(houses, "PAGE", tmp_path / "not there")
    with served(house()) as where:
        assert where.get("/").status == 404
        assert where.letters("abc").text == "cba"


def test_manual(place: Place) -> None:
    page = place.get("/docs").body.decode()
    assert "POST /v1/run" in page
    assert "integer at most 16" in page
    assert "http" not in page.partition("</pre>")[2]  # nothing is fetched from elsewhere
    document = place.get("/openapi.json").json
    ask = document["components"]["schemas"]["Ask"]["properties"]
    assert {"type": "string", "maxLength": 2000} in ask["text"]["anyOf"]
    assert "$defs" not in str(document)


def test_methods(place: Place) -> None:
    reply = place.send("PUT", "/v1/run")
    assert reply.fault == (405, "wrong_method")
    assert reply.headers["allow"] == "POST"


def test_state(place: Place) -> None:
    assert place.get("/health").json == {"status": "ok"}
    assert place.get("/ready").json == {"status": "ready"}


def test_answers_come_without_delay(place: Place) -> None:
    """A kept line is not held up by the two ends waiting for each other (Nagle, delayed ACK)."""
    line, seconds = place.connect(), []
    for _ in range(10):
        began = time.perf_counter()
        line.request("GET", "/health")
        line.getresponse().read()
        seconds.append(time.perf_counter() - began)
    line.close()
    assert min(seconds[1:]) < 0.03
