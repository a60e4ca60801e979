"""Samples follow the model's probabilities, and nothing but their own seed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard import tree
from regard.search import exhaustive, greedy, sample
from regard.search.sample import trimmed

from .zoo import (
    FEW,
    SYMBOLS,
    Table,
    assert_close,
    assert_same_hypotheses,
    batch,
    build,
    forced,
    table,
)

seeds = st.integers(0, 9999)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize(
    "options",
    [{"top_k": 1}, {"temperature": 1e-6}, {"top_p": 1e-9}],
    ids=["top_k", "temperature", "top_p"],
)
def test_the_narrowest_sampling_is_greedy(name: str, options: dict[str, Any]) -> None:
    model, data = build(name), batch([3, 1, 4])
    source = model.prepare(data.source, data.mask)
    limits = torch.tensor([6, 3, 0])
    drawn = sample(model, source, symbols=SYMBOLS, limits=limits, seeds=[1, 2, 3], **options)
    assert_same_hypotheses(drawn, greedy(model, source, symbols=SYMBOLS, limits=limits))


@settings(max_examples=20)
@given(
    seed=seeds,
    prefix=st.lists(st.integers(3, 6), max_size=4),
    options=st.sampled_from([{"top_k": 1}, {"temperature": 1e-7}]),
)
def test_the_narrowest_sampling_is_greedy_for_any_distribution(
    seed: int, prefix: list[int], options: dict[str, Any]
) -> None:
    source = table(2, seed=seed)
    common: dict[str, Any] = {
        "symbols": SYMBOLS,
        "limits": torch.tensor([6, 2]),
        "prefix": torch.tensor([prefix] * 2) if prefix else None,
    }
    assert_same_hypotheses(
        sample(Table(), source, seeds=[seed, 1], **options, **common),
        greedy(Table(), source, **common),
    )


DRAWS = 4000


def chi_square(counts: Counter[Any], chances: dict[Any, float]) -> float:
    """The statistic, with everything rarer than 5 expected draws thrown together."""
    total = sum(counts.values())
    rare = {key for key, chance in chances.items() if chance * total < 5}
    groups = [{key} for key in chances if key not in rare] + ([rare] if rare else [])
    statistic = 0.0
    for group in groups:
        expected = total * sum(chances[key] for key in group)
        statistic += (sum(counts[key] for key in group) - expected) ** 2 / max(expected, 1e-300)
    # Wilson and Hilferty's normal approximation, as the number of deviations from the mean.
    freedom = len(groups) - 1
    return ((statistic / freedom) ** (1 / 3) - 1 + 2 / (9 * freedom)) / (2 / (9 * freedom)) ** 0.5


@pytest.mark.parametrize("temperature", [1.0, 0.5, 2.0])
def test_frequencies_of_whole_sequences_match_the_models_probabilities(temperature: float) -> None:
    model, data = build("luong-general"), batch([3])
    source = model.prepare(data.source, data.mask)
    (every,) = exhaustive(model, source, symbols=SYMBOLS, limits=torch.tensor([2]), nbest=99)
    chances = {tuple(h.tokens): chance(model, source, h.tokens, temperature) for h in every}
    assert sum(chances.values()) == pytest.approx(1)
    drawn = sample(
        model,
        tree.repeat(source, DRAWS),
        symbols=SYMBOLS,
        limits=torch.full((DRAWS,), 2),
        seeds=list(range(DRAWS)),
        temperature=temperature,
    )
    assert chi_square(Counter(tuple(h.tokens) for h in drawn), chances) < 3.5
    wrong = {key: value**1.3 for key, value in chances.items()}
    wrong = {key: value / sum(wrong.values()) for key, value in wrong.items()}
    assert chi_square(Counter(tuple(h.tokens) for h in drawn), wrong) > 3.5


@torch.no_grad()
def chance(model: Any, source: Any, tokens: list[int], temperature: float) -> float:
    """p(tokens, end) where what is never said has no share, and the limit of 2 ends for sure."""
    state, product = model.start(source), 1.0
    said = [SYMBOLS.begin, *tokens]
    wanted = [*tokens, SYMBOLS.end]
    for step, (before, token) in enumerate(zip(said, wanted, strict=True)):
        log_prob, state = model.step(torch.tensor([before]), state, source)
        if step < 2:
            scaled = log_prob[0] / temperature
            scaled[list(SYMBOLS.never)] = -torch.inf
            product *= float(scaled.softmax(-1)[token])
    return product


def test_top_k_and_top_p_keep_the_right_symbols() -> None:
    falling = torch.tensor([[0.5, 0.25, 0.125, 0.125], [0.75, 0.125, 0.125, 0.0]]).double()
    kept = {
        (2, None): [2, 2],
        (None, 0.5): [1, 1],
        (None, 0.51): [2, 1],
        (None, 0.75): [2, 1],
        (None, 0.76): [3, 2],
        (None, 1.0): [4, 3],
        (None, 0.875): [3, 2],
        (9, None): [4, 3],
        # The nucleus of what the top k left: of 0.75, two thirds are the first symbol's.
        (2, 0.66): [1, 1],
        (2, 0.67): [2, 1],
    }
    for (top_k, top_p), counts in kept.items():
        for row, got, count in zip(falling, trimmed(falling, top_k, top_p), counts, strict=True):
            places = torch.arange(4) < count
            assert_close(got, row * places, f"{top_k} {top_p}")


def test_nucleus_samples_come_from_the_nucleus_in_proportion() -> None:
    log_prob = torch.tensor([0.05, 0.05, 0.1, 0.4, 0.25, 0.1, 0.05]).double().log()
    source = log_prob.expand(DRAWS, 97, 7)
    drawn = sample(
        Table(),
        source,
        symbols=SYMBOLS._replace(never=()),
        limits=torch.ones(DRAWS, dtype=torch.long),
        seeds=list(range(DRAWS)),
        top_p=0.6,
    )
    counts = Counter(h.tokens[0] if h.tokens else SYMBOLS.end for h in drawn)
    assert set(counts) == {3, 4}
    assert chi_square(counts, {3: 0.4 / 0.65, 4: 0.25 / 0.65}) < 3.5


@settings(max_examples=20)
@given(seed=seeds, own=st.lists(st.integers(-(2**40), 2**70), min_size=2, max_size=4))
def test_the_same_seed_draws_the_same_in_any_company(seed: int, own: list[int]) -> None:
    source = table(1, seed=seed)
    limits = [5, 2, 7, 3][: len(own)]
    options: dict[str, Any] = {"symbols": SYMBOLS, "temperature": 1.5}
    several = tree.repeat(source, len(own))
    together = sample(Table(), several, limits=torch.tensor(limits), seeds=own, **options)
    assert together == sample(Table(), several, limits=torch.tensor(limits), seeds=own, **options)
    for h, limit, number in zip(together, limits, own, strict=True):
        alone = sample(Table(), source, limits=torch.tensor([limit]), seeds=[number], **options)
        assert_same_hypotheses([h], alone)


def test_other_seeds_draw_otherwise_and_nothing_else_is_touched() -> None:
    source = table(1, seed=0, sharp=0.3)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": torch.full((50,), 6)}
    before = torch.random.get_rng_state()
    drawn = sample(Table(), tree.repeat(source, 50), seeds=list(range(50)), **options)
    assert len({tuple(h.tokens) for h in drawn}) > 25
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("name", FEW)
def test_log_prob_of_a_sample_is_the_models_own(name: str) -> None:
    model, data = build(name), batch([4, 2])
    drawn = sample(
        model,
        model.prepare(data.source, data.mask),
        symbols=SYMBOLS,
        limits=torch.tensor([6, 3]),
        seeds=[3, 4],
        temperature=2.0,
        top_k=3,
    )
    for row, h in enumerate(drawn):
        one = data.alone(row)
        assert h.log_prob == pytest.approx(forced(model, one.source, one.mask, h))
