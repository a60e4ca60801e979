"""Batches: every index once, budgets kept, an order that seed and epoch alone decide."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import Batches

LENGTHS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=120)


@settings(max_examples=150, deadline=None)
@given(
    pairs=LENGTHS,
    tokens=st.integers(1, 200),
    sentences=st.none() | st.integers(1, 10),
    pool=st.integers(1, 150),
    epoch=st.integers(0, 5),
)
def test_budgets_and_completeness(
    pairs: list[tuple[int, int]], tokens: int, sentences: int | None, pool: int, epoch: int
) -> None:
    source = np.array([pair[0] for pair in pairs], dtype=np.int32)
    target = np.array([pair[1] for pair in pairs], dtype=np.int32)
    batches = Batches(source, target, tokens=tokens, sentences=sentences, pool=pool)
    cut = list(batches.epoch(epoch))
    assert sorted(index for batch in cut for index in batch.tolist()) == list(range(len(pairs)))
    assert len(cut) == len(batches.epoch(epoch))
    for batch in cut:
        assert len(batch) > 0
        assert sentences is None or len(batch) <= sentences
        padded = len(batch) * (1 + max(source[batch].max(), target[batch].max()))
        assert len(batch) == 1 or padded <= tokens


def lengths(count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    target = np.minimum(random.geometric(0.07, count), 100).astype(np.int32)
    return np.maximum(1, target * random.normal(1, 0.2, count)).astype(np.int32), target


def test_order_is_a_function_of_seed_and_epoch() -> None:
    source, target = lengths(3_000)

    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = Batches(source, target, tokens=256, seed=seed, pool=1_000)
        return [batch.tolist() for batch in batches.epoch(epoch)]

    assert order(1, 0) == order(1, 0)
    assert order(1, 0) != order(1, 1)
    assert order(1, 0) != order(2, 0)
    assert order(1, 2) != order(2, 1)


def test_any_position_can_be_resumed() -> None:
    epoch = Batches(*lengths(3_000), tokens=256, pool=700).epoch(3)
    whole = [batch.tolist() for batch in epoch]
    assert [epoch[place].tolist() for place in range(len(epoch))] == whole
    assert [batch.tolist() for batch in epoch[5:]] == whole[5:]
    assert epoch[-1].tolist() == whole[-1]
    with pytest.raises(IndexError):
        epoch[len(whole)]


def test_little_padding() -> None:
    source, target = lengths(20_000)
    batches = list(Batches(source, target).epoch(0))
    for side in (source, target):
        padded = sum(len(batch) * int(side[batch].max() + 1) for batch in batches)
        assert 1 - (side + 1).sum() / padded < 0.1


def test_a_million_pairs_take_no_time() -> None:
    batches = Batches(*lengths(1_000_000))
    start = time.perf_counter()
    next(iter(batches.epoch(0)))
    assert time.perf_counter() - start < 2


def test_settings_that_mean_nothing() -> None:
    with pytest.raises(ValueError, match="tokens wanted a number above 0, got 0"):
        Batches(*lengths(3), tokens=0)
    with pytest.raises(ValueError, match="3 source and 4 target lengths"):
        Batches(lengths(3)[0], lengths(4)[1])
