"""The options of `regard serve`."""

from __future__ import annotations

import argparse

from regard.options.shared import trusting
from regard.serve.limits import Limits

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
    trusting(word)
