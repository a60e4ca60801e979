"""Joint n-grams against their formulas: ways to cut by enumeration, Kneser-Ney by hand."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from regard.ngrams import JointNgrams
from regard.ngrams.counted import Counted, _discount
from regard.ngrams.units import Units

SOURCE, TARGET = 3, 2
rows = st.lists(st.integers(0, SOURCE - 1), min_size=1, max_size=4)
answers = st.lists(st.integers(0, TARGET - 1), max_size=5)
seeds = st.integers(0, 999)


def drawn(seed: int) -> Units:
    random = torch.Generator().manual_seed(seed)
    units = Units(SOURCE, TARGET)
    units.log_prob = torch.rand(units.size, generator=random).log_softmax(0)
    return units


def ways(units: Units, source: list[int], target: list[int]) -> Iterator[list[int]]:
    """Every way to cut a pair into units."""
    if not source and not target:
        yield []
    for first, (read, said) in zip(units.firsts, units.moves, strict=True):
        if read > len(source) or said > len(target):
            continue
        number = 0
        for symbol in source[:read]:
            number = number * SOURCE + symbol
        for symbol in target[:said]:
            number = number * TARGET + symbol
        yield from ([first + number, *rest] for rest in ways(units, source[read:], target[said:]))


def log_of(units: Units, way: list[int]) -> float:
    return sum(float(units.log_prob[unit]) for unit in way)


@settings(max_examples=50, deadline=None)
@given(pairs=st.lists(st.tuples(rows, answers), min_size=1, max_size=4), seed=seeds)
def test_pairs_are_cut_in_the_likeliest_way(
    pairs: list[tuple[list[int], list[int]]], seed: int
) -> None:
    units = drawn(seed)
    found = units.cut([source for source, _ in pairs], [target for _, target in pairs])
    for (source, target), cut in zip(pairs, found, strict=True):
        every = [log_of(units, way) for way in ways(units, source, target)]
        if not every:
            assert len(cut) == 0
            continue
        assert cut.tolist() in list(ways(units, source, target))
        assert log_of(units, cut.tolist()) == pytest.approx(max(every), rel=1e-5)


@settings(max_examples=30, deadline=None)
@given(pairs=st.lists(st.tuples(rows, answers), min_size=1, max_size=4), seed=seeds)
def test_a_round_counts_every_way_by_its_share(
    pairs: list[tuple[list[int], list[int]]], seed: int
) -> None:
    units = drawn(seed)
    counts: Counter[int] = Counter()
    for source, target in pairs:
        every = list(ways(units, source, target))
        chances = [math.exp(log_of(units, way)) for way in every]
        for way, chance in zip(every, chances, strict=True):
            for unit in way:
                counts[unit] += chance / sum(chances)
    assume(counts)
    list(units.learn([s for s, _ in pairs], [t for _, t in pairs], rounds=1))
    total = sum(counts.values())
    wanted = [counts[unit] / total for unit in range(units.size)]
    np.testing.assert_allclose(units.log_prob.exp(), wanted, atol=1e-5)


texts = st.lists(st.lists(st.integers(0, 2), max_size=5), min_size=1, max_size=6)
SYMBOLS, BEGIN, END = 3, 3, 4


class KneserNey:
    """The formula, word for word."""

    def __init__(self, texts: list[list[int]], order: int) -> None:
        whole = [(BEGIN, *text, END) for text in texts]
        runs = [
            Counter(
                text[first : first + length]
                for text in whole
                for first in range(len(text) - length + 1)
            )
            for length in range(1, order + 1)
        ]
        self.counts = [dict(own) for own in runs]
        for shorter, longer in pairwise(self.counts):
            before = Counter(run[1:] for run in longer)
            shorter.update(before)
        self.counts[0][(BEGIN,)] = 0
        self.order = order

    def __call__(self, symbol: int, history: tuple[int, ...]) -> float:
        history = history[max(0, len(history) - self.order + 1) :]
        own = self.counts[len(history)]
        rows = {run: count for run, count in own.items() if run[:-1] == history}
        shorter = self(symbol, history[1:]) if history else 1 / (SYMBOLS + 1)
        if not rows:
            return shorter
        taken = dict(zip(own, _discount(np.array(list(own.values()))), strict=True))
        total, count = sum(rows.values()), rows.get((*history, symbol), 0)
        left = sum(taken[run] for run in rows)
        return (count - (taken[(*history, symbol)] if count else 0) + left * shorter) / total


@settings(max_examples=40, deadline=None)
@given(texts=texts, order=st.integers(1, 4), asked=texts)
def test_chances_are_those_of_the_formula(
    texts: list[list[int]], order: int, asked: list[list[int]]
) -> None:
    reference = KneserNey(texts, order)
    wanted = []
    for text in asked:
        whole = (BEGIN, *text, END)
        steps = [reference(whole[at], whole[:at]) for at in range(1, len(whole))]
        assert sum(reference(each, whole[:-1]) for each in (*range(SYMBOLS), END)) == (
            pytest.approx(1)
        )
        wanted.append(sum(map(math.log, steps)))
    counted = Counted.of([np.array(text, np.int64) for text in texts], SYMBOLS, order=order)
    found = counted.log_prob([np.array(text, np.int64) for text in asked])
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_discounts_follow_from_the_numbers_of_counts() -> None:
    """Four counts of 1, two of 2, one of 3 and one of 4: Y = 4 / (4 + 2 * 2) = 0.5."""
    found = _discount(np.array([1, 1, 1, 1, 2, 2, 3, 4, 0]))
    assert found.tolist() == [0.5] * 4 + [1.25] * 2 + [1.0] * 2 + [0.0]


WORDS = [("abc", "012"), ("cab", "201"), ("abba", "0110"), ("ca", "20"), ("bcb", "121")]


def learned(order: int = 3) -> JointNgrams:
    sources = [["abc".index(letter) for letter in word] for word, _ in WORDS]
    targets = [list(map(int, said)) for _, said in WORDS]
    return JointNgrams.learn(sources, targets, (3, 3), order=order)


def test_what_goes_together_is_likelier_and_company_changes_nothing() -> None:
    model = learned()
    sources, targets = [[0, 1, 2]] * 3, [[0, 1, 2], [2, 1, 0], [0, 1]]
    together = model.log_prob(sources, targets)
    assert together.argmax() == 0
    alone = [model.log_prob([s], [t])[0] for s, t in zip(sources, targets, strict=True)]
    np.testing.assert_array_equal(together, alone)


def test_strange_symbols_are_unlikely_and_no_more() -> None:
    """A fourth symbol that stood in no pair: the rest of the answer still counts."""
    sources = [["abc".index(letter) for letter in word] for word, _ in WORDS]
    targets = [list(map(int, said)) for _, said in WORDS]
    model = JointNgrams.learn(sources, targets, (4, 3), order=3)
    found = model.log_prob([[0, 3, 2]] * 2 + [[0, 1, 2]], [[0, 1, 2], [2, 1, 0], [0, 1, 2]])
    assert found[2] > found[0] > found[1] > -100


def test_it_answers_in_inference_mode_too() -> None:
    pairs = [[0, 1, 2]], [[0, 1, 2]]
    model = learned()
    with torch.inference_mode():
        np.testing.assert_array_equal(model.log_prob(*pairs), model.log_prob(*pairs))


def test_what_cannot_be_cut_is_as_if_it_were_of_units_never_met() -> None:
    model = learned()
    found = model.log_prob([[0], [0], []], [[0], [0, 1, 2], [1]])
    assert found[0] > found[1]
    np.testing.assert_allclose(found[1:], model.counted.unseen * np.array([4, 2]))


def test_saved_and_loaded_it_says_the_same(tmp_path: Path) -> None:
    model = learned()
    model.save(tmp_path / "ngrams.safetensors")
    again = JointNgrams.load(tmp_path / "ngrams.safetensors")
    pairs = [[0, 1, 2], [2, 0]], [[0, 1, 2], [2, 1]]
    np.testing.assert_allclose(again.log_prob(*pairs), model.log_prob(*pairs), rtol=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["ngrams.safetensors"]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_broken_file_is_refused(tmp_path: Path, share: float) -> None:
    path = tmp_path / "ngrams.safetensors"
    learned().save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match="not a whole file of n-grams"):
        JointNgrams.load(path)


def test_large_vocabularies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"ngrams: wanted alphabets.*10,000 source"):
        Units(10_000, 10_000)


def test_answers_that_nothing_can_be_learned_from_are_refused() -> None:
    with pytest.raises(ValueError, match="ngrams: wanted answers of at most two symbols"):
        JointNgrams.learn([[0]], [[0, 1, 2]], (1, 3), order=2)
