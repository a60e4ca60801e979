"""Searches: choosing among what could be said."""

from regard.search.beam import Beam, beam
from regard.search.consensus import Consensus
from regard.search.coverage import Coverage
from regard.search.exhaustive import exhaustive
from regard.search.forks import Fork, Forks
from regard.search.greedy import Follow, Likeliest, greedy
from regard.search.penalties import Average, Gnmt, Penalty, Raw
from regard.search.sample import check, drawing, sample
from regard.search.scorer import Ending, Ensemble, Hypothesis, Scorer, Symbols
from regard.search.stream import stream
from regard.search.underway import Progress, Rounds, Search

__all__ = [
    "Average",
    "Beam",
    "Consensus",
    "Coverage",
    "Ending",
    "Ensemble",
    "Follow",
    "Fork",
    "Forks",
    "Gnmt",
    "Hypothesis",
    "Likeliest",
    "Penalty",
    "Progress",
    "Raw",
    "Rounds",
    "Scorer",
    "Search",
    "Symbols",
    "beam",
    "check",
    "drawing",
    "exhaustive",
    "greedy",
    "sample",
    "stream",
]
