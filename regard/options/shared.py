"""Options that several words have."""

from __future__ import annotations

import argparse


def asking(word: argparse.ArgumentParser) -> None:
    """How to decode."""
    word.add_argument(
        "--beam",
        type=int,
        metavar="N",
        help="width of the beam; 1 is greedy (default: as in the model's recipe)",
    )
    word.add_argument(
        "--penalty",
        choices=["gnmt", "average", "none"],
        help="length penalty of the beam (default: as in the model's recipe)",
    )


def together(word: argparse.ArgumentParser) -> None:
    """Which other models decide too."""
    word.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="OTHER",
        help="decode together with another model's folder, of any architecture on the same "
        "tokenizers; may be given several times",
    )


def trusting(word: argparse.ArgumentParser) -> None:
    """Whose parts a model may be made of."""
    word.add_argument(
        "--trust",
        action="append",
        default=[],
        metavar="PACKAGE",
        help="a package of your own that the recipe of a model may name, such as mine for "
        "{is: mine.model}; may be given several times",
    )


def sampling(word: argparse.ArgumentParser) -> None:
    """How to draw."""
    word.add_argument("--sample", action="store_true", help="draw answers at random")
    word.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        help="with --sample: below 1 is bolder, above 1 wilder (default: 1)",
    )
    word.add_argument(
        "--top-k",
        type=int,
        metavar="K",
        help="with --sample: draw among the K likeliest symbols only",
    )
    word.add_argument(
        "--top-p",
        type=float,
        metavar="P",
        help="with --sample: draw among the likeliest symbols that make up the "
        "share P of the probability",
    )
    word.add_argument(
        "--seed",
        type=int,
        metavar="S",
        help="with --sample: another seed, another draw (default: 1)",
    )


def part(word: argparse.ArgumentParser) -> None:
    """What a model is scored on, and by what."""
    word.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="valid or test (the recipe's own part), one file of pairs (.tsv, .csv, .jsonl), two "
        "parallel text files, or data as a recipe says it, such as "
        "'{is: data.Coco, path: ..., images: ...}'",
    )
    word.add_argument(
        "--metrics",
        metavar="A,B",
        help="such as bleu,bleu_tok,chrf,ter,exact,accuracy,wer,cer,per (default: "
        "those of the model's recipe)",
    )
    word.add_argument("--most", type=int, metavar="N", help="only N questions, evenly spaced")
    word.add_argument(
        "--on-error",
        choices=["stop", "skip"],
        default="stop",
        help="stop at a bad line, or skip it and count it (default: stop, or as the recipe says of "
        "its own parts)",
    )
