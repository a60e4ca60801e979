"""Law 6: weights are a distribution over the real positions; hard ones are one-hot."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import Hard, SelfAttention, Soft
from regard.attention.base import explicit_weights
from regard.attention.choose import masked

from .zoo import ALL_ATTENTIONS, assert_close, look, make_attention, memory, randomised

lengths = st.lists(st.integers(1, 6), min_size=1, max_size=4)


@pytest.mark.parametrize("training", [False, True], ids=["use", "training"])
@pytest.mark.parametrize("name", ALL_ATTENTIONS)
@given(
    lengths=lengths,
    width=st.integers(1, 3),
    scale=st.sampled_from([0.1, 1.0, 50.0]),
    seed=st.integers(0, 99),
)
def test_weights_are_a_distribution_over_real_positions(
    name: str, training: bool, lengths: list[int], width: int, scale: float, seed: int
) -> None:
    attention = make_attention(name).train(training)
    seen = memory(lengths, seed=seed)
    query = scale * torch.randn(
        len(lengths) * width,
        4,
        dtype=torch.float64,
        generator=torch.Generator().manual_seed(seed + 1),
    )
    with explicit_weights():
        read = look(attention, query, seen)
    weights, real = read.weights, seen.mask.repeat_interleave(width, 0)
    if name == "multihead":
        real = real[:, None].expand_as(weights)
    assert weights.shape == real.shape
    assert (weights >= 0).all()
    assert (weights[~real] == 0).all()
    assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    if name.endswith("-hard"):
        assert ((weights == 0) | (weights == 1)).all()
        assert (read.log_prob is not None) == training
    else:
        assert read.log_prob is None
    if name != "multihead":
        rows = weights.unflatten(0, (len(lengths), width))
        assert_close(read.context.unflatten(0, (len(lengths), width)), rows @ seen.values)


@given(lengths=lengths, causal=st.booleans(), seed=st.integers(0, 99))
def test_self_attention_weights_are_a_distribution_over_what_may_be_seen(
    lengths: list[int], causal: bool, seed: int
) -> None:
    attention, seen = randomised(SelfAttention(4, 2, causal=causal), "self", 0), memory(lengths)
    with explicit_weights():
        weights = attention(seen.values, seen.mask).weights
    time = max(lengths)
    assert weights.shape == (len(lengths) * time, 2, time)
    visible = seen.mask[:, None].expand(-1, time, -1)
    if causal:
        visible = visible & torch.ones(time, time, dtype=torch.bool).tril()
    weights = weights.transpose(0, 1).unflatten(1, (len(lengths), time))
    assert (weights[:, ~visible] == 0).all()
    assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


SCORES = torch.tensor([0.3, -1.0, 1.2, 0.0, 0.7, 9.0], dtype=torch.float64)
REAL = torch.tensor([True, True, True, True, True, False])


def test_hard_attention_in_use_takes_the_highest_real_score() -> None:
    chosen = Hard().eval()(masked(SCORES, REAL)[None, None])
    assert chosen.weights.tolist() == [[[0, 0, 1, 0, 0, 0]]]
    assert chosen.log_prob is None


def test_hard_attention_in_training_draws_from_the_softmax_and_knows_its_chance() -> None:
    torch.manual_seed(0)
    draws = 20_000
    scores = masked(SCORES, REAL).expand(1, draws, 6).clone().requires_grad_()
    chosen = Hard().train()(scores)
    place = chosen.weights[0].argmax(-1)
    chances = SCORES[:5].softmax(-1)
    assert_close(chosen.log_prob[0], chances.log()[place])
    counts = place.bincount(minlength=6)
    assert counts[5] == 0
    expected = draws * chances
    # With 4 degrees of freedom, 23.5 is passed once in ten thousand times.
    assert ((counts[:5] - expected) ** 2 / expected).sum() < 23.5
    # REINFORCE: d log p(place) / d scores is one-hot minus softmax; the place itself gives none.
    assert not chosen.weights.requires_grad
    chosen.log_prob.sum().backward()
    wanted = chosen.weights[0] - torch.cat([chances, torch.zeros(1)])
    assert_close(scores.grad[0], wanted)


def test_soft_attention_is_the_softmax_of_real_scores() -> None:
    weights = Soft()(masked(SCORES, REAL)[None, None]).weights[0, 0]
    assert_close(weights[:5], SCORES[:5].softmax(-1))
    assert weights[5] == 0
