"""Training: one readable loop, and what it needs."""

from regard.train.fit import Diverged, Fit
from regard.train.optim import Constant, Cosine, InverseSqrt, Plateau, Schedule

__all__ = ["Constant", "Cosine", "Diverged", "Fit", "InverseSqrt", "Plateau", "Schedule"]
