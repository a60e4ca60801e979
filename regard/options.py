"""The options of every word of the command line."""

from __future__ import annotations

import argparse

from regard.serve.limits import Limits


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
        default=64,
        metavar="N",
        help="texts that are decoded together (default: 64)",
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


def part(word: argparse.ArgumentParser) -> None:
    """What a model is scored on, and by what."""
    word.add_argument(
        "data",
        nargs="+",
        metavar="DATA",
        help="valid or test (the recipe's own part), one file of pairs (.tsv, .csv, "
        ".jsonl), or two parallel text files",
    )
    word.add_argument(
        "--metrics",
        metavar="A,B",
        help="such as bleu,bleu_tok,chrf,ter,exact,accuracy,wer,cer,per (default: "
        "those of the model's recipe)",
    )
    word.add_argument("--most", type=int, metavar="N", help="only N questions, evenly spaced")


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


def recipes(word: argparse.ArgumentParser) -> None:
    """The options of `regard recipes`."""
    word.add_argument("name", nargs="?", help="print this recipe instead of the list")


def demo(word: argparse.ArgumentParser) -> None:
    """The options of `regard demo`."""
    word.add_argument("words", nargs="*", default=[], metavar="WORD", help="words to pronounce")
    word.add_argument(
        "--output", default="demo", metavar="DIR", help="where everything goes (default: demo)"
    )


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
        "--output",
        default="runs/reproduce",
        metavar="DIR",
        help="where models and tables go (default: runs/reproduce)",
    )


def serve(word: argparse.ArgumentParser) -> None:
    """The options of `regard serve`."""
    word.add_argument(
        "models", nargs="+", metavar="MODEL", help="a model's folder; its name counts"
    )
    word.add_argument(
        "--host",
        default="127.0.0.1",
        help="where to listen (default: 127.0.0.1, which only this machine reaches)",
    )
    word.add_argument("--port", type=int, default=8000, help="0 is any free one (default: 8000)")
    word.add_argument(
        "--token",
        help="what requests must bring as 'Authorization: Bearer TOKEN' (default: the variable "
        "REGARD_TOKEN, else requests need none)",
    )
    word.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that answer, each with the models in its own memory (default: one for "
        "each core, 4 at most)",
    )
    word.add_argument(
        "--threads", type=int, metavar="N", help="of each worker (default: its share of the cores)"
    )
    for option, about in BOUNDS.items():
        name = option.removeprefix("most-")
        default = getattr(Limits, name)
        word.add_argument(
            f"--{option}",
            dest=name,
            type=type(default),
            default=default,
            metavar="N",
            help=f"{about} (default: {default:,})",
        )


BOUNDS = {
    "seconds": "for a request, from its first byte to the end of its answer",
    "queue": "requests that may wait for their turn",
    "streams": "answers that may be streamed at a time",
    "batch": "inputs that are answered together",
    "most-characters": "of a text",
    "most-beam": "width of the beam",
    "most-nbest": "answers to one input",
    "most-length": "symbols that a language model may write on",
    "most-bytes": "of a request's body",
    "most-pixels": "of a picture",
}
"""What a server does for anybody."""


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
