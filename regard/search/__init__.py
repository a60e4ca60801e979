"""Searches: choosing among what could be said."""

from regard.search.beam import beam
from regard.search.exhaustive import exhaustive
from regard.search.greedy import greedy
from regard.search.penalties import Average, Gnmt, Penalty, Raw
from regard.search.sample import sample
from regard.search.scorer import Ensemble, Hypothesis, Scorer, Symbols
from regard.search.trace import Fork, Trace

__all__ = [
    "Average",
    "Ensemble",
    "Fork",
    "Gnmt",
    "Hypothesis",
    "Penalty",
    "Raw",
    "Scorer",
    "Symbols",
    "Trace",
    "beam",
    "exhaustive",
    "greedy",
    "sample",
]
