"""The options of the words that measure a model."""

from __future__ import annotations

import argparse

from regard.options.shared import asking, part, together, trusting


def evaluate(word: argparse.ArgumentParser) -> None:
    """The options of `regard evaluate`."""
    word.add_argument("model", help="a model's folder")
    part(word)
    word.add_argument(
        "--against",
        metavar="OTHER",
        help="another model's folder: a paired bootstrap test names the winner",
    )
    together(word)
    asking(word)
    word.add_argument("--outputs", metavar="FILE", help="write source, output, references as TSV")
    word.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the first metric by length of the source (.png, .svg, .pdf)",
    )
    word.add_argument(
        "--mistakes",
        metavar="FILE",
        help="of pictures: draw those with the lowest scores, the worst first (.png, .svg, .pdf)",
    )
    word.add_argument("--json", action="store_true", help="print the scores as JSON")
    trusting(word)


def report(word: argparse.ArgumentParser) -> None:
    """The options of `regard report`."""
    word.add_argument("model", help="a model's folder")
    part(word)
    word.add_argument(
        "--output", metavar="FILE", help="an .html file to write (default: report.html)"
    )
    asking(word)
    word.add_argument(
        "--examples",
        type=int,
        default=10,
        metavar="N",
        help="how many of the best and of the worst answers are looked at (default: 10)",
    )
    trusting(word)
