"""Training: one readable loop, and what it needs."""

from regard.train.fit import fit
from regard.train.keep import DivergedError
from regard.train.learning import Learning
from regard.train.optim import Constant, Cosine, InverseSqrt, Linear, Plateau, Schedule
from regard.train.settings import Fit

__all__ = [
    "Constant",
    "Cosine",
    "DivergedError",
    "Fit",
    "InverseSqrt",
    "Learning",
    "Linear",
    "Plateau",
    "Schedule",
    "fit",
]
