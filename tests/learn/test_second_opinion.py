"""Counts mend what a network that has learned little leaves undecided."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import yaml

from regard.commands.train import train
from regard.tasks.folder import load
from tests import toy


def said(word: str) -> str:
    """C is soft before e and i, a last e is silent, ph is one sound."""
    sounds: list[str] = []
    for place, letter in enumerate(word):
        before, after = word[place - 1 : place], word[place + 1 : place + 2]
        if letter == "c":
            sounds.append("S" if after in ("e", "i") else "K")
        elif letter == "p" and after == "h":
            sounds.append("F")
        elif not (letter == "h" and before == "p") and not (letter == "e" and not after):
            sounds.append(letter.upper())
    return " ".join(sounds)


def write_words(path: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    words = [
        "a" + "".join(chance.choices("aceihpst", k=chance.randint(3, 8))) for _ in range(count)
    ]
    path.write_text("".join(f"{word}\t{said(word)}\n" for word in words))


def test_counts_and_a_network_are_right_more_often_than_the_network(tmp_path: Path) -> None:
    recipe = toy.recipe(tmp_path, updates=250, validate_every=250, tokens=400)
    write_words(tmp_path / "train.tsv", 1500, seed=1)
    write_words(tmp_path / "valid.tsv", 150, seed=2)
    recipe |= {"ngrams": {"order": 4}, "decode": {"beam": 12}}
    path = tmp_path / "second.yaml"
    path.write_text(yaml.safe_dump(recipe))
    train(str(path), [], str(tmp_path / "out"), fresh=False, quiet=True)
    model: Any = load(tmp_path / "out")
    both = model.evaluate(str(tmp_path / "valid.tsv")).scores["exact"].value
    model.judge = None
    alone = model.evaluate(str(tmp_path / "valid.tsv")).scores["exact"].value
    assert both > alone + 10
