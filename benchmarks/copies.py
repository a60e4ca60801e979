"""Whether names and numbers never met come through: `python -m benchmarks.copies MODEL`.

Of the model's validation pairs, those where a name or a number stands on both sides are taken. Each
such name becomes one of people's names that the training pairs do not have, each number another of
as many digits. Told is the share that comes through, before and after, and the perplexity.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

import regard
from regard.data import Report
from regard.data.respelling import KEPT, copied
from regard.tasks.evaluate import evaluate
from regard.tasks.folder import task_in
from regard.tasks.text import Question

NAMES = """
Aurelio Benedikta Casimir Dagmar Eleftheria Fiorenzo Gudrun Hyacinth Ignatius Jocasta Kazimierz
Leontine Malachi Nicodemus Ottoline Perpetua Quentin Rosalind Svetozar Theodora Umberto Valeska
Wilhelmina Xanthippe Yevgeny Zacharias Abiodun Bronwen Chidinma Desdemona Emeka Faustino Gwendolyn
Hideaki Ingeborg Jaroslav Katsuro Ludmila Mireille Nkechi
"""


def renamed(
    source: str, target: str, names: list[str], random: np.random.Generator
) -> tuple[str, ...]:
    """Another name for each name that stands on both sides, other digits for each number."""
    words = sorted(copied(source, target))
    drawn = iter(random.permutation(names))
    digits = str.maketrans("0123456789", "".join(random.permutation(list("0123456789"))))
    others = {
        word: word.translate(digits) if word[0].isdecimal() else str(next(drawn)) for word in words
    }
    return tuple(
        KEPT.sub(lambda match: others.get(match[0], match[0]), text) for text in (source, target)
    )


def main() -> None:
    """Measure, print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("model", type=Path, help="the folder of a translator")
    options.add_argument("--most", type=int, default=400, help="pairs")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--show", type=int, default=10, help="how many answers to print")
    given = options.parse_args()
    data: Any = task_in(given.model)
    met = {
        word
        for pair in data.data.train.read(Report())
        for side in (pair.source, pair.target)
        for word in KEPT.findall(side)
    }
    names = [name for name in NAMES.split() if name not in met]
    pairs = [pair for pair in data.part("valid").read(Report()) if copied(pair.source, pair.target)]
    pairs = pairs[: given.most]
    random = np.random.default_rng(given.seed)
    new = [renamed(pair.source, pair.target, names, random) for pair in pairs]
    model: Any = regard.load(given.model)
    print(f"{len(pairs)} pairs; {len(names)} names that the training pairs do not have\n")
    print("| names and numbers | copied, % | perplexity |\n|---|---|---|")
    for what, some in (("as they are", pairs), ("never met", new)):
        asked = [Question(source, [target]) for source, target, *_ in some]
        found = evaluate(model, asked, metrics=["perplexity"])
        told = [str(found.scores[name].interval()) for name in ("copies", "perplexity")]
        print(f"| {what} | {' | '.join(told)} |", flush=True)
    for source, output in list(zip(found.sources, found.outputs, strict=True))[: given.show]:
        print(f"\n{source}\n  {output}")


if __name__ == "__main__":
    main()
