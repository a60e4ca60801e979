"""Searches: choosing among what could be said."""

from regard.search.beam import beam
from regard.search.coverage import Coverage
from regard.search.exhaustive import exhaustive
from regard.search.greedy import greedy
from regard.search.penalties import Average, Gnmt, Penalty, Raw
from regard.search.sample import check, sample
from regard.search.scorer import Ending, Ensemble, Hypothesis, Scorer, Symbols
from regard.search.stream import stream
from regard.search.trace import Fork, Trace

__all__ = [
    "Average",
    "Coverage",
    "Ending",
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
    "check",
    "exhaustive",
    "greedy",
    "sample",
    "stream",
]
