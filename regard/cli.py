"""A word becomes a function: `regard WORD ...` calls `regard.commands.WORD.WORD`.

Only argparse is imported here; each word imports what it needs, so that --help is instant.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from typing import Any, NoReturn

import regard
from regard import options
from regard.machine import keep_memory
from regard.words import close

EXAMPLES = """examples:
  regard recipes                               what can be trained
  regard train recipes/pronounce_demo.yaml     train it (again: go on where it stopped)
  regard run runs/pronounce_demo regard        say something
  regard look runs/pronounce_demo regard       see where it looked
  regard evaluate runs/pronounce_demo valid    score it, with intervals
  regard report runs/pronounce_demo valid      scores, answers and attention in one HTML file
"""


WORDS = {
    "train": (
        "train a model from a recipe, or go on training",
        "Train a model from a recipe. Killed at any moment, the same command goes on from the "
        "last checkpoint.",
    ),
    "run": (
        "answer texts",
        "Answer texts given as arguments, or the lines of a file or of standard input, in order.",
    ),
    "evaluate": (
        "score a model, with confidence intervals",
        "Decode a test set for real and score the answers.",
    ),
    "report": (
        "write a model's scores, answers, attention and training into one HTML file",
        "Decode a test set for real and write one HTML file: scores with intervals, by length, "
        "best and worst answers with their attention, training curves, recipe and card.",
    ),
    "look": (
        "draw where a model looked, how it searched, how its gradients flow, how sentences lie",
        "Draw where a model looked for one answer and how it searched for it (--view), how far "
        "back in time gradients reach (--gradients MODEL [MODEL ...]), or a map of sentences "
        "(--map MODEL FILE).",
    ),
    "serve": (
        "serve models over HTTP, with a page to try them on",
        "Answer requests over HTTP (see /docs there), many at once, and serve a page where one can "
        "watch. Ends after what was begun at SIGTERM.",
    ),
    "recipes": (
        "list the recipes, or print one",
        "List the recipes that come along, or print one.",
    ),
    "demo": (
        "train a pronouncing model in three minutes and see where it looks",
        "Train letters to sounds on the CMU dictionary, score the model on words that it never "
        "saw, pronounce some words and draw where it looked.",
    ),
    "reproduce": (
        "make a paper's table or figure again",
        "Train and evaluate what a table or figure of a paper needs, from wherever an earlier "
        "call stopped, and print published beside obtained.",
    ),
    "average": (
        "average checkpoints into a model",
        "Average the weights of a run's checkpoints.",
    ),
}
"""Every word in short, and what it does; `regard.options` has its options."""


class Parser(argparse.ArgumentParser):
    """A parser whose options may stand anywhere, and whose errors name the nearest right word."""

    _mixed = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Take texts before, between and behind the options of a word."""
        if self._mixed or self._subparsers is not None:
            return super().parse_known_args(args, namespace)
        self._mixed = True
        found, rest = self.parse_known_intermixed_args(args, namespace)
        if rest:
            self.error(f"there is no option {rest[0]!r}")
        return found, rest

    def error(self, message: str) -> NoReturn:
        words: set[str] = set()
        for action in self._actions:
            words |= {*action.option_strings, *(str(each) for each in action.choices or ())}
        wrong = re.search(r"'(.*?)'", message)
        hint = close(wrong[1].partition("=")[0], words, cutoff=0.6) if wrong else ""
        self.exit(2, f"{self.prog}: {message}{hint}\n(see {self.prog} --help)\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one word; mistakes of the user end in one or two lines, not in a traceback."""
    chosen = vars(parser().parse_args(arguments))
    word, debug = chosen.pop("word"), chosen.pop("debug")
    keep_memory()
    try:
        function = getattr(importlib.import_module(f"regard.commands.{word}"), word)
        return int(function(**chosen) or 0)
    except KeyboardInterrupt:
        print(
            "\nstopped; the same command goes on from the last checkpoint"
            if word == "train"
            else "\nstopped",
            file=sys.stderr,
        )
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        if debug:
            raise
        print(f"regard {word}: {error}", file=sys.stderr)
        return 1


def parser() -> Parser:
    """All words and their options."""
    top = Parser(
        prog="regard",
        description=regard.__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"regard {regard.__version__}")
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    words = top.add_subparsers(dest="word", metavar="WORD", required=True, parser_class=Parser)
    for name, (short, long) in WORDS.items():
        word = words.add_parser(name, help=short, description=long)
        getattr(options, name)(word)
        word.add_argument(
            "--debug",
            action="store_true",
            default=argparse.SUPPRESS,
            help="show the traceback of an error",
        )
    return top


if __name__ == "__main__":
    sys.exit(main())
