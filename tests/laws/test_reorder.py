"""Law 3: to choose rows and then step is to step and then choose rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard import tree

from .zoo import SYSTEMS, assert_close, batch, build

WIDTH = 3


@pytest.mark.parametrize("name", SYSTEMS)
@given(
    choice=st.lists(st.tuples(*[st.integers(0, WIDTH - 1)] * WIDTH), min_size=2, max_size=3),
    past=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_choosing_hypotheses_commutes_with_step(
    name: str, choice: list[tuple[int, ...]], past: int, seed: int
) -> None:
    model, count = build(name), len(choice)
    data = batch([2, 4, 1][:count], seed=seed)
    source = model.prepare(data.source, data.mask)
    state = tree.repeat(model.start(source), WIDTH)
    for token in words(count * WIDTH, past, seed).unbind(1):
        _, state = model.step(token, state, source)
    # Inside a sentence's rows anything may be chosen, twice too; the source stays as it is.
    rows = (torch.tensor(choice) + torch.arange(count)[:, None] * WIDTH).flatten()
    token = words(count * WIDTH, 1, seed + 1)[:, 0]
    before = model.step(token[rows], tree.select(state, rows), source)
    after = tree.select(model.step(token, state, source), rows)
    assert_close(before, after)


@pytest.mark.parametrize("name", SYSTEMS)
@given(order=st.permutations(range(3)).map(lambda order: order[:2]), seed=st.integers(0, 99))
def test_choosing_sentences_commutes_with_step(name: str, order: list[int], seed: int) -> None:
    model, data = build(name), batch([2, 4, 1], seed=seed)
    source = model.prepare(data.source, data.mask)
    state = tree.repeat(model.start(source), WIDTH)
    for token in words(3 * WIDTH, 2, seed).unbind(1):
        _, state = model.step(token, state, source)
    sentences = torch.tensor(order)
    rows = (sentences[:, None] * WIDTH + torch.arange(WIDTH)).flatten()
    token = words(3 * WIDTH, 1, seed + 1)[:, 0]
    before = model.step(token[rows], tree.select(state, rows), tree.select(source, sentences))
    after = tree.select(model.step(token, state, source), rows)
    assert_close(before, after)


@pytest.mark.parametrize("name", SYSTEMS)
def test_several_hypotheses_share_a_source_as_if_each_had_its_own(name: str) -> None:
    model, data = build(name), batch([2, 4, 1])
    source = model.prepare(data.source, data.mask)
    copied = tree.repeat(source, WIDTH)
    state, own = tree.repeat(model.start(source), WIDTH), model.start(copied)
    for token in words(3 * WIDTH, 3, 0).unbind(1):
        shared, state = model.step(token, state, source)
        single, own = model.step(token, own, copied)
        assert_close(shared, single)
    assert_close(state, own)


def words(rows: int, time: int, seed: int) -> Tensor:
    return torch.randint(3, 7, (rows, time), generator=torch.Generator().manual_seed(seed))


def test_trees_of_every_shape_are_selected_repeated_and_joined() -> None:
    leaf = torch.arange(6).view(3, 2)
    whole = {"a": (leaf, None), "b": (leaf + 1, 3)}
    assert_close(
        tree.select(whole, torch.tensor([2, 0])),
        {"a": (leaf[[2, 0]], None), "b": (leaf[[2, 0]] + 1, 3)},
    )
    assert_close(tree.repeat(leaf, 2), leaf[[0, 0, 1, 1, 2, 2]])
    assert_close(
        tree.join([whole, whole]),
        {"a": (torch.cat([leaf, leaf]), None), "b": (torch.cat([leaf, leaf]) + 1, 3)},
    )
