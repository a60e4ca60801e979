"""`regard demo`: the whole road in three minutes, from a dictionary to pictures."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

import regard
from regard.commands.evaluate import evaluate
from regard.commands.train import train

WORDS = ["regard", "attention", "knowledge", "translation", "phonograph", "wednesdayish"]


def demo(words: list[str], output: str) -> None:
    """Train, score, pronounce, draw, and say what to type next."""
    for word in words:
        if not word.strip() or "/" in word:
            raise ValueError(f"wanted words to pronounce, got {word!r}; leave it out")
    console, folder = Console(highlight=False), Path(output)
    model = str(folder / "model")
    console.rule("1. learning letters to sounds from the CMU pronouncing dictionary")
    train("pronounce_demo", [], model, fresh=False, quiet=False)
    console.rule("2. words that it never saw")
    evaluate(model, ["test"])
    console.rule("3. pronouncing")
    translator: Any = regard.load(model)
    for answer in translator.run([word.lower() for word in words or WORDS], look=True):
        picture = answer.seen.save(folder / f"{answer.source}.png")
        line = f"{answer.source:>14}  {answer.text:<40} where it looked: {picture}"
        console.print(line, soft_wrap=True, markup=False)
    console.rule("next")
    # In a fresh checkout the command is not on the path yet.
    command = "regard" if shutil.which("regard") else sys.argv[0]
    for words_to_type, what in (
        (f"run {model} your words here", "pronounce anything"),
        (f"run {model} lead --nbest 3", "other readings"),
        (f"look {model} knight", "draw where it looks"),
        ("recipes", "what else can be trained"),
        ("train my.yaml", "your own pairs: see docs/start.md"),
    ):
        console.print(f"{command} {words_to_type:<36} {what}", soft_wrap=True, markup=False)
