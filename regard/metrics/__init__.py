"""The field's own scores, and how sure one may be of them."""

from regard.metrics.base import Metric
from regard.metrics.bootstrap import Comparison, Interval, interval, paired
from regard.metrics.errors import (
    CharacterErrors,
    ExactMatch,
    PhonemeErrors,
    SequenceErrors,
    TokenAccuracy,
    WordErrors,
)
from regard.metrics.lengths import Row, by_length, plot_by_length
from regard.metrics.names import NAMES, named
from regard.metrics.translation import Bleu, Chrf, Ter

__all__ = [
    "NAMES",
    "Bleu",
    "CharacterErrors",
    "Chrf",
    "Comparison",
    "ExactMatch",
    "Interval",
    "Metric",
    "PhonemeErrors",
    "Row",
    "SequenceErrors",
    "Ter",
    "TokenAccuracy",
    "WordErrors",
    "by_length",
    "interval",
    "named",
    "paired",
    "plot_by_length",
]
