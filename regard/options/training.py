"""The options of the words that make models."""

from __future__ import annotations

import argparse


def train(word: argparse.ArgumentParser) -> None:
    """The options of `regard train`."""
    word.add_argument("recipe", help="a YAML file, or the name of a recipe that comes along")
    word.add_argument(
        "changes",
        nargs="*",
        default=[],
        metavar="key=value",
        help="change the recipe, such as train.updates=500 model.dropout=0.1",
    )
    word.add_argument("--output", metavar="DIR", help="where the model goes (default: runs/NAME)")
    word.add_argument(
        "--fresh", action="store_true", help="delete what an earlier run left in the output folder"
    )
    word.add_argument("--quiet", action="store_true", help="say nothing but errors")


def average(word: argparse.ArgumentParser) -> None:
    """The options of `regard average`."""
    word.add_argument("run", help="the output folder of regard train")
    which = word.add_mutually_exclusive_group(required=True)
    which.add_argument("--last", type=int, metavar="N", help="the N newest checkpoints")
    which.add_argument(
        "--best",
        type=int,
        metavar="N",
        help="the N best kept checkpoints (train.average says how many are kept)",
    )
    word.add_argument("--output", required=True, metavar="DIR", help="where the new model goes")


def reproduce(word: argparse.ArgumentParser) -> None:
    """The options of `regard reproduce`."""
    word.add_argument("name", nargs="?", help="what to make again (default: list what there is)")
    word.add_argument("--list", action="store_true", help="list what can be made again")
    word.add_argument(
        "--quick", action="store_true", help="a minute or two for each line, to see that it runs"
    )
    word.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="LINE",
        help="run this line of the table only; may be given several times",
    )
    word.add_argument(
        "--seed",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="run this seed of its lines only; may be given several times",
    )
    word.add_argument(
        "--output",
        default="runs/reproduce",
        metavar="DIR",
        help="where models and tables go (default: runs/reproduce)",
    )


def recipes(word: argparse.ArgumentParser) -> None:
    """The options of `regard recipes`."""
    word.add_argument("name", nargs="?", help="print this recipe instead of the list")


def demo(word: argparse.ArgumentParser) -> None:
    """The options of `regard demo`."""
    word.add_argument("words", nargs="*", default=[], metavar="WORD", help="words to pronounce")
    word.add_argument(
        "--output", default="demo", metavar="DIR", help="where everything goes (default: demo)"
    )
