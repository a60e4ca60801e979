"""Law 1: a whole sequence at once gives what step after step gives."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import SelfAttention
from regard.directions import Bidirectional, Reversed
from regard.look.watch import watch
from regard.recurrent import CELLS, Recurrent

from .zoo import BLIND, HARD, SYSTEMS, assert_close, batch, build, mask, randomised

sizes = st.lists(st.integers(1, 5), min_size=1, max_size=3)


@pytest.mark.parametrize("name", SYSTEMS)
@given(lengths=sizes, time=st.integers(1, 5), seed=st.integers(0, 99))
def test_decoder_forward_is_the_loop_over_step(
    name: str, lengths: list[int], time: int, seed: int
) -> None:
    model = build(name)
    data = batch(lengths, [time] * len(lengths), seed=seed)
    memory = model.encoder(data.source, data.mask)
    whole = model.decoder(data.tokens, memory)
    source = model.decoder.prepare(memory)
    state = model.decoder.start(source)
    steps = []
    for token in data.tokens.unbind(1):
        steps.append(model.decoder.step(token, state, source))
        state = steps[-1].state
    assert_close(whole.outputs, torch.stack([step.output for step in steps], 1))
    if whole.weights is not None:
        assert_close(whole.weights, torch.stack([step.read.weights for step in steps], 1))


@pytest.mark.parametrize("name", SYSTEMS)
def test_scorer_step_gives_the_log_probabilities_of_forward(name: str) -> None:
    model, data = build(name), batch([2, 4], [4, 4])
    whole = model.head(model(data.source, data.mask, data.tokens).outputs).log_softmax(-1)
    source = model.prepare(data.source, data.mask)
    state = model.start(source)
    for time, token in enumerate(data.tokens.unbind(1)):
        log_prob, state = model.step(token, state, source)
        assert_close(log_prob, whole[:, time])
        assert_close(log_prob.exp().sum(-1), torch.ones(2, dtype=torch.float64))


@pytest.mark.parametrize("name", HARD)
def test_hard_attention_in_training_draws_the_same_places_either_way(name: str) -> None:
    model, data = build(name).train(), batch([3, 5], [4, 4])
    memory = model.encoder(data.source, data.mask)
    torch.manual_seed(7)
    whole = model.decoder(data.tokens, memory)
    torch.manual_seed(7)
    source = model.decoder.prepare(memory)
    state = model.decoder.start(source)
    for time, token in enumerate(data.tokens.unbind(1)):
        step = model.decoder.step(token, state, source)
        state = step.state
        assert_close(step.output, whole.outputs[:, time])
        assert_close(step.read.log_prob, whole.log_prob[:, time])


@pytest.mark.parametrize("name", [n for n in SYSTEMS if n not in BLIND])
def test_looks_at_the_source_are_the_same_either_way(name: str) -> None:
    model, data = build(name), batch([2, 4], [4, 4])
    memory = model.encoder(data.source, data.mask)
    with watch(model.decoder) as whole:
        model.decoder(data.tokens, memory)
    with watch(model.decoder) as stepped:
        source = model.decoder.prepare(memory)
        state = model.decoder.start(source)
        for token in data.tokens.unbind(1):
            state = model.decoder.step(token, state, source).state
    maps = stepped.maps(2)
    assert maps
    wanted = whole.maps(2)
    assert_close(maps, {key: wanted[key] for key in maps})


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", CELLS)
@given(
    rows=st.integers(1, 3), time=st.integers(1, 5), seed=st.integers(0, 99), started=st.booleans()
)
def test_recurrent_forward_is_the_loop_over_step(
    kind: str, layers: int, rows: int, time: int, seed: int, started: bool
) -> None:
    cell = randomised(CELLS[kind](3, 4, layers=layers), kind, seed)
    x = numbers(rows, time, 3, seed=seed)
    state = cell.start(rows)
    if started:
        state = cell.step(x[:, 0].flip(1), state)[1]
    outputs, states = cell(x, state if started else None)
    projected = cell.project(x)
    other = state
    for place in range(time):
        output, state = cell.step(x[:, place], state)
        assert_close(outputs[:, place], output)
        again, other = cell.advance(projected[:, place], other)
        assert_close(again, output)
    assert_close(states, state)


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", CELLS)
@given(lengths=sizes, seed=st.integers(0, 99))
def test_recurrent_read_is_the_loop_over_step_to_each_end(
    kind: str, layers: int, lengths: list[int], seed: int
) -> None:
    cell = randomised(CELLS[kind](3, 4, layers=layers), kind, seed)
    x = numbers(len(lengths), max(lengths), 3, seed=seed)
    outputs, ends = cell.read(x, mask(lengths))
    for row, length in enumerate(lengths):
        alone = run(cell, x[row, :length])
        assert_close(outputs[row, :length], alone)
        assert not outputs[row, length:].any()
        assert_close(ends[row], alone[-1])


@pytest.mark.parametrize("kind", CELLS)
@given(lengths=sizes, seed=st.integers(0, 99))
def test_reversed_is_the_loop_over_step_from_each_end(
    kind: str, lengths: list[int], seed: int
) -> None:
    cell = randomised(Reversed(CELLS[kind](3, 4, layers=2)), kind, seed)
    x = numbers(len(lengths), max(lengths), 3, seed=seed)
    outputs, ends = cell.read(x, mask(lengths))
    for row, length in enumerate(lengths):
        alone = run(cell.cell, x[row, :length].flip(0)).flip(0)
        assert_close(outputs[row, :length], alone)
        assert not outputs[row, length:].any()
        assert_close(ends[row], alone[0])


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", CELLS)
@given(lengths=sizes, seed=st.integers(0, 99))
def test_both_directions_are_loops_over_step(
    kind: str, layers: int, lengths: list[int], seed: int
) -> None:
    cell = randomised(Bidirectional(CELLS[kind], 3, 4, layers=layers), kind, seed)
    x = numbers(len(lengths), max(lengths), 3, seed=seed)
    outputs, ends = cell.read(x, mask(lengths))
    for row, length in enumerate(lengths):
        below = x[row, :length]
        for ahead, back in zip(cell.forwards, cell.backwards, strict=True):
            there, again = run(ahead, below), run(back, below.flip(0)).flip(0)
            below = torch.cat([there, again], 1)
        assert_close(outputs[row, :length], below)
        assert not outputs[row, length:].any()
        assert_close(ends[row], torch.cat([there[-1], again[0]]))


def run(cell: Recurrent, x: Tensor) -> Tensor:
    """The outputs for one sequence, step after step."""
    state = cell.start(1)
    hidden = []
    for inputs in x:
        output, state = cell.step(inputs[None], state)
        hidden.append(output[0])
    return torch.stack(hidden)


def numbers(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@given(
    rows=st.integers(1, 3),
    time=st.integers(1, 6),
    heads=st.sampled_from([1, 2, 4]),
    seed=st.integers(0, 99),
)
def test_causal_self_attention_is_the_loop_over_step_with_a_cache(
    rows: int, time: int, heads: int, seed: int
) -> None:
    attention = randomised(SelfAttention(4, heads, causal=True), "self", seed)
    x = numbers(rows, time, 4, seed=seed)
    whole = attention(x).context.view_as(x)
    past = attention.start(rows)
    for place in range(time):
        read = attention.step(x[:, place], past)
        past = read.state
        assert_close(read.context, whole[:, place])
    assert past.shape[2] == time
