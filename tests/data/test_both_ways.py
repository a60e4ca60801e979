"""Pairs learned both ways: half of them turned, each once an epoch, none after the first epochs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data import Batches, Bpe, Corpus, as_pairs, prepare
from regard.data.both_ways import BothWays

COUNT = 200


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    folder = tmp_path_factory.mktemp("pairs")
    random = np.random.default_rng(1)
    texts = [
        [" ".join(random.choice(list("abcdefgh"), random.integers(1, 9))) for _ in range(COUNT)]
        for _ in range(2)
    ]
    for name, rows in zip(("one", "other"), texts, strict=True):
        (folder / name).write_text("\n".join(rows) + "\n")
    known = Bpe(size=40).train([text for rows in texts for text in rows])
    pairs = as_pairs([str(folder / "one"), str(folder / "other")])
    return prepare(pairs, known, known, cache=folder / "cache", max_tokens=100, progress=False)


def both(corpus: Corpus, *, seed: int, epochs: int) -> BothWays:
    lengths = corpus.source_lengths, corpus.target_lengths
    return BothWays(Batches(*lengths, tokens=60, seed=seed), corpus, epochs=epochs)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 99), epoch=st.integers(0, 3))
def test_each_pair_stands_once_in_an_epoch(corpus: Corpus, seed: int, epoch: int) -> None:
    batches = both(corpus, seed=seed, epochs=2).epoch(epoch)
    indices = np.concatenate(list(batches))
    assert sorted(indices % COUNT) == list(range(COUNT))
    turned = int((indices >= COUNT).sum())
    assert turned == 0 if epoch >= 2 else COUNT / 4 < turned < COUNT * 3 / 4
    again = both(corpus, seed=seed, epochs=2).epoch(epoch)
    assert all(np.array_equal(batches[i], again[i]) for i in range(len(batches)))


def test_epochs_and_seeds_turn_others(corpus: Corpus) -> None:
    ways = both(corpus, seed=1, epochs=2), both(corpus, seed=2, epochs=2)
    turned = [
        frozenset(i for batch in way.epoch(epoch) for i in batch.tolist() if i >= COUNT)
        for way in ways
        for epoch in (0, 1)
    ]
    assert len(set(turned)) == 4


def test_a_turned_pair_is_read_from_its_other_end(corpus: Corpus) -> None:
    ways = both(corpus, seed=1, epochs=1)
    straight, turned = np.array([3, 5]), np.array([3 + COUNT, 5])
    (a, b), (x, y) = corpus.rows(straight)
    sources, targets = ways.rows(turned)
    assert [row.tolist() for row in (*sources, *targets)] == [row.tolist() for row in (x, b, a, y)]
    assert ways.said(turned) == len(a) + len(y)
    assert ways.said(straight) == len(x) + len(y)


def test_no_batch_is_over_the_budget(corpus: Corpus) -> None:
    ways = both(corpus, seed=1, epochs=1)
    for batch in ways.epoch(0):
        for rows in ways.rows(batch):
            assert len(batch) == 1 or len(batch) * (1 + max(map(len, rows))) <= 60
