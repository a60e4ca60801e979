"""Small worlds, models that learn them, and a server: `worlds.py FOLDER` trains and serves."""

from __future__ import annotations

import itertools
import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml
from PIL import Image

PARTS = [
    {"one": "eine", "two": "zwei", "three": "drei", "four": "vier"},
    {"red": "rote", "green": "grüne", "small": "kleine", "old": "alte", "young": "junge"},
    {"cat": "katze", "bee": "biene", "flower": "blume", "lamp": "lampe", "bell": "glocke"},
    {"sleeps": "schläft", "falls": "fällt", "waits": "wartet", "sings": "singt"},
    {"here": "hier", "outside": "draußen", "today": "heute"},
]
COLOURS = {"red": (220, 30, 30), "blue": (40, 40, 230)}
SIDES = {"left": (2, 12, 26, 36), "right": (38, 12, 62, 36)}


def pairs() -> list[tuple[str, str]]:
    """Sentences of five words, and the same in another order and language."""
    made = []
    for chosen in itertools.product(*(part.items() for part in PARTS)):
        number, adjective, noun, verb, place = (german for _, german in chosen)
        source = " ".join(english for english, _ in chosen)
        made.append((source, f"{place} {verb} {number} {adjective} {noun}"))
    random.Random(1).shuffle(made)
    return made


def draw(colour: str, side: str, seed: int) -> Image.Image:
    """A square on noisy grey."""
    noise = np.random.default_rng(seed).integers(90, 130, (48, 64, 3), np.uint8)
    image = Image.fromarray(noise)
    image.paste(COLOURS[colour], SIDES[side])
    return image


def schedule(updates: int, rate: float) -> dict[str, Any]:
    return {
        "updates": updates,
        "tokens": 800,
        "optimizer": {"is": "torch.optim.AdamW", "lr": rate},
        "schedule": {"is": "train.Constant"},
        "validate_every": updates,
        "tensorboard": False,
    }


def translation(folder: Path, model: dict[str, Any], rate: float) -> dict[str, Any]:
    return {
        "about": "Five words of English in German.",
        "data": {
            "train": str(folder / "train.tsv"),
            "valid": str(folder / "valid.tsv"),
            "source": {"is": "data.Words"},
            "target": {"is": "data.Bpe", "size": 60},
            "cache": str(folder / "cache"),
        },
        "model": model,
        "train": schedule(90, rate),
        "metrics": ["exact"],
    }


def captions(folder: Path) -> dict[str, Any]:
    return {
        "is": "tasks.Caption",
        "about": "Squares, described.",
        "data": {
            "train": str(folder / "train.jsonl"),
            "valid": str(folder / "valid.jsonl"),
            "target": {"is": "data.Words"},
            "backbone": {"is": "encoders.EfficientNetLite", "stages": [5], "size": 64},
            "cache": str(folder / "cache"),
        },
        "model": {
            "is": "systems.show_attend_tell", "annotation": 32, "embedding": 16, "dim": 48,
            "attention": 16, "readout": 16, "dropout": 0.0,
        },
        "train": schedule(15, 0.01),
        "metrics": ["bleu4"],
    }  # fmt: skip


def writing(folder: Path) -> dict[str, Any]:
    return {
        "is": "tasks.ModelText",
        "data": {"train": str(folder / "text.txt"), "cache": str(folder / "cache")},
        "model": {"is": "systems.language_model", "embedding": 8, "dim": 16},
        "train": {"updates": 3, "tokens": 128, "tensorboard": False},
    }


def write_data(folder: Path) -> None:
    made = pairs()
    for part, some in {"train": made[:600], "valid": made[600:640]}.items():
        text = "".join(f"{source}\t{target}\n" for source, target in some)
        (folder / f"{part}.tsv").write_text(text)
    (folder / "images").mkdir()
    rows = []
    for seed, (colour, side) in itertools.product(range(5), itertools.product(COLOURS, SIDES)):
        name = f"{colour}-{side}-{seed}.png"
        draw(colour, side, seed).save(folder / "images" / name)
        rows.append({"image": name, "captions": [f"a {colour} square on the {side}"]})
    for part, chosen in {"train": rows[:-4], "valid": rows[-4:]}.items():
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, chosen)))
    (folder / "text.txt").write_text("to be or not to be\n" * 60)


def train_and_serve(folder: Path) -> int:
    """Two models that translate, one that writes on, and one that sees."""
    from regard.cli import main

    write_data(folder)
    bahdanau = {
        "is": "systems.bahdanau", "embedding": 24, "encoder": 24, "decoder": 48, "attention": 24,
        "readout": 24, "deep_output": "tanh", "dropout": 0.0,
    }  # fmt: skip
    transformer = {
        "is": "systems.transformer", "dim": 32, "heads": 2, "hidden": 64, "layers": 2,
        "longest": 40, "dropout": 0.0,
    }  # fmt: skip
    recipes = {
        "german": translation(folder, bahdanau, 0.015),
        "other": translation(folder, transformer, 0.004),
        "writer": writing(folder),
        "squares": captions(folder),
    }
    models = [str(folder / name) for name in recipes]
    for model, recipe in zip(models, recipes.values(), strict=True):
        Path(f"{model}.yaml").write_text(yaml.safe_dump(recipe, allow_unicode=True))
        assert main(["train", f"{model}.yaml", "--output", model, "--quiet"]) == 0
    return main(["serve", *models, "--port", "0", "--threads", "1", "--most-characters", "400"])


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(train_and_serve(Path(sys.argv[1])))
