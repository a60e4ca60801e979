"""The options of the words that use a model."""

from __future__ import annotations

import argparse

from regard.options.shared import asking, sampling, together, trusting


def run(word: argparse.ArgumentParser) -> None:
    """The options of `regard run`."""
    word.add_argument("model", help="a model's folder")
    word.add_argument(
        "texts",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="what to answer, what a language model is to write on from (default: the lines of "
        "standard input), or pictures and folders of pictures to describe",
    )
    word.add_argument("--input", metavar="FILE", help="answer the lines of a file")
    word.add_argument(
        "--talk",
        action="store_true",
        help="keep a dialogue going: reply to each line with the turns before it in mind",
    )
    together(word)
    asking(word)
    word.add_argument(
        "--nbest",
        type=int,
        default=1,
        metavar="N",
        help="answers to give to each text, best first (default: 1)",
    )
    sampling(word)
    word.add_argument("--prefix", default="", metavar="TEXT", help="how every answer must begin")
    word.add_argument(
        "--json",
        action="store_true",
        help="one JSON object a line: text, scores, tokens, alignment",
    )
    word.add_argument(
        "--batch",
        type=int,
        metavar="N",
        help="texts that are decoded together (default: 64; 32 pictures)",
    )
    word.add_argument(
        "--length",
        type=int,
        metavar="N",
        help="of a language model: how many symbols to write on (default: 500)",
    )
    word.add_argument("--csv", action="store_true", help="of pictures: a table with every caption")
    word.add_argument(
        "--sheet",
        metavar="FILE",
        help="of pictures: also draw all of them with their captions (.png, .svg, .pdf)",
    )
    trusting(word)


def look(word: argparse.ArgumentParser) -> None:
    """The options of `regard look`."""
    word.add_argument("model", help="a model's folder")
    word.add_argument(
        "texts",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="what to answer, or a photo, or a folder of photos; with --map a file of sentences, "
        "with --gradients further models",
    )
    way = word.add_mutually_exclusive_group()
    way.add_argument(
        "--gradients",
        action="store_true",
        help="how far back in time the gradients of one or more recurrent models reach",
    )
    way.add_argument(
        "--map",
        dest="mapped",
        action="store_true",
        help="where the encoder puts the sentences of a file: one a line, and behind a tab its "
        "group where there is one",
    )
    word.add_argument(
        "--answer", metavar="TEXT", help="look at this answer instead of the model's own"
    )
    word.add_argument(
        "--view",
        choices=["matrix", "arcs", "heads", "tree", "animation"],
        help="where it looked as a matrix (of a photo: once per word; the default), as arcs, in "
        "all layers and heads; the tree of its search, which is printed where no --output is "
        "named; or a photo word by word",
    )
    word.add_argument("--words", action="store_true", help="merge subwords into words")
    word.add_argument(
        "--gold",
        metavar="LINKS",
        help="with --view heads: the right links between words, such as '0-0 1-2 2p3' (source "
        "first, from 0; p: possible), to find the head with the fewest errors",
    )
    asking(word)
    word.add_argument(
        "--output",
        metavar="FILE",
        help="a .png, .svg or .pdf file, .gif or .webp of a photo, or .html with all views to "
        "click through (default: look.png)",
    )
    word.add_argument("--dark", action="store_true", help="light on dark")
    following(word)
    trusting(word)


def following(word: argparse.ArgumentParser) -> None:
    """How to follow gradients."""
    word.add_argument(
        "--input",
        action="append",
        metavar="FILE",
        help="with --gradients: a text, a file of pairs, or given twice two parallel files "
        "(default: the validation part of each model's recipe)",
    )
    word.add_argument(
        "--steps", type=int, metavar="N", help="with --gradients: steps to go back (default: 100)"
    )
    word.add_argument(
        "--clip",
        type=float,
        metavar="NORM",
        help="with --gradients: clip the gradient to this norm (default: 1)",
    )
    word.add_argument(
        "--clip-value",
        type=float,
        metavar="VALUE",
        help="with --gradients: clip its entries to this value (default: what leaves the same "
        "norm, or half of it where the norm is not clipped)",
    )
