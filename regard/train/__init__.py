"""Training: one readable loop, and what it needs."""

from regard.train.fit import DivergedError, Fit
from regard.train.learning import Learning
from regard.train.optim import Constant, Cosine, InverseSqrt, Plateau, Schedule

__all__ = [
    "Constant",
    "Cosine",
    "DivergedError",
    "Fit",
    "InverseSqrt",
    "Learning",
    "Plateau",
    "Schedule",
]
