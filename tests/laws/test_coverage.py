"""The coverage penalty: a beam that uses it is exhaustive when wide and never stops wrongly."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Attention
from regard.look.watch import watch
from regard.model import Seq2Seq
from regard.search import Coverage, Ensemble, Gnmt, beam, exhaustive, greedy
from regard.search.coverage import LEAST

from .test_beam import EVERYTHING, LIMITS, penalties, plain_beam, seeds
from .zoo import (
    BEGIN,
    BLIND,
    SYMBOLS,
    Batch,
    Table,
    assert_same_hypotheses,
    batch,
    build,
    sentence,
    table,
)

LOOKING = ["bahdanau-gru", "bahdanau-hard", "gnmt-gru-tied", "luong-monotonic"]
LOOKING += ["convs2s", "luong-scaled", "transformer-pre-learned"]
BETA = 0.7


def covering(model: Seq2Seq) -> Coverage:
    return Coverage(model, [model.decoder], beta=BETA)


def by_hand(models: list[Seq2Seq], one: Batch, tokens: list[int]) -> float:
    """beta sum_j log min(sum_t a_tj, 1), from one pass with the right symbols as input."""
    maps = []
    for model in models:
        with watch(model) as gaze, torch.no_grad():
            model(one.source, one.mask, torch.tensor([[BEGIN, *tokens]]))
        parts = dict(model.named_modules())
        for name, weights in gaze.maps(1).items():
            if isinstance(parts[name], Attention):
                maps.append(weights[0].mean(1) if weights.ndim == 4 else weights[0])
    had = torch.stack(maps).mean(0).sum(0).tolist()
    return BETA * sum(math.log(min(max(x, LEAST), 1)) for x in had)


@pytest.mark.parametrize("name", LOOKING)
def test_wide_beam_is_exhaustive_and_scores_are_the_formula(name: str) -> None:
    model, data = build(name), batch([3, 1, 2])
    scorer, penalty = covering(model), Gnmt(1.0)
    source = scorer.prepare(data.source, data.mask)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": LIMITS, "penalty": penalty, "nbest": 7}
    options["ending"] = scorer.ending
    wide = beam(scorer, source, width=EVERYTHING, **options)
    every = exhaustive(scorer, source, **options)
    for row, (found, wanted) in enumerate(zip(wide, every, strict=True)):
        assert_same_hypotheses(found, wanted)
        for h in found:
            own = h.log_prob / penalty.divisor(len(h.tokens) + 1)
            assert h.score == pytest.approx(own + by_hand([model], data.alone(row), h.tokens))
            assert h.score <= own


def test_an_ensemble_is_covered_by_all_its_models() -> None:
    models, data = [build("gnmt"), build("transformer-pre-learned")], batch([3, 2])
    scorer = Coverage(Ensemble(list(models)), [m.decoder for m in models], beta=BETA)
    source = scorer.prepare(data.source, data.mask)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": LIMITS[:2], "ending": scorer.ending}
    for row, found in enumerate(beam(scorer, source, width=4, nbest=4, **options)):
        for h in found:
            cp = by_hand(models, data.alone(row), h.tokens)
            assert h.score == pytest.approx(h.log_prob + cp)


@pytest.mark.parametrize("name", ["gnmt-gru-tied", "transformer-pre-learned"])
def test_company_changes_no_penalty_and_a_beam_of_one_is_greedy(name: str) -> None:
    model, data = build(name), batch([3, 1, 5, 2], seed=5)
    scorer, limits = covering(model), torch.tensor([3, 1, 0, 2])
    options: dict[str, Any] = {"symbols": SYMBOLS, "ending": scorer.ending}
    source = scorer.prepare(data.source, data.mask)
    together = beam(scorer, source, limits=limits, width=4, nbest=3, **options)
    for row in range(4):
        one = data.alone(row)
        known = scorer.prepare(one.source, one.mask)
        alone = beam(scorer, known, limits=limits[row : row + 1], width=4, nbest=3, **options)
        assert_same_hypotheses(together[row], alone[0])
    narrow = beam(scorer, source, limits=limits, width=1, **options)
    plain = greedy(model, model.prepare(data.source, data.mask), symbols=SYMBOLS, limits=limits)
    assert [one.tokens for (one,) in narrow] == [one.tokens for one in plain]


def lost(state: Tensor) -> Tensor:
    """What a `Table` loses for ending in a state: anything from 0 to 4."""
    return -((state * 13) % 11) * 0.4


def lost_by(said: list[int], source: Tensor) -> float:
    state = Table().start(source)
    for token in [BEGIN, *said]:
        _, state = Table().step(torch.tensor([token]), state, source)
    return float(lost(state))


@penalties
@settings(max_examples=25)
@given(
    seed=seeds,
    width=st.integers(1, 5),
    data=st.data(),
    limits=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    sharp=st.sampled_from([0.5, 1.5, 4.0]),
)
def test_no_ending_makes_a_beam_stop_too_early(
    penalty: Any, seed: int, width: int, data: st.DataObject, limits: list[int], sharp: float
) -> None:
    nbest = data.draw(st.integers(1, width))
    source = table(len(limits), seed=seed, sharp=sharp)
    options: dict[str, Any] = {"width": width, "nbest": nbest, "penalty": penalty}
    found = beam(
        Table(), source, symbols=SYMBOLS, limits=torch.tensor(limits), ending=lost, **options
    )
    for row, limit in enumerate(limits):
        own = sentence(source, row)
        wanted = plain_beam(
            Table(), own, limit=limit, added=lambda said, own=own: lost_by(said, own), **options
        )
        assert_same_hypotheses(found[row], wanted)


@settings(max_examples=10)
@given(seed=seeds, nbest=st.integers(1, 8))
def test_wide_beam_is_exhaustive_with_any_ending(seed: int, nbest: int) -> None:
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": LIMITS, "ending": lost}
    source = table(3, seed=seed)
    wide = beam(Table(), source, width=EVERYTHING, nbest=nbest, **options)
    for found, wanted in zip(
        wide, exhaustive(Table(), source, nbest=nbest, **options), strict=True
    ):
        assert_same_hypotheses(found, wanted)


@pytest.mark.parametrize("name", [BLIND[0], BLIND[-1]])
def test_a_model_that_looks_nowhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="coverage: wanted a model with attention"):
        covering(build(name))
