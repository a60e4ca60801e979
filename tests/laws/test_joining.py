"""Who joins a search under way is answered as if alone, and so are those who were there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard import tree
from regard.search import Beam, Coverage, Follow, Forks, Gnmt, Likeliest, Rounds, Search, drawing

from .zoo import (
    BLIND,
    FEW,
    SYMBOLS,
    SYSTEMS,
    Table,
    assert_close,
    assert_same_hypotheses,
    batch,
    build,
    table,
)

Begin = Callable[[Any, Any, Tensor, int], Search]
"""From a scorer, a source, limits and the number of the first sentence to a search."""

WIDTH = 2
MOST = 6
"""The longest answer of all."""


def beam_of(width: int) -> Begin:
    def begin(scorer: Any, source: Any, limits: Tensor, first: int) -> Search:
        prefix = torch.full((len(limits), first % 3), -1)
        prefix[:1, :1] = 3
        return Beam(
            scorer,
            source,
            symbols=SYMBOLS,
            limits=limits,
            width=width,
            nbest=width,
            penalty=Gnmt(1.0),
            prefix=prefix if prefix.shape[1] else None,
            forks=Forks(),
        )

    return begin


def greedy(scorer: Any, source: Any, limits: Tensor, first: int) -> Search:
    return Follow(scorer, source, Likeliest(), symbols=SYMBOLS, limits=limits, penalty=Gnmt(1.0))


def draws(scorer: Any, source: Any, limits: Tensor, first: int) -> Search:
    rounds = []
    for number in range(2):
        seeds = [100 * number + first + place for place in range(len(limits))]
        pick = drawing(limits, seeds, temperature=1.5)
        rounds.append(Follow(scorer, source, pick, symbols=SYMBOLS, limits=limits))
    return Rounds(rounds)


SEARCHES: dict[str, Begin] = {
    "beam-1": beam_of(1),
    "beam-3": beam_of(3),
    "greedy": greedy,
    "draws": draws,
}


@pytest.mark.parametrize("name", SYSTEMS)
@given(ages=st.lists(st.integers(0, 3), min_size=2, max_size=2), seed=st.integers(0, 99))
@settings(max_examples=3)
def test_joining_commutes_with_step(name: str, ages: list[int], seed: int) -> None:
    """Whatever the lengths of the sources and the ages of the hypotheses."""
    model = build(name)
    sources, states = [], []
    for age, lengths in zip(ages, ([2, 4], [6, 1, 3]), strict=True):
        data = batch(lengths, seed=seed)
        source = model.prepare(data.source, data.mask)
        state = tree.repeat(model.start(source), WIDTH)
        for token in words(len(lengths) * WIDTH, age, seed).unbind(1):
            _, state = model.step(token, state, source)
        sources.append(source)
        states.append(state)
    source, state = tree.join(sources), tree.join(states)
    for token in words(5 * WIDTH, 3, seed + 1).unbind(1):
        together, state = model.step(token, state, source)
        for place, own in enumerate(token.split([2 * WIDTH, 3 * WIDTH])):
            alone, states[place] = model.step(own, states[place], sources[place])
            assert_close(together.split([2 * WIDTH, 3 * WIDTH])[place], alone)


def words(rows: int, time: int, seed: int) -> Tensor:
    return torch.randint(3, 7, (rows, time), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("kind", SEARCHES)
@given(data=st.data(), seed=st.integers(0, 10**6))
@settings(max_examples=12)
def test_who_joins_is_answered_as_if_alone(kind: str, data: st.DataObject, seed: int) -> None:
    """At any step, several times, with prefixes and forks; what is forgotten is gone."""
    parts = data.draw(st.lists(st.lists(st.integers(0, MOST), min_size=1, max_size=3), max_size=3))
    parts.insert(0, [MOST, 2])
    sources = [table(len(part), seed=seed + number) for number, part in enumerate(parts)]

    def begin(number: int) -> Search:
        limits = torch.tensor(parts[number])
        return SEARCHES[kind](Table(), sources[number], limits, 7 * number)

    whole, places = begin(0), [range(len(parts[0]))]
    for number in range(1, len(parts)):
        for _ in range(data.draw(st.integers(0, 3))):
            if whole.live:
                whole.step()
        other = begin(number)
        if data.draw(st.booleans()) and other.live:
            other.step()
        first = whole.join(other)
        places.append(range(first, first + len(parts[number])))
    while whole.live:
        whole.step()
    assert whole.sentences == sum(map(len, parts))
    for number, own in enumerate(places):
        alone = begin(number)
        for place, wanted in zip(own, alone.finish(), strict=True):
            assert_same_hypotheses(whole.answers(place), wanted)
            if isinstance(whole, Beam) and isinstance(alone, Beam):
                assert whole.forks is not None
                assert alone.forks is not None
                assert whole.forks.of[place] == alone.forks.of[place - own[0]]
    whole.forget(0)
    with pytest.raises(KeyError):
        whole.answers(0)


@pytest.mark.parametrize("name", [name for name in FEW if name not in BLIND])
def test_models_join_with_coverage(name: str) -> None:
    model = build(name)
    scorer = Coverage(model, [model.decoder], beta=0.3)

    def begin(lengths: list[int]) -> Search:
        data = batch(lengths, seed=sum(lengths))
        return Beam(
            scorer,
            scorer.prepare(data.source, data.mask),
            symbols=SYMBOLS,
            limits=torch.tensor(lengths) + 3,
            width=3,
            nbest=2,
            ending=scorer.ending,
        )

    whole = begin([4, 2])
    whole.step()
    whole.step()
    whole.join(begin([1, 6, 3]))
    found = whole.finish()
    for place, wanted in enumerate(begin([4, 2]).finish() + begin([1, 6, 3]).finish()):
        assert_same_hypotheses(found[place], wanted)


def test_trees_of_different_lengths_are_filled_up_behind() -> None:
    one, other = torch.ones(1, 2, dtype=torch.bool), torch.ones(2, 1, dtype=torch.bool)
    assert tree.join([one, other]).tolist() == [[True, True], [True, False], [True, False]]
    numbers = tree.join([torch.ones(1, 1), torch.ones(1, 2, dtype=torch.float64)], fill=-1.0)
    assert numbers.tolist() == [[1, -1], [1, 1]]
    assert numbers.dtype == torch.float64
