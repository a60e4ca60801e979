"""How a server bears load, beside plain decoding of the same sentences in the same run.

python -m benchmarks.serve runs/model sentences.txt
"""

from __future__ import annotations

import argparse
import asyncio
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.load import Load, closed, paced
from regard.machine import keep_memory

TOP = 64
"""Clients at which the top rate is measured."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model", help="a model's folder")
    arguments.add_argument("file", help="sentences, one a line")
    arguments.add_argument("--sentences", type=int, default=512, metavar="N")
    arguments.add_argument("--rounds", type=int, default=3, metavar="N")
    arguments.add_argument("--threads", type=int, metavar="N", help="of plain decoding")
    arguments.add_argument(
        "--server", default="", metavar="OPTIONS", help="of regard serve, such as '--workers 1'"
    )
    asked = arguments.parse_args()
    lines = Path(asked.file).read_text(encoding="utf-8").splitlines()
    texts = list(dict.fromkeys(line for line in lines if line.strip()))[: asked.sentences]
    keep_memory()  # as `regard run` does
    plain = Plain(asked.model, asked.threads)
    started = time.perf_counter()
    url, process = serve(asked.model, shlex.split(asked.server))
    try:
        asyncio.run(measure(url, process, plain, texts, asked.rounds))
    finally:
        process.kill()
    print(f"\n{len(texts)} sentences, {time.perf_counter() - started:.0f} seconds in all")


class Plain:
    """The model in this process, as `regard run` uses it."""

    def __init__(self, model: str, threads: int | None) -> None:
        import torch

        import regard

        torch.set_num_threads(threads or torch.get_num_threads())
        print(f"plain decoding has {torch.get_num_threads()} threads")
        self.trained: Any = regard.load(model)
        self.trained.run(["a"])
        self.texts: dict[str, str] = {}

    def rate(self, texts: Sequence[str]) -> float:
        """Sentences a second."""
        began = time.perf_counter()
        outputs = self.trained.run(texts, batch=64)
        seconds = time.perf_counter() - began
        self.texts = {output.source: output.text for output in outputs}
        return len(texts) / seconds


def serve(model: str, options: Sequence[str]) -> tuple[str, subprocess.Popen[str]]:
    """A server in a process of its own, and where it listens."""
    command = [sys.executable, "-m", "regard.cli", "serve", model, "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("listening on "):
            return line.split()[2].rstrip(":"), process
    raise SystemExit("the server did not start")


async def measure(
    url: str, process: subprocess.Popen[str], plain: Plain, texts: Sequence[str], rounds: int
) -> None:
    """All figures, each measured in turns with what it is compared with."""
    await closed(url, texts[:TOP], 8)
    rates, top = [], 0.0
    loads = {1: Load(), 8: Load(), TOP: Load()}
    half = Load()
    for _ in range(rounds):
        rates.append(plain.rate(texts))
        for clients in loads:
            added = await closed(
                url, texts if clients == TOP else texts[: len(texts) // 3], clients
            )
            loads[clients] = joined(loads[clients], added)
            top = added.rate
        half = joined(half, await paced(url, texts, top / 2))
    usual = sorted(rates)[len(rates) // 2]
    print("load            sentences/s  of plain  p50 ms  p99 ms  ended")
    print(f"plain, batch 64 {usual:11.1f}  {1:8.0%}")
    for clients, load in loads.items():
        say(f"{clients} clients", load, usual)
    say("half the top", half, usual)
    say(
        "twice the top",
        await paced(url, list(islice(cycle(texts), 4 * len(texts))), 2 * top),
        usual,
    )
    say("SIGTERM", await terminated(url, process, texts), usual)
    code = await asyncio.to_thread(process.wait)
    same = sum(plain.texts[text] == said for text, said in loads[TOP].answers.items())
    print(f"same answers as plain: {same} of {len(loads[TOP].answers)}")
    print(
        f"p99 at half the top: {half.share(0.99) / loads[1].share(0.99):.2f} times that of 1 client"
    )
    print(f"the server ended with {code}")


async def terminated(url: str, process: subprocess.Popen[str], texts: Sequence[str]) -> Load:
    """SIGTERM while all clients wait for an answer."""
    answered = 0

    def stop(end: str) -> bool:
        nonlocal answered
        answered += 1
        if answered == 2 * TOP:
            process.send_signal(signal.SIGTERM)
        return end != "200"

    return await closed(url, list(islice(cycle(texts), 50 * TOP)), TOP, stop=stop)


def joined(one: Load, other: Load) -> Load:
    """Two loads as one."""
    return Load(
        one.seconds + other.seconds,
        one.taken + other.taken,
        one.ends + other.ends,
        one.answers | other.answers,
    )


def say(name: str, load: Load, usual: float) -> None:
    """A row of the table."""
    ends = ", ".join(f"{count} x {end}" for end, count in sorted(load.ends.items()))
    print(
        f"{name:15} {load.rate:11.1f}  {load.rate / usual:8.0%}  {1e3 * load.share(0.5):6.0f}  "
        f"{1e3 * load.share(0.99):6.0f}  {ends}",
        flush=True,
    )


if __name__ == "__main__":
    main()
