"""A toy task that every model must learn: say the letters backwards."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

LETTERS = "abcdef"


def write_pairs(path: Path, count: int, *, seed: int = 1, longest: int = 5) -> Path:
    """A TSV file of words and their reversals, letters apart on the target side."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8") as file:
        for _ in range(count):
            word = "".join(chance.choices(LETTERS, k=chance.randint(2, longest)))
            file.write(f"{word}\t{' '.join(reversed(word))}\n")
    return path


def recipe(folder: Path, *, model: dict[str, Any] | None = None, **train: Any) -> dict[str, Any]:
    """A recipe on toy pairs in a folder, which is made if it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", 400), ("valid", 40)):
        if not (folder / f"{part}.tsv").exists():
            write_pairs(folder / f"{part}.tsv", count, seed=count)
    small = {
        "is": "systems.bahdanau",
        "deep_output": "tanh",
        "embedding": 16,
        "encoder": 16,
        "decoder": 32,
        "attention": 16,
        "readout": 16,
        "dropout": 0.1,
    }
    return {
        "about": "Letters backwards.",
        "data": {
            "train": str(folder / "train.tsv"),
            "valid": str(folder / "valid.tsv"),
            "source": {"is": "data.Characters"},
            "target": {"is": "data.Words"},
            "cache": str(folder / "cache"),
        },
        "model": model or small,
        "train": {
            "updates": 30,
            "tokens": 200,
            "log_every": 5,
            "tensorboard": False,
            "device": "cpu",
            "optimizer": {"is": "torch.optim.AdamW", "lr": 0.01},
            **train,
        },
        "metrics": ["exact", "per"],
    }
