"""Law 1: a whole sequence at once gives what step after step gives."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import SelfAttention
from regard.look.watch import watch
from regard.recurrent import CELLS, Recurrent

from .zoo import HARD, SYSTEMS, assert_close, batch, build, mask, randomised

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


@pytest.mark.parametrize("name", [n for n in SYSTEMS if "sutskever" not in n])
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
@given(lengths=sizes, seed=st.integers(0, 99), started=st.booleans())
def test_recurrent_forward_is_the_loop_over_step(
    kind: str, layers: int, lengths: list[int], seed: int, started: bool
) -> None:
    cell = randomised(CELLS[kind](3, 4, layers=layers), kind, seed)
    x = torch.randn(len(lengths), max(lengths), 3, dtype=torch.float64,
                    generator=torch.Generator().manual_seed(seed))
    real = mask(lengths)
    state = cell.start(len(lengths))
    if started:
        state = cell.step(x[:, 0].flip(1), state)[1]
    outputs, top, states = cell(x, real, state if started else None)
    for row, length in enumerate(lengths):
        own = tuple(tuple(part[row : row + 1] for part in layer) for layer in state)
        for time in range(length):
            output, own = cell.step(x[row : row + 1, time], own)
            assert_close(outputs[row : row + 1, time], output)
        assert_close(tuple(tuple(p[row : row + 1] for p in layer) for layer in states), own)
        assert_close(top[row : row + 1], own[-1][0])
        assert not outputs[row, length:].any()


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", CELLS)
def test_both_directions_are_loops_over_the_cell(kind: str, layers: int) -> None:
    cell = randomised(CELLS[kind](3, 4, layers=layers, bidirectional=True), kind, 0)
    lengths = [4, 2, 1]
    x = torch.randn(3, 4, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    outputs, top, _ = cell(x, mask(lengths))
    for row, length in enumerate(lengths):
        below = x[row, :length]
        for layer in range(layers):
            there = run(cell, 2 * layer, below)
            back = run(cell, 2 * layer + 1, below.flip(0)).flip(0)
            below = torch.cat([there, back], 1)
        assert_close(outputs[row, :length], below)
        assert_close(top[row], torch.cat([there[-1], back[0]]))


def run(cell: Recurrent, layer: int, x: torch.Tensor) -> torch.Tensor:
    state = (x.new_zeros(1, cell.dim),) * cell.parts
    hidden = []
    for inputs in x:
        state = cell.cell(inputs[None], state, cell.stack.all_weights[layer])
        hidden.append(state[0][0])
    return torch.stack(hidden)


@given(rows=st.integers(1, 3), time=st.integers(1, 6), heads=st.sampled_from([1, 2, 4]),
       seed=st.integers(0, 99))
def test_causal_self_attention_is_the_loop_over_step_with_a_cache(
    rows: int, time: int, heads: int, seed: int
) -> None:
    attention = randomised(SelfAttention(4, heads, causal=True), "self", seed)
    x = torch.randn(rows, time, 4, dtype=torch.float64,
                    generator=torch.Generator().manual_seed(seed))
    whole = attention(x).context.view_as(x)
    past = attention.start(rows)
    for place in range(time):
        read = attention.step(x[:, place], past)
        past = read.state
        assert_close(read.context, whole[:, place])
    assert past.shape[3] == time
