"""A loss on some of the positions is, in the mean, the loss on all of them."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.heads import Categorical
from regard.losses import Total, likelihood

from .zoo import assert_close, mask, randomised

LENGTHS = [5, 2, 3]
REAL = mask(LENGTHS)


HEAD = randomised(Categorical(4, 6), "head", 0)
OUTPUTS = torch.randn(3, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
TARGETS = torch.randint(6, (3, 5), generator=torch.Generator().manual_seed(1))


def loss(share: float) -> tuple[Total, Tensor]:
    """The loss, and its gradient by outputs."""
    outputs = OUTPUTS.clone().requires_grad_()
    total = likelihood(HEAD, outputs, TARGETS, REAL, smoothing=0.1, share=share)
    (gradient,) = torch.autograd.grad(total.loss, [outputs])
    return total, gradient


def test_a_share_of_one_is_the_whole_and_draws_nothing() -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    whole, _ = loss(1.0)
    assert torch.equal(torch.get_rng_state(), before)
    plain = likelihood(HEAD, OUTPUTS, TARGETS, REAL, smoothing=0.1)
    assert torch.equal(whole.loss, plain.loss)
    assert torch.equal(whole.nll, plain.nll)


@pytest.mark.parametrize(("share", "kept"), [(0.5, 5), (0.3, 3), (0.01, 1), (0.97, 10)])
def test_only_the_share_of_real_positions_is_computed(share: float, kept: int) -> None:
    torch.manual_seed(0)
    total, gradient = loss(share)
    reached = gradient.abs().sum(-1) > 0
    assert int(reached.sum()) == kept
    assert not reached[~REAL].any()
    assert int(total.tokens) == sum(LENGTHS)


@pytest.mark.parametrize("share", [0.3, 0.77])
def test_the_mean_over_draws_is_the_whole(share: float) -> None:
    torch.manual_seed(0)
    whole, gradient = loss(1.0)
    draws = [loss(share) for _ in range(400)]
    for drawn, wanted in (
        (torch.stack([total.loss.detach() for total, _ in draws]), whole.loss.detach()),
        (torch.stack([total.nll for total, _ in draws]), whole.nll),
        (torch.stack([grad for _, grad in draws]), gradient),
    ):
        error = drawn.std(0) / len(draws) ** 0.5
        assert (error > 0).any()
        assert ((drawn.mean(0) - wanted).abs() <= 5 * error + 1e-12).all()


def test_every_batch_draws_anew_and_a_seed_repeats_it() -> None:
    torch.manual_seed(3)
    first, second = loss(0.5)[1], loss(0.5)[1]
    assert not torch.equal(first, second)
    torch.manual_seed(3)
    assert_close(loss(0.5)[1], first)
