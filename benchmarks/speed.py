"""How fast models train and decode: `python -m benchmarks.speed`, or `make bench`.

T is a Transformer of 4 + 4 layers, 128 wide, 4 heads, 256 inside; R is RNNsearch with a GRU of
2 x 256 and a decoder of 512. Both have a joint BPE vocabulary of 10k and batches of 4,096 tokens
of Multi30k en-de. Machines differ and are noisy, so every figure stands beside a reference that is
measured in turns with it, and beside the machine's matrix product.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.reference import TutorialRNNsearch, TutorialTransformer
from regard.data import Tokenizer
from regard.losses import likelihood
from regard.machine import keep_memory
from regard.search import Gnmt, Symbols, beam, greedy
from regard.systems import bahdanau, transformer
from regard.tasks.folder import task_of
from regard.tasks.text import TextBatch, source_batch
from regard.train.preflight import peak_memory

RECIPE: dict[str, Any] = {
    "data": {"source": {"is": "data.Bpe", "size": 10_000}},
    "model": {"is": "systems.transformer", "shared": True},
    "train": {"epochs": 1, "tokens": 4096},
    "metrics": ["bleu_tok"],
}
OURS: dict[str, Callable[[int], Any]] = {
    "T": lambda vocab: transformer(vocab, vocab, shared=True),
    "R": lambda vocab: bahdanau(vocab, vocab),
}
TUTORIAL: dict[str, Callable[[int], Any]] = {"T": TutorialTransformer, "R": TutorialRNNsearch}


def matmul_peak() -> float:
    """GFLOP/s of a large matrix product, the best of some."""
    a, b = torch.randn(1536, 1536), torch.randn(1536, 1536)
    best = 0.0
    for _ in range(8):
        begin = time.perf_counter()
        a @ b
        best = max(best, 2 * 1536**3 / (time.perf_counter() - begin) / 1e9)
    return best


def corpus(folder: Path) -> Any:
    """Multi30k en-de, tokenised files, prepared as a recipe does it."""
    part = "{}.lc.norm.tok.{}.gz"
    files = {
        which: [str(folder / "tok" / part.format(name, language)) for language in ("en", "de")]
        for which, name in (("train", "train"), ("valid", "val"))
    }
    return task_of({**RECIPE, "data": {**RECIPE["data"], **files}}).prepare()  # type: ignore[arg-type]


def training_step(model: Any, fused: bool) -> Callable[[TextBatch], None]:
    """Forward, backward, clip, update."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=fused or None)

    def step(batch: TextBatch) -> None:
        if fused:
            decoded = model(batch.source, batch.source_mask, batch.inputs)
            loss = likelihood(
                model.head, decoded.outputs, batch.targets, batch.target_mask, smoothing=0.1
            ).loss
        else:
            loss = model(batch)
        (loss / batch.target_mask.sum()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    return step


def train_speed(which: str, learning: Any, updates: int) -> dict[str, float]:
    """Target tokens per second of our model and of the tutorial's, batch by batch in turns."""
    vocab = learning.target.size
    steps = {
        "regard": training_step(OURS[which](vocab), True),
        "tutorial": training_step(TUTORIAL[which](vocab), False),
    }
    batches = [learning.batch(indices) for indices in learning.batches.epoch(0)[: updates + 2]]
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for number, batch in enumerate(batches):
        for name, step in steps.items():
            begin = time.perf_counter()
            step(batch)
            if number >= 2:
                seconds[name].append((time.perf_counter() - begin) / int(batch.target_mask.sum()))
    return {name: 1 / float(np.median(row)) for name, row in seconds.items()}


def decode_speed(which: str, learning: Any, sentences: int, size: int, width: int) -> float:
    """Sentences per second, each decoded to its reference's length.

    The end is made unlikely and the length limit is the reference's own: every beam does the whole
    work of a real translation, whatever the weights are.
    """
    model = OURS[which](learning.target.size).eval()
    with torch.no_grad():
        model.head.bias[Tokenizer.EOS] = -1e4
    rows, answers = learning.corpus.rows(np.arange(sentences))
    order = sorted(range(sentences), key=lambda i: len(rows[i]))
    symbols = Symbols(Tokenizer.BOS, Tokenizer.EOS, (Tokenizer.PAD, Tokenizer.BOS, Tokenizer.UNK))
    begin = time.perf_counter()
    for first in range(0, sentences, size):
        chosen = order[first : first + size]
        limits = torch.tensor([len(answers[i]) for i in chosen])
        with torch.inference_mode():
            source = model.prepare(*source_batch([rows[i] for i in chosen]))
        if width == 1:
            greedy(model, source, symbols=symbols, limits=limits)
        else:
            beam(model, source, symbols=symbols, limits=limits, width=width, penalty=Gnmt())
    return sentences / (time.perf_counter() - begin)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--data", type=Path, default=Path("data/multi30k"))
    options.add_argument("--updates", type=int, default=20)
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    options.add_argument("--json", type=Path, help="write the figures here too")
    chosen = options.parse_args()
    keep_memory()  # as the command line does
    torch.set_num_threads(chosen.threads)
    learning = corpus(chosen.data)
    figures: dict[str, Any] = {"threads": chosen.threads, "matmul_gflops": matmul_peak()}
    print(f"{chosen.threads} threads, matrix product {figures['matmul_gflops']:.0f} GFLOP/s\n")
    print("| | regard | tutorial | ratio |\n|---|---|---|---|")
    for which in OURS:
        row = train_speed(which, learning, chosen.updates)
        figures[f"train_{which}"] = row
        print(
            f"| train {which}, target tokens/s | {row['regard']:,.0f} | {row['tutorial']:,.0f} | "
            f"{row['regard'] / row['tutorial']:.2f} |",
            flush=True,
        )
    print("\n| sentences/s | greedy, 64 | beam 5, 64 | beam 5, 1 |\n|---|---|---|---|")
    for which in OURS:
        row = {
            f"{size}x{width}": decode_speed(which, learning, count, size, width)
            for count, size, width in ((512, 64, 1), (256, 64, 5), (24, 1, 5))
        }
        figures[f"decode_{which}"] = row
        print(f"| {which} | " + " | ".join(f"{v:.1f}" for v in row.values()) + " |", flush=True)
    figures["peak_memory_mib"] = peak_memory() / 2**20
    print(f"\npeak memory {figures['peak_memory_mib']:,.0f} MiB")
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
