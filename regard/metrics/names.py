"""The short names of the metrics, for recipes and the command line."""

from collections.abc import Callable

from regard.metrics.base import Metric
from regard.metrics.captions import CaptionBleu, CiderD, RougeL
from regard.metrics.errors import (
    CharacterErrors,
    ExactMatch,
    PhonemeErrors,
    SequenceErrors,
    TokenAccuracy,
    WordErrors,
)
from regard.metrics.meteor import Meteor
from regard.metrics.translation import Bleu, Chrf, Ter
from regard.words import close

_METRICS: dict[str, Callable[[], Metric]] = {
    "bleu": Bleu,
    "bleu_tok": lambda: Bleu(tokenize="none"),
    "chrf": Chrf,
    "ter": Ter,
    "exact": ExactMatch,
    "accuracy": TokenAccuracy,
    "wer": WordErrors,
    "cer": CharacterErrors,
    "per": PhonemeErrors,
    "sequence_errors": SequenceErrors,
    "bleu1": lambda: CaptionBleu(1),
    "bleu2": lambda: CaptionBleu(2),
    "bleu3": lambda: CaptionBleu(3),
    "bleu4": CaptionBleu,
    "rouge_l": RougeL,
    "cider": CiderD,
    "meteor": Meteor,
}

NAMES = tuple(_METRICS)


def named(name: str) -> Metric:
    """The metric with this short name, in its usual setting; `NAMES` has them all."""
    if name not in _METRICS:
        hint = close(name, NAMES, cutoff=0.4) or "; use one of these names"
        raise ValueError(f"metrics: wanted one of {', '.join(NAMES)}, got {name!r}{hint}")
    return _METRICS[name]()
