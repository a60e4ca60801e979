"""`regard demo`: the whole road in three minutes, from a dictionary to pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.console import Console

import regard
from regard.commands.evaluate import evaluate
from regard.commands.train import train

WORDS = ["regard", "attention", "knowledge", "translation", "phonograph", "wednesdayish"]


def demo(words: list[str], output: str) -> None:
    """Train, score, pronounce, draw, and say what to type next."""
    console, folder = Console(highlight=False), Path(output)
    model = str(folder / "model")
    console.rule("1. learning letters to sounds from the CMU pronouncing dictionary")
    train("pronounce_demo", [], model, fresh=False, quiet=False)
    console.rule("2. words that it never saw")
    _evaluate(model)
    console.rule("3. pronouncing")
    translator: Any = regard.load(model)
    for answer in translator.run([word.lower() for word in words or WORDS], look=True):
        picture = answer.seen.save(folder / f"{answer.source}.png")
        line = f"{answer.source:>14}  {answer.text:<40} where it looked: {picture}"
        console.print(line, soft_wrap=True, markup=False)
    console.rule("next")
    console.print(
        f"regard run {model} your words here       pronounce anything\n"
        f"regard run {model} lead --nbest 3        other readings\n"
        f"regard look {model} knight               draw where it looks\n"
        "regard recipes                                what else can be trained\n"
        "regard train my.yaml                          your own pairs: see docs/start.md",
        soft_wrap=True,
    )


def _evaluate(model: str) -> None:
    evaluate(
        model,
        ["test"],
        against=None,
        others=[],
        metrics=None,
        beam=None,
        penalty=None,
        most=None,
        outputs=None,
        plot=None,
        json=False,
    )
