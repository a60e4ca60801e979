"""A server that is told to end finishes what it has begun."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor

from benchmarks.load import Load, closed
from serve.conftest import Place, wait
from serve.fake import house


def test_none_is_lost(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    where = Place(url, house())

    async def load() -> Load:
        asked = asyncio.create_task(
            closed(url, ["a" * 30] * 2000, 16, stop=lambda end: end != "200", model="letters")
        )
        await asyncio.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        await asyncio.to_thread(
            wait,
            lambda: where.get("/ready").fault == (503, "closing") or process.poll() is not None,
        )
        refused = await asyncio.to_thread(where.letters, "abc")
        assert refused.fault == (503, "busy")
        assert refused.headers["connection"] == "close"
        return await asked

    with ThreadPoolExecutor(1) as beside:  # a browser of other tests has a loop in this thread
        ends = beside.submit(asyncio.run, load()).result().ends
    assert process.wait(30) == 0
    assert ends["200"] >= 16
    assert ends["lost"] == 0
    assert ends["200"] + ends["503"] + ends["closed"] == sum(ends.values())


def test_a_stream_is_finished(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    where = Place(process.stdout.readline().strip(), house())
    line = where.connect()
    body = '{"model": "letters", "text": "abcdefghij", "stream": true}'
    line.request("POST", "/v1/run", body * 1, {"Content-Type": "application/json"})
    got = line.getresponse()
    process.send_signal(signal.SIGTERM)
    assert b'"text":"jihgfedcba"' in got.read()
    assert process.wait(30) == 0
