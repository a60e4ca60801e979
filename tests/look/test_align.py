"""The measures of alignment, against numbers that were computed by hand."""

import math

import numpy as np
import pytest

from regard.look.align import (
    best,
    diagonality,
    entropy,
    error_rate,
    error_rates,
    gold,
    links,
    read_gold,
    sharpest,
)


def test_entropy_by_hand():
    weights = np.array([[[[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]], [[[1 / 3] * 3, [1 / 3] * 3]]])
    np.testing.assert_allclose(entropy(weights), [[math.log(2) / 2], [math.log(3)]])
    assert sharpest(weights) == (0, 0)


def test_diagonality_of_squares():
    # As in the paper: 1 - |i - j| over the furthest place of the row.
    assert diagonality(np.eye(4)) == pytest.approx(1)
    assert diagonality(np.eye(2)[::-1]) == pytest.approx(0)
    # Rows of centrality [1, 1/2, 0], [0, 1, 0], [0, 1/2, 1], means 1/2, 1/3, 1/2.
    assert diagonality(np.full((3, 3), 1 / 3)) == pytest.approx(4 / 9)


def test_diagonality_of_a_source_that_is_longer():
    # Two target words over five source words: the first is nearest to 0, the last to 1.
    weights = np.zeros((2, 5))
    weights[0, 0] = weights[1, 4] = 1
    assert diagonality(weights) == pytest.approx(1)
    weights = np.zeros((3, 5))
    # Centrality [1, .75, .5, .25, 0], [0, .5, 1, .5, 0], [0, .25, .5, .75, 1].
    weights[0, 1], weights[1, 2], weights[2, 0] = 1, 1, 1
    assert diagonality(weights) == pytest.approx((0.75 + 1 + 0) / 3)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 3), (2, 2)])
def test_diagonality_stays_within_bounds(shape):
    weights = np.random.default_rng(0).dirichlet(np.ones(shape[1]), shape[0])
    assert 0 <= diagonality(weights) <= 1 + 1e-12


def test_links_as_pharaoh_writes_them():
    found = gold("0-0  1-2 2?3 10p4\n")
    assert found.sure == {(0, 0), (1, 2)}
    assert found.possible == {(0, 0), (1, 2), (2, 3), (10, 4)}
    assert gold("").possible == frozenset()


@pytest.mark.parametrize("text", ["0-0 1", "a-b", "0--1", "-1-2", "0-1-2", "0 - 1", "0:1"])
def test_other_links_are_refused(text):
    with pytest.raises(ValueError, match=r"wanted links such as 0-0.*1p2.*got '"):
        gold(text)


def test_a_file_names_the_line(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("0-0 1p1\n\n2-2\n")
    assert [len(each.possible) for each in read_gold(path)] == [2, 0, 1]
    path.write_text("0-0\n0-x\n")
    with pytest.raises(ValueError, match=r"gold\.txt, line 2: alignment: wanted links"):
        read_gold(path)


def test_the_strongest_is_linked_and_the_end_to_nothing():
    weights = np.array([[0.1, 0.7, 0.2], [0.2, 0.2, 0.6], [0.9, 0.1, 0.0]])
    assert links(weights) == {(1, 0)}
    assert links(weights, ends=False) == {(1, 0), (2, 1), (0, 2)}


def test_error_rate_by_hand():
    wanted = gold("0-0 1-1 2p2 2p3")
    assert error_rate(frozenset({(0, 0), (1, 1)}), wanted) == 0
    # |A| = 3, |S| = 2, one sure and two possible: 1 - 3/5.
    assert error_rate(frozenset({(0, 0), (2, 2), (3, 3)}), wanted) == pytest.approx(1 - 3 / 5)
    assert error_rate(frozenset(), wanted) == 1
    assert error_rate(frozenset(), gold("")) == 0


def test_error_rates_of_heads():
    straight, crossed = np.eye(3), np.eye(3)[[1, 0, 2]]
    weights = np.array([[straight, crossed], [straight, straight]])
    np.testing.assert_allclose(error_rates(weights, gold("0-1 1-0")), [[1, 0], [1, 1]])
    found = best(weights, gold("0-1 1-0"))
    assert [(each.measure, each.layer, each.head) for each in found] == [
        ("sharpest", 0, 0), ("most diagonal", 0, 0), ("fewest errors", 0, 1)
    ]  # fmt: skip
    assert found[1].value == pytest.approx(1)
    with pytest.raises(ValueError, match=r"between 2 source words and 2 target words.*got 2-0"):
        error_rates(weights, gold("2-0"))
