"""The scores of machine translation, computed by sacreBLEU (Post, 2018)."""

from abc import abstractmethod
from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from jaxtyping import Float

from regard.metrics.base import Metric
from regard.words import close


class SacreBleu(Metric):
    """A metric of sacreBLEU, taken apart into its counts and the score of their sum.

    Post, "A Call for Clarity in Reporting BLEU Scores", WMT 2018.
    The two halves are private in sacreBLEU 2, hence the upper bound on its version.
    """

    @abstractmethod
    def _scorer(self) -> Any:
        """A fresh sacreBLEU metric: it remembers its last references, and we must not."""

    def scores(self, totals: Float[np.ndarray, "sample count"]) -> Float[np.ndarray, " sample"]:
        """SacreBLEU's own score of each row."""
        scorer = self._scorer()
        return np.array([scorer._compute_score_from_stats(row).score for row in totals.tolist()])

    def signature(self, references: Sequence[Sequence[str]]) -> str:
        """SacreBLEU's signature, such as `nrefs:1|case:mixed|eff:no|tok:13a|...`."""
        scorer = self._scorer()
        scorer._cache_references(_by_stream(references))
        return str(scorer.get_signature())

    def _counts(
        self, outputs: Sequence[str], references: Sequence[Sequence[str]]
    ) -> Sequence[Sequence[int | float]]:
        streams = _by_stream(references)
        counts: list[list[int | float]] = self._scorer()._extract_corpus_statistics(
            outputs, streams
        )
        return counts


class Bleu(SacreBleu):
    """How many of the output's n-grams the references have, punished for being short.

    BLEU = min(1, exp(1 - r / c)) · (p_1 p_2 p_3 p_4)^(1/4), with the clipped precisions p_n of
    n-grams and the lengths c of the output and r of the references.
    Papineni, Roukos, Ward and Zhu, "BLEU: a Method for Automatic Evaluation of Machine
    Translation", ACL 2002.
    `tokenize="none"` scores text that is already tokenized; any other name of sacreBLEU's
    tokenizers wants plain, detokenized text.
    """

    higher_is_better = True

    def __init__(self, *, tokenize: str = "13a", lowercase: bool = False) -> None:
        _check_tokenizer(tokenize)
        self.tokenize = tokenize
        self.lowercase = lowercase
        self.name = "tokenized BLEU" if tokenize == "none" else "BLEU"

    def _scorer(self) -> Any:
        from sacrebleu.metrics import BLEU

        # `force` only silences the warning about tokenized text, which is wanted here.
        force = self.tokenize == "none"
        return BLEU(tokenize=self.tokenize, lowercase=self.lowercase, force=force)


class Chrf(SacreBleu):
    """The F-score of character n-grams, up to 6; with words up to 2, it is chrF++.

    chrF = (1 + β²) · P · R / (β² P + R), with β = 2 and the mean precision P and recall R.
    Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015.
    """

    higher_is_better = True

    def __init__(self, *, word_order: int = 0) -> None:
        if word_order < 0:
            raise ValueError(
                f"Chrf: wanted a word_order of 0 or more, got {word_order}; "
                "0 is chrF and 2 is chrF++"
            )
        self.word_order = word_order
        self.name = "chrF" + "+" * word_order

    def _scorer(self) -> Any:
        from sacrebleu.metrics import CHRF

        return CHRF(word_order=self.word_order)


class Ter(SacreBleu):
    """The edits that would make the output a reference, a moved phrase being one edit.

    TER = 100 · edits / mean length of the references.
    Snover, Dorr, Schwartz, Micciulla and Makhoul, "A Study of Translation Edit Rate with
    Targeted Human Annotation", AMTA 2006.
    """

    name = "TER"
    higher_is_better = False

    def _scorer(self) -> Any:
        from sacrebleu.metrics import TER

        return TER()


def _by_stream(references: Sequence[Sequence[str]]) -> list[tuple[str | None, ...]]:
    """SacreBLEU wants one list per reference, with None where a sentence has fewer."""
    return list(zip_longest(*references))


def _check_tokenizer(name: str) -> None:
    from sacrebleu.metrics import BLEU

    known = sorted(BLEU.TOKENIZERS)
    if name not in known:
        hint = close(name, known) or "; use 13a for plain text, none for tokens"
        raise ValueError(f"Bleu: wanted a tokenize among {', '.join(known)}, got {name!r}{hint}")
