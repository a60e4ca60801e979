"""Requests are gathered, take turns, and do not suffer from each other."""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from serve.conftest import Place, served, together, wait
from serve.fake import house

PACE = 0.01


@pytest.fixture
def slow() -> Iterator[Place]:
    with served(house(pace=PACE)) as where:
        yield where


def steps(where: Place) -> Sequence[list[str]]:
    letters: Any = where.house.models["letters"]
    return letters.steps


def test_what_comes_together_goes_together(slow: Place) -> None:
    texts = [f"{number:02d}abcdefgh" for number in range(24)]
    began = time.monotonic()
    replies = together(*[lambda text=text: slow.letters(text) for text in texts])
    assert [reply.text for reply in replies] == [text[::-1] for text in texts]
    assert time.monotonic() - began < 24 * 10 * PACE
    assert len(steps(slow)) < 60
    assert max(map(len, steps(slow))) > 8


def test_settings_part_groups(slow: Place) -> None:
    calls = [{}, {"beam": 2}, {"nbest": 2}, {"sample": {"seed": 2}}, {"trace": True}]
    replies = together(*[lambda more=more: slow.letters("abcdef", **more) for more in calls])
    assert [reply.text for reply in replies] == ["fedcba"] * 5
    assert len(replies[2].json["answers"]) == 2
    assert replies[4].json["trace"] == {"text": "fedcba"}
    assert all("trace" not in reply.json for reply in replies[:4])
    assert len(steps(slow)) == 5 * 6


def test_the_short_do_not_wait_for_the_long(slow: Place) -> None:
    """Neither for one of their own group nor for one that came before."""

    def short() -> float:
        time.sleep(5 * PACE)
        began = time.monotonic()
        assert slow.letters("ab").text == "ba"
        return time.monotonic() - began

    for length in (60, 200):  # of one kind with the short, and of another
        long, *shorts = together(lambda: slow.letters("a" * length), short, short)  # noqa: B023
        assert long.text == "a" * length
        assert max(shorts) < 0.8 * long.json["seconds"]


def test_each_is_told_at_once(slow: Place) -> None:
    seconds = together(
        lambda: slow.letters("ab").json["seconds"], lambda: slow.letters("a" * 60).json["seconds"]
    )
    assert seconds[0] < seconds[1] / 2


def test_a_crash_stays_at_home(slow: Place, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        first, second = together(
            lambda: slow.letters("crash"), lambda: slow.letters("abcdefgh", beam=2)
        )
    assert second.text == "hgfedcba"
    assert first.fault == (500, "internal")
    assert b"secret" not in first.body
    assert b"Traceback" not in first.body
    number = first.json["error"]["message"].rpartition(" ")[2]
    assert number in caplog.text
    assert "a secret of the house" in caplog.text
    assert slow.letters("ab").text == "ba"
    assert slow.get("/health").status == 200


def test_a_crash_in_a_stream(slow: Place) -> None:
    reply = slow.letters("crash", stream=True)
    assert reply.fault == (500, "internal")
    assert slow.house.streams == 0


def test_one_at_fault_among_many(slow: Place) -> None:
    texts = ["abc", "unfit", "def", "ghi"]
    replies = together(*[lambda text=text: slow.letters(text) for text in texts])
    assert [reply.status for reply in replies] == [200, 422, 200, 200]
    assert replies[1].json["error"] == {
        "code": "unfit",
        "message": "wanted another text, got 'unfit'",
    }


@pytest.mark.parametrize("stream", [False, True])
def test_who_leaves_frees_the_place(slow: Place, stream: bool) -> None:
    body = json.dumps({"model": "letters", "text": "a" * 1000, "stream": stream}).encode()
    with socket.create_connection((slow.host, slow.port), timeout=30) as line:
        line.sendall(
            b"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
        )
        wait(lambda: slow.house.crew.live == 1 and len(steps(slow)) > 3)
    wait(lambda: slow.house.crew.live == 0)
    done = len(steps(slow))
    assert done < 500
    time.sleep(5 * PACE)
    assert len(steps(slow)) == done
    wait(lambda: slow.house.streams == 0)
    assert b"regard_dropped_total 1.0" in slow.get("/metrics").body


def test_who_leaves_the_queue(slow: Place) -> None:
    """A job that was given up before its turn costs nothing: of one kind, the second waits."""
    body = json.dumps({"model": "letters", "text": "b" * 60}).encode()

    def leave() -> None:
        wait(lambda: steps(slow))
        with socket.create_connection((slow.host, slow.port), timeout=30) as line:
            line.sendall(
                b"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            wait(lambda: slow.house.crew.waiting > 0)

    first = together(lambda: slow.letters("b" * 63), leave)[0]
    assert first.text == "b" * 63
    assert not any("b" * 60 in step for step in steps(slow))


def test_events(slow: Place) -> None:
    reply = slow.letters("abcdef", stream=True)
    assert reply.headers["content-type"].startswith("text/event-stream")
    *partials, (last, answer) = reply.events
    assert {name for name, _ in partials} == {"partial"}
    assert last == "answer"
    assert answer["answers"][0]["text"] == "fedcba"
    texts = [begun["text"] for _, begun in partials]
    assert len(texts) >= 3
    assert all("fedcba".startswith(text) for text in texts)
    assert texts == sorted(set(texts), key=len)
    assert partials[0][1]["tokens"] == list(texts[0])


def test_who_reads_slowly_holds_up_nobody() -> None:
    """Beginnings that nobody reads are not made, let alone kept; in the end the line is cut."""
    with served(house(pace=0.0005, seconds=2.0)) as where:
        body = json.dumps({"model": "letters", "text": "a" * 1900, "stream": True}).encode()
        with socket.socket() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.connect((where.host, where.port))
            line.sendall(
                b"POST /v1/run HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
            )
            wait(lambda: len(steps(where)) > 300)
            assert where.letters("ab").text == "ba"
            assert where.house.streams == 1
            wait(lambda: where.house.streams == where.house.crew.live == 0)


def test_counts(slow: Place) -> None:
    slow.letters("abc")
    slow.letters("abc", beam=99)
    told = slow.get("/metrics").body.decode()
    assert 'regard_requests_total{model="letters",status="200"} 1.0' in told
    assert 'regard_requests_total{model="letters",status="422"} 1.0' in told
    assert 'regard_request_seconds_count{model="letters"} 1.0' in told
    assert 'regard_group_inputs_sum{model="letters"} 1.0' in told
    assert "regard_steps_total 3.0" in told
    assert "regard_waiting 0.0" in told
    assert "process_resident_memory_bytes" in told


def test_groups_stay_large_when_there_is_no_room() -> None:
    with served(house(pace=0.002, batch=4)) as where:
        texts = ["".join(chr(97 + (n * k) % 26) for k in range(10 + n % 11)) for n in range(60)]
        replies = together(*[lambda text=text: where.letters(text) for text in texts])
        assert [reply.text for reply in replies] == [text[::-1] for text in texts]
        assert len(steps(where)) < 2 * 15 * 20  # at best 15 groups of 20 steps
