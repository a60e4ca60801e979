"""How a server bears load, beside plain decoding of the same sentences in the same run.

python -m benchmarks.serve runs/model sentences.txt
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.load import Load, closed, paced

TOP = 64
"""Clients at which the top rate is measured."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("model", help="a model's folder")
    arguments.add_argument("file", help="sentences, one a line")
    arguments.add_argument("--sentences", type=int, default=512, metavar="N")
    arguments.add_argument("--rounds", type=int, default=3, metavar="N")
    arguments.add_argument("--threads", type=int, default=1, metavar="N", help="of the models")
    asked = arguments.parse_args()
    lines = Path(asked.file).read_text(encoding="utf-8").splitlines()
    texts = list(dict.fromkeys(line for line in lines if line.strip()))[: asked.sentences]
    plain = Plain(asked.model, asked.threads)
    started = time.perf_counter()
    url, process = serve(asked.model, asked.threads)
    try:
        asyncio.run(measure(url, process, plain, texts, asked.rounds))
    finally:
        process.kill()
    print(f"\n{len(texts)} sentences, {time.perf_counter() - started:.0f} seconds in all")


class Plain:
    """The model in this process, as `regard run` uses it."""

    def __init__(self, model: str, threads: int) -> None:
        import torch

        import regard

        torch.set_num_threads(threads)
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


def serve(model: str, threads: int) -> tuple[str, subprocess.Popen[str]]:
    """A server in a process of its own, and where it listens."""
    command = [sys.executable, "-m", "regard.cli", "serve", model, "--port", "0"]
    command += ["--threads", str(threads)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("listening on "):
            return line.split()[2].rstrip(":"), process
    raise SystemExit("the server did not start")


async def measure(
    url: str, process: subprocess.Popen[str], plain: Plain, texts: Sequence[str], rounds: int
) -> None:
    """All figures, each beside what it is compared with."""
    await closed(url, texts[:TOP], 8)
    rates, loads = [], {1: Load(), 8: Load(), TOP: Load()}
    for _ in range(rounds):
        rates.append(plain.rate(texts))
        for clients in loads:
            count = len(texts) if clients == TOP else len(texts) // 3
            added = await closed(url, texts[:count], clients)
            loads[clients] = joined(loads[clients], added)
    usual = sorted(rates)[len(rates) // 2]
    print("load            sentences/s  of plain  p50 ms  p99 ms  ended")
    print(f"plain, batch 64 {usual:11.1f}  {1:8.0%}")
    for clients, load in loads.items():
        say(f"{clients} clients", load, usual)
    same = sum(plain.texts[text] == said for text, said in loads[TOP].answers.items())
    print(f"same answers as plain: {same} of {len(loads[TOP].answers)}")
    top, alone = loads[TOP].rate, loads[1].share(0.99)
    half = await paced(url, texts, top / 2)
    say("half the top", half, usual)
    print(
        f"p99 at half the top load: {half.share(0.99) / alone:.2f} times that of one client alone"
    )
    double = await paced(url, list(islice(cycle(texts), 4 * len(texts))), 2 * top)
    say("twice the top", double, usual)
    await terminated(url, process, texts, usual)


async def terminated(
    url: str, process: subprocess.Popen[str], texts: Sequence[str], usual: float
) -> None:
    """SIGTERM while all clients wait for an answer."""
    load = asyncio.create_task(
        closed(url, list(islice(cycle(texts), 20 * TOP)), TOP, stop=lambda end: end != "200")
    )
    await asyncio.sleep(5 * TOP / usual)
    process.send_signal(signal.SIGTERM)
    say("SIGTERM", await load, usual)
    code = await asyncio.to_thread(process.wait)
    print(f"the server ended with {code}")


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
