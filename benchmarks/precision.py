"""What 16 bits bring to training: `python -m benchmarks.precision multi30k_bahdanau pronounce`.

Every recipe's own model and batches, in turns with 32 bits and with products of 16, forward,
backward and update. The first round is left out: kernels are made when a shape first comes.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import torch

from benchmarks.speed import matmul_peak
from regard.commands.recipes import find
from regard.machine import keep_memory
from regard.tasks.folder import read_recipe, task_of


def seconds(learning: Any, batches: list[Any], optimizer: Any, *, half: bool) -> float:
    """One round through the batches."""
    begin = time.perf_counter()
    for batch in batches:
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            total = learning.loss(learning.model, batch, {})
        (total.loss / total.tokens).backward()
        torch.nn.utils.clip_grad_norm_(learning.model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return time.perf_counter() - begin


def measured(recipe: str, count: int, rounds: int) -> tuple[float, float]:
    """Target tokens a second with 32 bits and with 16, each in its best round."""
    learning = task_of(read_recipe(find(recipe))).prepare(progress=False)
    learning.model.train()
    optimizer = torch.optim.AdamW(learning.model.parameters(), lr=1e-4, fused=True)
    order = learning.batches.epoch(0)[:count]
    batches, tokens = [learning.batch(i) for i in order], sum(map(learning.count, order))
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(rounds + 1):
        for half, row in times.items():
            spent = seconds(learning, batches, optimizer, half=half)
            if number:
                row.append(spent)
    return tokens / min(times[False]), tokens / min(times[True])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("recipes", nargs="+")
    options.add_argument("--batches", type=int, default=12)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--threads", type=int, default=1)
    chosen = options.parse_args()
    keep_memory()  # as the command line does
    torch.set_num_threads(chosen.threads)
    print(f"{chosen.threads} threads, matrix product {matmul_peak():.0f} GFLOP/s\n")
    print("| recipe | 32 bits, target tokens/s | 16 bits | ratio |\n|---|---|---|---|")
    for recipe in chosen.recipes:
        whole, half = measured(recipe, chosen.batches, chosen.rounds)
        print(f"| {recipe} | {whole:,.0f} | {half:,.0f} | {half / whole:.2f} |", flush=True)


if __name__ == "__main__":
    main()
