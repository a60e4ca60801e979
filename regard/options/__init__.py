"""The options of every word of the command line: a function for each, under its name."""

from regard.options.scoring import evaluate, report
from regard.options.serving import serve
from regard.options.training import average, demo, recipes, reproduce, train
from regard.options.using import look, run

__all__ = [
    "average",
    "demo",
    "evaluate",
    "look",
    "recipes",
    "report",
    "reproduce",
    "run",
    "serve",
    "train",
]
