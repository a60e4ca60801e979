"""Workers in processes of their own: they share the work, and one that dies takes nobody along."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import re
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from regard.serve.hands import hired
from regard.serve.limits import Limits
from serve.conftest import JSON, Place, served, together, wait
from serve.fake import Letters, letters, processes
from serve.test_bounds import encoded, picture


@pytest.fixture(scope="module")
def two() -> Iterator[Place]:
    with processes(pace=0.01) as own, served(own) as where:
        yield where


def test_the_work_is_shared(two: Place) -> None:
    texts = [f"{number}abcdef" for number in range(12)]
    replies = together(*[lambda text=text: two.letters(text) for text in texts])
    assert [reply.text for reply in replies] == [text[::-1] for text in texts]
    assert min(desk.put for desk in two.house.crew._desks) >= 3
    told = two.get("/metrics").body.decode()
    assert "regard_workers 2.0" in told
    assert 'regard_group_inputs_count{model="letters"}' in told
    assert two.house.crew.live == two.house.crew.waiting == 0


def test_pictures_streams_and_faults_pass_through(two: Place) -> None:
    assert two.ask(model="eye", image=encoded(picture(300, 200))).text == "erutcip"
    *partials, (last, answer) = two.letters("abcdef", stream=True).events
    assert (last, answer["answers"][0]["text"]) == ("answer", "fedcba")
    assert len(partials) >= 2
    assert two.letters("unfit").fault == (422, "unfit")
    crashed = two.letters("crash")
    assert crashed.fault == (500, "internal")
    assert b"secret" not in crashed.body
    assert two.letters("abc", trace=True).json["trace"] == {"text": "cba"}


def test_who_leaves_frees_the_place(two: Place) -> None:
    line = two.connect()
    body = json.dumps({"model": "letters", "text": "a" * 1000})
    line.request("POST", "/v1/run", body, JSON)
    wait(lambda: two.house.crew.live == 1)
    line.close()
    wait(lambda: two.house.crew.live == 0)
    assert b"regard_dropped_total 1.0" in two.get("/metrics").body


def test_one_dies(caplog: pytest.LogCaptureFixture) -> None:
    """Whoever waited for it is told to ask again, and the other goes on."""
    with processes(pace=0.01) as own, served(own) as where, caplog.at_level(logging.ERROR):
        lose(where, caplog)


def lose(two: Place, caplog: pytest.LogCaptureFixture) -> None:
    hands: Any = [desk.hand for desk in two.house.crew._desks]

    def kill() -> None:
        wait(lambda: two.house.crew.live == 2)
        hands[0]._process.kill()

    one, other, _ = together(*[lambda: two.letters("a" * 60)] * 2, kill)
    assert sorted([one.status, other.status]) == [200, 503]
    refused = one if one.status == 503 else other
    assert refused.headers["retry-after"] == "1"
    wait(lambda: "a worker ended" in caplog.text)
    assert [two.letters("abc").text for _ in range(3)] == ["cba"] * 3
    assert two.get("/health").status == 200
    assert b"regard_workers 1.0" in two.get("/metrics").body
    hands[1]._process.kill()
    wait(lambda: gone(two))  # with nobody left to answer, something has to start it again


def gone(where: Place) -> bool:
    try:
        where.get("/health")
    except OSError:
        return True
    return False


def test_signals_are_for_whoever_gives_the_orders(two: Place) -> None:
    """Service managers and terminals send them to all processes."""
    for child in multiprocessing.active_children():
        os.kill(child.pid or 0, signal.SIGTERM)
        os.kill(child.pid or 0, signal.SIGINT)
    assert two.letters("abc").text == "cba"
    assert two.house.crew.hands == 2


def refuse(marker: Path, error: Exception) -> dict[str, Letters]:
    """The first worker finds nothing wrong; the others do."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        raise error from None
    return letters(Limits(), 0.0)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ImportError('pip install "regard[caption]"'), 'pip install "regard[caption]"'),
        (KeyError("vocab"), "KeyError: 'vocab'"),
    ],
)
def test_models_that_one_cannot_load(tmp_path: Path, error: Exception, told: str) -> None:
    load = partial(refuse, tmp_path / "marker", error)
    with (
        hired(load, Limits(), workers=2, threads=1) as hands,
        pytest.raises(ValueError, match=re.escape(told)),
    ):
        [hand.facts() for hand in hands]
    assert not any(hand.works for hand in hands)


def test_nobody_is_left_when_the_front_is_gone() -> None:
    with hired(partial(letters, Limits(), 0.0), Limits(), workers=1, threads=1) as hands:
        hands[0].facts()
        assert hands[0].works
        hands[0]._line.close()
        wait(lambda: not hands[0].works)
