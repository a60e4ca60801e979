"""Law 4: a beam wide enough is exhaustive search, a beam of 1 is greedy; and what lies between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from regard.search import (
    Beam,
    Ensemble,
    Follow,
    Fork,
    Forks,
    Hypothesis,
    Likeliest,
    Penalty,
    Raw,
    Scorer,
    beam,
    exhaustive,
    greedy,
)
from regard.search.beam import _likeliest

from .zoo import (
    END,
    FEW,
    PENALTIES,
    SYMBOLS,
    SYSTEMS,
    WORDS,
    Table,
    assert_close,
    assert_same_hypotheses,
    batch,
    build,
    forced,
    sentence,
    table,
)

LIMITS = torch.tensor([3, 2, 0])
EVERYTHING = 1 + 4 + 16 + 64
"""Sequences of four words up to length 3."""

seeds = st.integers(0, 9999)
penalties = pytest.mark.parametrize("penalty", PENALTIES.values(), ids=PENALTIES)
prefixes = st.lists(st.integers(3, 6), max_size=4)


@pytest.mark.parametrize("name", SYSTEMS)
def test_wide_beam_is_exhaustive(name: str) -> None:
    model, data = build(name), batch([3, 1, 2])
    source = model.prepare(data.source, data.mask)
    for penalty in (Raw(), PENALTIES["average"]):
        options: dict[str, Any] = {
            "symbols": SYMBOLS,
            "limits": LIMITS,
            "penalty": penalty,
            "nbest": 7,
        }
        wide = beam(model, source, width=EVERYTHING, **options)
        every = exhaustive(model, source, **options)
        for found, wanted in zip(wide, every, strict=True):
            assert_same_hypotheses(found, wanted)
        assert [len(found) for found in every] == [7, 7, 1]


@penalties
@settings(max_examples=20)
@given(seed=seeds, prefix=prefixes, nbest=st.integers(1, 8))
def test_wide_beam_is_exhaustive_for_any_distribution(
    penalty: Penalty, seed: int, prefix: list[int], nbest: int
) -> None:
    options: dict[str, Any] = {
        "symbols": SYMBOLS,
        "limits": LIMITS,
        "penalty": penalty,
        "nbest": nbest,
        "prefix": torch.tensor([prefix, [-1] * len(prefix), prefix]) if prefix else None,
    }
    source = table(3, seed=seed)
    wide = beam(Table(), source, width=EVERYTHING, **options)
    every = exhaustive(Table(), source, **options)
    for row, (found, wanted) in enumerate(zip(wide, every, strict=True)):
        assert wanted
        assert_same_hypotheses(found, wanted)
        if row != 1:
            assert all(h.tokens[: len(prefix)] == prefix for h in found)


def test_exhaustive_enumerates_everything_once() -> None:
    (every,) = exhaustive(
        Table(), table(1, seed=0), symbols=SYMBOLS, limits=torch.tensor([3]), nbest=1000
    )
    assert len({tuple(h.tokens) for h in every}) == len(every) == EVERYTHING
    assert {token for h in every for token in h.tokens} == set(WORDS)
    assert all(h.complete == (len(h.tokens) < 3) for h in every)


@pytest.mark.parametrize("name", SYSTEMS)
def test_beam_of_one_is_greedy(name: str) -> None:
    model, data = build(name), batch([3, 1, 2, 5])
    source = model.prepare(data.source, data.mask)
    limits = torch.tensor([9, 2, 0, 6])
    narrow = beam(model, source, symbols=SYMBOLS, limits=limits, width=1)
    assert_same_hypotheses(
        [one for (one,) in narrow], greedy(model, source, symbols=SYMBOLS, limits=limits)
    )


@settings(max_examples=30)
@given(seed=seeds, prefix=prefixes)
def test_beam_of_one_is_greedy_for_any_distribution(seed: int, prefix: list[int]) -> None:
    options: dict[str, Any] = {
        "symbols": SYMBOLS,
        "limits": torch.tensor([7, 3]),
        "prefix": torch.tensor([prefix] * 2) if prefix else None,
    }
    source = table(2, seed=seed)
    narrow = beam(Table(), source, width=1, **options)
    found = greedy(Table(), source, **options)
    assert_same_hypotheses([one for (one,) in narrow], found)
    assert all(h.tokens[: len(prefix)] == prefix for h in found)


def test_greedy_takes_the_likeliest_symbol_of_every_step() -> None:
    source = table(1, seed=4)
    (found,) = greedy(Table(), source, symbols=SYMBOLS, limits=torch.tensor([6]))
    said: list[int] = []
    while True:
        ways = continuations(Table(), source, said)
        token = max((t for t in range(7) if t not in SYMBOLS.never), key=lambda t: ways[t])
        if token == END or len(said) == 6:
            break
        said.append(token)
    assert found.tokens == said
    assert said


def continuations(scorer: Scorer, source: Any, said: list[int]) -> list[float]:
    """Log probabilities after a beginning, from the very start."""
    state = scorer.start(source)
    log_prob = torch.empty(0)
    for token in [SYMBOLS.begin, *said]:
        log_prob, state = scorer.step(torch.tensor([token]), state, source)
    return log_prob[0].tolist()


@dataclass
class Plain:
    """A hypothesis of the plain beam."""

    said: list[int]
    log_prob: float


def plain_beam(
    scorer: Scorer,
    source: Any,
    *,
    limit: int,
    width: int,
    nbest: int,
    penalty: Penalty,
    added: Callable[[list[int]], float] = lambda _said: 0.0,
) -> list[Hypothesis]:
    """One sentence, no states, no early stop: what a beam is meant to be."""
    going, done = [Plain([], 0.0)], []
    while going:
        ways = [
            Plain([*one.said, token], one.log_prob + log_prob)
            for one in going
            for token, log_prob in enumerate(continuations(scorer, source, one.said))
            if token not in SYMBOLS.never and (len(one.said) < limit or token == END)
        ]
        best = sorted(ways, key=lambda one: -one.log_prob)[:width]
        done += [one for one in best if one.said[-1] == END]
        going = [one for one in best if one.said[-1] != END]
    found = [
        Hypothesis(
            one.said[:-1],
            one.log_prob,
            one.log_prob / penalty.divisor(len(one.said)) + added(one.said[:-1]),
            len(one.said) <= limit,
        )
        for one in done
    ]
    return sorted(found, key=lambda h: -h.score)[:nbest]


@penalties
@settings(max_examples=25)
@given(
    seed=seeds,
    width=st.integers(1, 5),
    data=st.data(),
    limits=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    sharp=st.sampled_from([0.5, 1.5, 4.0]),
)
def test_beam_is_the_plain_beam_in_spite_of_batch_and_early_stop(
    penalty: Penalty, seed: int, width: int, data: st.DataObject, limits: list[int], sharp: float
) -> None:
    nbest = data.draw(st.integers(1, width))
    source = table(len(limits), seed=seed, sharp=sharp)
    found = beam(
        Table(),
        source,
        symbols=SYMBOLS,
        limits=torch.tensor(limits),
        width=width,
        nbest=nbest,
        penalty=penalty,
    )
    for row, limit in enumerate(limits):
        wanted = plain_beam(
            Table(), sentence(source, row), limit=limit, width=width, nbest=nbest, penalty=penalty
        )
        assert_same_hypotheses(found[row], wanted)


@settings(max_examples=40)
@given(
    seed=seeds,
    sizes=st.tuples(st.integers(1, 3), st.integers(1, 6), st.integers(3, 200)),
    count=st.integers(1, 40),
    kept=st.integers(1, 200),
)
def test_the_likeliest_are_those_of_a_whole_sort(
    seed: int, sizes: tuple[int, int, int], count: int, kept: int
) -> None:
    numbers = torch.Generator().manual_seed(seed)
    log_prob = torch.randn(sizes, generator=numbers).masked_fill(
        torch.arange(sizes[2]) >= kept, -torch.inf
    )
    scores = torch.randn(sizes[:2], generator=numbers)
    best, parent, token = _likeliest(scores, log_prob, count)
    every = (scores[:, :, None] + log_prob).flatten(1).sort(descending=True).values
    assert torch.equal(best, every[:, :count])
    assert token.max() < sizes[2]
    alive = best > -torch.inf
    found = (scores.gather(1, parent) + log_prob.flatten(1).gather(1, parent * sizes[2] + token))[
        alive
    ]
    assert torch.equal(found, best[alive])


@pytest.mark.parametrize("name", FEW)
def test_beam_is_the_plain_beam_for_models(name: str) -> None:
    model, data = build(name), batch([3, 1], seed=2)
    source = model.prepare(data.source, data.mask)
    penalty = PENALTIES["gnmt"]
    found = beam(
        model,
        source,
        symbols=SYMBOLS,
        limits=torch.tensor([5, 3]),
        width=3,
        nbest=3,
        penalty=penalty,
    )
    for row, limit in enumerate([5, 3]):
        with torch.inference_mode():
            wanted = plain_beam(
                model, sentence(source, row), limit=limit, width=3, nbest=3, penalty=penalty
            )
        assert_same_hypotheses(found[row], wanted)


class Counting(Table):
    def __init__(self) -> None:
        self.steps = 0

    def step(self, token: Tensor, state: Tensor, source: Tensor) -> tuple[Tensor, Tensor]:
        self.steps += 1
        return super().step(token, state, source)


def test_beam_stops_early_where_nothing_better_can_come() -> None:
    scorer, source = Counting(), table(1, seed=0)
    source[:, :, END] += 12  # the end is nearly certain at once
    beam(scorer, source, symbols=SYMBOLS, limits=torch.tensor([50]), width=4)
    assert scorer.steps == 1


@pytest.mark.parametrize("name", SYSTEMS)
def test_log_prob_is_that_of_the_whole_sequence_with_its_end(name: str) -> None:
    model, data = build(name), batch([4, 2], seed=1)
    source = model.prepare(data.source, data.mask)
    limits = torch.tensor([6, 3])
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": limits}
    prefix = torch.tensor([[3, 0, 5], [4, -1, -1]])  # a prefix may hold even what is never said
    for penalty in (Raw(), PENALTIES["gnmt"]):
        lists = beam(model, source, width=4, nbest=3, penalty=penalty, **options)
        lists += beam(model, source, width=4, nbest=3, penalty=penalty, prefix=prefix, **options)
        for row, found in enumerate(lists):
            one = data.alone(row % 2)
            assert found
            for h in found:
                assert h.log_prob == pytest.approx(forced(model, one.source, one.mask, h))
                assert h.score == pytest.approx(h.log_prob / penalty.divisor(len(h.tokens) + 1))
    for row, h in enumerate(greedy(model, source, **options)):
        one = data.alone(row)
        assert h.score == h.log_prob == pytest.approx(forced(model, one.source, one.mask, h))


@settings(max_examples=30)
@given(
    seed=seeds, width=st.integers(1, 4), limits=st.lists(st.integers(0, 5), min_size=1, max_size=3)
)
def test_recording_forks_changes_nothing_and_tells_how_each_hypothesis_was_found(
    seed: int, width: int, limits: list[int]
) -> None:
    source, forks = table(len(limits), seed=seed), Forks()
    options: dict[str, Any] = {
        "symbols": SYMBOLS,
        "limits": torch.tensor(limits),
        "width": width,
        "nbest": width,
    }
    found = beam(Table(), source, forks=forks, **options)
    assert found == beam(Table(), source, **options)
    for row in range(len(limits)):
        paths = rebuilt(forks.of[row], width)
        for h in found[row]:
            assert paths[tuple(h.tokens)] == h.log_prob


def rebuilt(forks: list[Fork], width: int) -> dict[tuple[int, ...], float]:
    """Every ended path of a trace, with its log probability."""
    ended: dict[tuple[int, ...], float] = {}
    before: list[tuple[int, ...]] = [()]
    for step in range(1 + max(fork.step for fork in forks)):
        now = [fork for fork in forks if fork.step == step]
        assert [fork.log_prob for fork in now] == sorted((f.log_prob for f in now), reverse=True)
        assert [fork.kept for fork in now] == [place < width for place in range(len(now))]
        kept = [fork for fork in now if fork.kept]
        assert not any(fork.ended != (fork.token == END) for fork in now)
        ended |= {before[fork.parent]: fork.log_prob for fork in kept if fork.ended}
        before = [(*before[fork.parent], fork.token) for fork in kept if not fork.ended]
    return ended


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("copies", [1, 3])
def test_ensemble_of_one_model_is_the_model(name: str, copies: int) -> None:
    model, data = build(name), batch([3, 1])
    source = model.prepare(data.source, data.mask)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": torch.tensor([5, 3])}
    several: tuple[Scorer, tuple[Any, ...]] = (Ensemble([model] * copies), (source,) * copies)
    assert_same_hypotheses(greedy(*several, **options), greedy(model, source, **options))
    together = beam(*several, width=4, nbest=4, **options)
    for one, other in zip(together, beam(model, source, width=4, nbest=4, **options), strict=True):
        assert_same_hypotheses(one, other)


def test_ensemble_of_architectures_is_the_mean_of_their_probabilities() -> None:
    data = batch([3, 1], [4, 4])
    models = [build(name) for name in FEW]
    sources = tuple(model.prepare(data.source, data.mask) for model in models)
    ensemble = Ensemble(list(models))
    state = ensemble.start(sources)
    for time, token in enumerate(data.tokens.unbind(1)):
        log_prob, state = ensemble.step(token, state, sources)
        single = [
            model.head(model(data.source, data.mask, data.tokens).outputs[:, time]).softmax(-1)
            for model in models
        ]
        assert_close(log_prob.exp(), sum(single) / len(models))
    (found, _), (every, _) = (
        search(ensemble, sources, symbols=SYMBOLS, limits=torch.tensor([3, 2]), nbest=3, **more)
        for search, more in ((beam, {"width": EVERYTHING}), (exhaustive, {}))
    )
    assert_same_hypotheses(found, every)


@settings(max_examples=30)
@given(data=st.data(), seed=seeds, width=st.integers(1, 4))
def test_what_is_dropped_leaves_and_changes_nothing_for_the_rest(
    data: st.DataObject, seed: int, width: int
) -> None:
    """At any step, and whatever search: a request that nobody waits for must cost no more."""
    limits = torch.tensor([4, 2, 5, 3])
    source = table(len(limits), seed=seed)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": limits}
    for search in (
        Beam(Table(), source, width=width, nbest=width, **options),
        Follow(Table(), source, Likeliest(), **options),
    ):
        whole = type(search)(
            Table(),
            source,
            *([Likeliest()] if isinstance(search, Follow) else []),
            **options,
            **({"width": width, "nbest": width} if isinstance(search, Beam) else {}),
        ).finish()
        given_up = data.draw(st.sets(st.sampled_from(range(4)), max_size=3))
        for _ in range(data.draw(st.integers(0, 3))):
            if search.live:
                search.step()
        early = given_up & set(search.live)
        search.drop(given_up)
        assert not given_up & set(search.live)
        while search.live:
            search.step()
        for number in set(range(4)) - early:
            assert search.answers(number) == whole[number]


@settings(max_examples=30)
@given(seed=seeds, listed=st.booleans(), width=st.integers(1, 4))
def test_what_is_settled_stays(seed: int, width: int, listed: bool) -> None:
    """In the answer, and where somebody else will choose, in all that may be chosen."""
    limits = torch.tensor([5, 3])
    how: dict[str, Any] = {"width": width, "penalty": Raw(), "listed": listed}
    search = Beam(Table(), table(2, seed=seed), symbols=SYMBOLS, limits=limits, **how)
    settled: dict[int, list[list[int]]] = {0: [], 1: []}
    while search.live:
        search.step()
        for number in search.live:
            far = search.progress(number)
            settled[number].append(far.tokens[: far.settled])
    for number, beginnings in settled.items():
        for answer in search.answers(number):
            said = [answer.tokens[: len(beginning)] for beginning in beginnings]
            assert said == beginnings


@settings(max_examples=20)
@given(seed=seeds, width=st.integers(1, 4))
def test_forks_lead_to_the_answer(seed: int, width: int) -> None:
    forks, source = Forks(), table(1, seed=seed)
    options: dict[str, Any] = {"symbols": SYMBOLS, "limits": torch.tensor([4]), "width": width}
    answer = beam(Table(), source, forks=forks, **options)[0][0]
    path = [forks.of[0][place] for place in forks.path(0, answer.tokens)]
    assert [fork.token for fork in path] == [*answer.tokens, END]
    assert path[-1].log_prob == answer.log_prob
    assert path[-1].score == pytest.approx(answer.score)
    assert all(fork.kept for fork in path)
