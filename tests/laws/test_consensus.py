"""Of the answers of a beam, a consensus chooses the one that is most like all of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu import BLEU

from regard.search import Beam, Consensus, Hypothesis, beam, exhaustive
from regard.search.consensus import alike
from regard.tasks.decode import Decode

from .zoo import SYMBOLS, Table, assert_same_hypotheses, sentence, table

LIMITS = torch.tensor([3, 2, 3])
EVERYTHING = 1 + 4 + 16 + 64

seeds = st.integers(0, 9999)
rows = st.lists(st.lists(st.integers(0, 4), max_size=9), min_size=1, max_size=5)


@settings(max_examples=50)
@given(rows=rows, order=st.integers(1, 4))
def test_likeness_is_the_bleu_of_sacrebleu(rows: list[list[int]], order: int) -> None:
    metric = BLEU(
        max_ngram_order=order, smooth_method="add-k", smooth_value=1, tokenize="none", force=True
    )
    ended = [[*row, 9] for row in rows]
    texts = [" ".join(map(str, row)) for row in ended]
    wanted = [[metric.sentence_score(one, [other]).score for other in texts] for one in texts]
    np.testing.assert_allclose(100 * alike(ended, order), wanted, atol=1e-9)


@pytest.mark.parametrize("sharpness", [0.0, 0.4, 1.0])
@settings(max_examples=10)
@given(seed=seeds)
def test_a_wide_beam_with_a_consensus_has_the_least_risk_of_all(
    sharpness: float, seed: int
) -> None:
    """Its first answer has the highest expected BLEU under the model itself, by enumeration."""
    source = table(3, seed=seed)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": LIMITS}
    consensus = Consensus(sharpness=sharpness, order=2)
    found = beam(Table(), source, width=EVERYTHING, consensus=consensus, **options)
    every = exhaustive(Table(), source, nbest=EVERYTHING, **options)
    for (chosen,), answers in zip(found, every, strict=True):
        ended = [[*answer.tokens, -1] for answer in answers]
        weights = np.array([math.exp(sharpness * answer.log_prob) for answer in answers])
        expected = alike(ended, 2) @ weights / weights.sum()
        place = [answer.tokens for answer in answers].index(chosen.tokens)
        assert expected[place] >= expected.max() - 1e-8
        assert math.isclose(chosen.score, expected.max(), abs_tol=1e-8)
        assert math.isclose(chosen.log_prob, answers[place].log_prob, abs_tol=1e-9)


@settings(max_examples=20)
@given(seed=seeds, width=st.integers(1, 6))
def test_a_sharp_consensus_is_the_likeliest_answer(seed: int, width: int) -> None:
    source = table(2, seed=seed)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": torch.tensor([6, 4]), "width": width}
    plain = beam(Table(), source, nbest=width, **options)
    sharp = beam(Table(), source, consensus=Consensus(sharpness=100.0), **options)
    for answers, (chosen,) in zip(plain, sharp, strict=True):
        if len(answers) == 1 or answers[0].log_prob - answers[1].log_prob > 0.5:
            assert chosen.tokens == answers[0].tokens


@settings(max_examples=20)
@given(seed=seeds, width=st.integers(1, 6), data=st.data())
def test_company_changes_no_consensus(seed: int, width: int, data: st.DataObject) -> None:
    source, limits = table(3, seed=seed), torch.tensor([6, 2, 4])
    nbest = data.draw(st.integers(1, width))
    options: dict[str, Any] = {"symbols": SYMBOLS, "width": width, "nbest": nbest}
    options["consensus"] = Consensus()
    together = beam(Table(), source, limits=limits, **options)
    for number, found in enumerate(together):
        own = sentence(source, number)
        (alone,) = beam(Table(), own, limits=limits[number : number + 1], **options)
        assert_same_hypotheses(found, alone)
        assert [h.score for h in found] == sorted((h.score for h in found), reverse=True)
        assert 1 <= len(found) <= nbest


@settings(max_examples=30)
@given(seed=seeds, width=st.integers(1, 6))
def test_what_is_settled_stays(seed: int, width: int) -> None:
    """Also where an answer is chosen that a plain beam would not give."""
    search = Beam(
        Table(),
        table(1, seed=seed),
        symbols=SYMBOLS,
        limits=torch.tensor([6]),
        width=width,
        consensus=Consensus(),
    )
    settled: list[list[int]] = []
    while search.live:
        search.step()
        if search.live:
            far = search.progress(0)
            settled.append(far.tokens[: far.settled])
    (chosen,) = search.answers(0)
    assert all(chosen.tokens[: len(beginning)] == beginning for beginning in settled)


def test_what_most_say_wins() -> None:
    """The likeliest stands alone here, the others differ by a word."""
    said = [[3, 3], [4, 5, 6, 7], [4, 5, 6, 8], [4, 5, 6, 9]]
    answers = [
        Hypothesis(tokens, log_prob, log_prob)
        for tokens, log_prob in zip(said, (-1.0, -1.5, -1.6, -1.7), strict=True)
    ]
    chosen = Consensus()(answers)
    assert [answer.tokens for answer in chosen] == [*said[1:], said[0]]
    assert chosen[0].log_prob == -1.5


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ValueError, match="sharpness: wanted a number from 0 to 100, got -1"):
        Consensus(sharpness=-1.0)
    with pytest.raises(ValueError, match="order: wanted runs of 1 symbol or more, got 0"):
        Consensus(order=0)


def test_asking_for_something_else_keeps_the_consensus() -> None:
    own = Decode(beam=10, consensus=Consensus())
    assert own.asked(nbest=3).consensus is own.consensus
