"""A word becomes a function: `regard WORD ...` calls `regard.commands.WORD.WORD`.

Only argparse is imported here; each word imports what it needs, so that --help is instant.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import re
import sys
from typing import Any, NoReturn

import regard

EXAMPLES = """examples:
  regard recipes                               what can be trained
  regard train recipes/pronounce_demo.yaml     train it (again: go on where it stopped)
  regard run runs/pronounce_demo regard        say something
  regard look runs/pronounce_demo regard       see where it looked
  regard evaluate runs/pronounce_demo valid    score it, with intervals
"""


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
        close = difflib.get_close_matches(
            wrong[1].partition("=")[0] if wrong else "", sorted(words), n=1
        )
        hint = f"; did you mean {close[0]}?" if close else ""
        self.exit(2, f"{self.prog}: {message}{hint}\n(see {self.prog} --help)\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one word; mistakes of the user end in one or two lines, not in a traceback."""
    options = vars(parser().parse_args(arguments))
    word, debug = options.pop("word"), options.pop("debug")
    try:
        function = getattr(importlib.import_module(f"regard.commands.{word}"), word)
        return int(function(**options) or 0)
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
    _train(
        words.add_parser(
            "train",
            help="train a model from a recipe, or go on training",
            description="Train a model from a recipe. Killed at any moment, the "
            "same command goes on from the last checkpoint.",
        )
    )
    _run(
        words.add_parser(
            "run",
            help="answer texts",
            description="Answer texts given as "
            "arguments, or the lines of a file or of standard input, in order.",
        )
    )
    _evaluate(
        words.add_parser(
            "evaluate",
            help="score a model, with confidence intervals",
            description="Decode a test set for real and score the answers.",
        )
    )
    _look(
        words.add_parser(
            "look",
            help="draw where a model looked",
            description="Draw the alignment matrix of one answer.",
        )
    )
    _recipes(
        words.add_parser(
            "recipes",
            help="list the recipes, or print one",
            description="List the recipes that come along, or print one.",
        )
    )
    _demo(
        words.add_parser(
            "demo",
            help="train a pronouncing model in three minutes and see where it looks",
            description="Train letters to sounds on the CMU dictionary, score the model on words "
            "that it never saw, pronounce some words and draw where it looked.",
        )
    )
    _average(
        words.add_parser(
            "average",
            help="average checkpoints into a model",
            description="Average the weights of a run's checkpoints.",
        )
    )
    for word in words.choices.values():
        word.add_argument(
            "--debug",
            action="store_true",
            default=argparse.SUPPRESS,
            help="show the traceback of an error",
        )
    return top


def _train(word: argparse.ArgumentParser) -> None:
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


def _asking(word: argparse.ArgumentParser) -> None:
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


def _together(word: argparse.ArgumentParser) -> None:
    word.add_argument(
        "--with",
        dest="others",
        action="append",
        default=[],
        metavar="OTHER",
        help="decode together with another model's folder, of any architecture on the same "
        "tokenizers; may be given several times",
    )


def _run(word: argparse.ArgumentParser) -> None:
    word.add_argument("model", help="a model's folder")
    word.add_argument(
        "texts",
        nargs="*",
        default=[],
        metavar="TEXT",
        help="what to answer (default: the lines of standard input)",
    )
    word.add_argument("--input", metavar="FILE", help="answer the lines of a file")
    _together(word)
    _asking(word)
    word.add_argument(
        "--nbest",
        type=int,
        default=1,
        metavar="N",
        help="answers to give to each text, best first (default: 1)",
    )
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
    word.add_argument("--prefix", default="", metavar="TEXT", help="how every answer must begin")
    word.add_argument(
        "--json",
        action="store_true",
        help="one JSON object a line: text, scores, tokens, alignment",
    )
    word.add_argument(
        "--batch",
        type=int,
        default=64,
        metavar="N",
        help="texts that are decoded together (default: 64)",
    )


def _evaluate(word: argparse.ArgumentParser) -> None:
    word.add_argument("model", help="a model's folder")
    word.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="valid or test (the recipe's own part), one file of pairs (.tsv, .csv, "
        ".jsonl), or two parallel text files",
    )
    word.add_argument(
        "--against",
        metavar="OTHER",
        help="another model's folder: a paired bootstrap test names the winner",
    )
    word.add_argument(
        "--metrics",
        metavar="A,B",
        help="such as bleu,bleu_tok,chrf,ter,exact,accuracy,wer,cer,per (default: "
        "those of the model's recipe)",
    )
    _together(word)
    _asking(word)
    word.add_argument("--most", type=int, metavar="N", help="only N questions, evenly spaced")
    word.add_argument("--outputs", metavar="FILE", help="write source, output, references as TSV")
    word.add_argument(
        "--plot",
        metavar="FILE",
        help="draw the first metric by length of the source (.png, .svg, .pdf)",
    )
    word.add_argument("--json", action="store_true", help="print the scores as JSON")


def _look(word: argparse.ArgumentParser) -> None:
    word.add_argument("model", help="a model's folder")
    word.add_argument("text", help="what to answer")
    word.add_argument(
        "--answer", metavar="TEXT", help="look at this answer instead of the model's own"
    )
    word.add_argument(
        "--output", metavar="FILE", help="a .png, .svg or .pdf file (default: look.png)"
    )
    word.add_argument(
        "--heads", action="store_true", help="all layers and heads instead of one matrix"
    )
    word.add_argument("--dark", action="store_true", help="light on dark")


def _recipes(word: argparse.ArgumentParser) -> None:
    word.add_argument("name", nargs="?", help="print this recipe instead of the list")


def _demo(word: argparse.ArgumentParser) -> None:
    word.add_argument("words", nargs="*", default=[], metavar="WORD", help="words to pronounce")
    word.add_argument(
        "--output", default="demo", metavar="DIR", help="where everything goes (default: demo)"
    )


def _average(word: argparse.ArgumentParser) -> None:
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


if __name__ == "__main__":
    sys.exit(main())
