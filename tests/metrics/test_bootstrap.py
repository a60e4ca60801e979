"""Intervals cover what they promise; comparisons find what is there and nothing else."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from regard.metrics import Bleu, ExactMatch, Interval, WordErrors, interval, paired
from regard.metrics import bootstrap as module


def coins(generator, number, chance):
    """Counts of exact match: right or not, one sentence each."""
    return np.stack([generator.random(number) < chance, np.ones(number)], axis=1).astype(float)


def errors(generator, number, rate):
    lengths = generator.integers(5, 30, number)
    return np.stack([generator.binomial(lengths, rate), lengths], axis=1).astype(float)


def test_interval_of_a_binomial_is_right():
    right = np.stack([np.arange(1000) < 300, np.ones(1000)], axis=1).astype(float)
    got = interval(ExactMatch(), right, samples=4000)
    low, high = stats.binom.ppf([0.025, 0.975], 1000, 0.3) / 10
    assert got.score == 30
    assert (got.low, got.high) == pytest.approx((low, high), abs=0.25)


def test_interval_covers_the_truth_as_often_as_it_says():
    generator = np.random.default_rng(0)
    found = [
        interval(ExactMatch(), coins(generator, 200, 0.3), samples=400, seed=k, level=0.9)
        for k in range(300)
    ]
    covered = np.mean([each.low <= 30 <= each.high for each in found])
    assert 0.85 < covered < 0.95


def test_higher_level_is_wider():
    counts = errors(np.random.default_rng(0), 300, 0.2)
    narrow, wide = (interval(WordErrors(), counts, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.score < narrow.high < wide.high


def test_identical_systems_have_no_winner():
    counts = errors(np.random.default_rng(0), 200, 0.2)
    result = paired(WordErrors(), counts, counts.copy())
    assert result.winner is None
    assert result.p_value == 1
    assert result.difference == Interval(0.0, 0.0, 0.0)


def test_equally_good_systems_seldom_have_a_winner():
    generator = np.random.default_rng(0)
    wins = [
        paired(
            ExactMatch(),
            coins(generator, 150, 0.4),
            coins(generator, 150, 0.4),
            samples=400,
            seed=k,
        ).winner
        is not None
        for k in range(300)
    ]
    assert 0.02 < np.mean(wins) < 0.09


@pytest.mark.parametrize(("a", "b", "winner"), [(0.1, 0.2, "a"), (0.2, 0.1, "b")])
def test_fewer_errors_win(a, b, winner):
    generator = np.random.default_rng(0)
    result = paired(WordErrors(), errors(generator, 500, a), errors(generator, 500, b))
    assert result.winner == winner
    assert result.p_value < 0.01
    assert result.difference.score == pytest.approx(result.a - result.b)


def test_more_bleu_wins():
    wanted = [[f"the number {k} is a nice number to have ."] for k in range(60)]
    good = Bleu().statistics([each[0] for each in wanted], wanted)
    bad = Bleu().statistics([each[0].replace("nice", "bad") for each in wanted], wanted)
    assert paired(Bleu(), good, bad, samples=100).winner == "a"
    assert paired(Bleu(), bad, good, samples=100).winner == "b"


def test_exchange_changes_only_the_sign():
    generator = np.random.default_rng(1)
    a, b = errors(generator, 200, 0.2), errors(generator, 200, 0.21)
    there, back = paired(WordErrors(), a, b), paired(WordErrors(), b, a)
    assert there.p_value == back.p_value
    assert there.difference.low == pytest.approx(-back.difference.high)


@given(st.integers(1, 40), st.integers(1, 20), st.integers(0, 9))
def test_each_sample_draws_as_many_sentences_as_there_are(sentences, samples, seed):
    blocks = list(module._weights(sentences, samples, seed))
    weights = np.concatenate(blocks)
    assert weights.shape == (samples, sentences)
    assert (weights.sum(axis=1) == sentences).all()
    assert (weights >= 0).all()


def test_small_blocks_cover_all_samples(monkeypatch):
    monkeypatch.setattr(module, "_BLOCK", 100)
    got = interval(ExactMatch(), coins(np.random.default_rng(0), 30, 0.5), samples=1000)
    assert got.low < got.score < got.high


def test_same_seed_same_interval():
    counts = errors(np.random.default_rng(0), 100, 0.3)
    assert interval(WordErrors(), counts, seed=3) == interval(WordErrors(), counts, seed=3)
    assert interval(WordErrors(), counts, seed=3) != interval(WordErrors(), counts, seed=4)


def test_a_large_corpus_takes_well_under_a_second():
    counts = np.random.default_rng(0).integers(1, 30, (5000, 10)).astype(float)
    begin = time.process_time()
    interval(Bleu(), counts)
    # 0.15 s alone; the bound leaves room for a busy machine.
    assert time.process_time() - begin < 2.0


def test_text_of_an_interval():
    assert str(Interval(27.314, 26.1, 28.456)) == "27.31 [26.10, 28.46]"


def test_mistakes_are_explained():
    counts = np.ones((4, 2))
    with pytest.raises(ValueError, match=r"got \(4, 2\) and \(3, 2\); score both"):
        paired(WordErrors(), counts, counts[:3])
    with pytest.raises(ValueError, match="one row of counts per sentence"):
        interval(WordErrors(), counts[:0])
    with pytest.raises(ValueError, match="samples=0"):
        interval(WordErrors(), counts, samples=0)
    with pytest.raises(ValueError, match="level=95"):
        interval(WordErrors(), counts, level=95.0)
