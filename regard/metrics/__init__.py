"""The field's own scores, and how sure one may be of them."""

from regard.metrics.base import Metric, Unavailable
from regard.metrics.bootstrap import Comparison, Interval, interval, paired
from regard.metrics.captions import CaptionBleu, CiderD, RougeL
from regard.metrics.errors import (
    CharacterErrors,
    ExactMatch,
    PhonemeErrors,
    SequenceErrors,
    TokenAccuracy,
    WordErrors,
)
from regard.metrics.lengths import Row, by_length, plot_by_length
from regard.metrics.meteor import Meteor
from regard.metrics.names import NAMES, named
from regard.metrics.translation import Bleu, Chrf, Ter

__all__ = [
    "NAMES",
    "Bleu",
    "CaptionBleu",
    "CharacterErrors",
    "Chrf",
    "CiderD",
    "Comparison",
    "ExactMatch",
    "Interval",
    "Meteor",
    "Metric",
    "PhonemeErrors",
    "RougeL",
    "Row",
    "SequenceErrors",
    "Ter",
    "TokenAccuracy",
    "Unavailable",
    "WordErrors",
    "by_length",
    "interval",
    "named",
    "paired",
    "plot_by_length",
]
