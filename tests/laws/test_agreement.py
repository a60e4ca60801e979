"""R-Drop: two draws of dropout are drawn together."""

import pytest
import torch
from torch.autograd import gradcheck
from torch.nn import functional as F
from torch.testing import assert_close

from regard.heads import Categorical
from regard.losses import likelihood
from regard.losses_agreeing import ChunkedAgreement, agreeing
from tests.laws.zoo import mask, randomised

PAIRS, DIM, SIZE = 5, 4, 6


def parts() -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(1)
    shapes = ((2 * PAIRS, DIM), (SIZE, DIM), (SIZE,))
    made = [
        torch.randn(shape, dtype=torch.float64, generator=generator).requires_grad_()
        for shape in shapes
    ]
    wanted = torch.randint(SIZE, (PAIRS,), generator=generator)
    return (*made, torch.cat([wanted, wanted]))


def plainly(
    rows: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    wanted: torch.Tensor,
    *,
    smoothing: float,
    agreement: float,
) -> torch.Tensor:
    """The formula as the paper has it, halved, by what PyTorch has for each of its terms."""
    scores = F.linear(rows, weight, bias)
    told = F.cross_entropy(scores, wanted, reduction="sum", label_smoothing=smoothing)
    p, q = scores.log_softmax(1).chunk(2)
    divergence = F.kl_div(q, p, log_target=True, reduction="sum") + F.kl_div(
        p, q, log_target=True, reduction="sum"
    )
    return told / 2 + agreement / 4 * divergence


@pytest.mark.parametrize("chunk", [2, 100])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("agreement", [0.5, 5.0])
def test_the_chunks_and_their_gradient_are_those_of_the_formula(
    chunk: int, smoothing: float, agreement: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ChunkedAgreement, "CHUNK", chunk)
    *inputs, wanted = parts()
    assert gradcheck(lambda *x: ChunkedAgreement.apply(*x, wanted, smoothing, agreement)[0], inputs)
    loss, nll = ChunkedAgreement.apply(*inputs, wanted, smoothing, agreement)
    theirs = plainly(*inputs, wanted, smoothing=smoothing, agreement=agreement)
    assert_close(loss, theirs)
    assert_close(nll, F.cross_entropy(F.linear(*inputs), wanted, reduction="sum") / 2)
    assert not nll.requires_grad
    ours = torch.autograd.grad(3 * loss, inputs)
    assert_close(ours, torch.autograd.grad(3 * theirs, inputs))


def test_draws_that_agree_already_leave_the_plain_likelihood() -> None:
    head = randomised(Categorical(DIM, SIZE), "head", 0)
    outputs = torch.randn(2, 4, DIM, dtype=torch.float64)
    targets, real = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]), mask([4, 1])
    once = likelihood(head, outputs, targets, real, smoothing=0.1)
    twice = (torch.cat([each, each]) for each in (outputs, targets, real))
    both = agreeing(head, *twice, agreement=5.0, smoothing=0.1)
    assert_close((both.loss, both.nll), (once.loss, once.nll))
    assert both.tokens == once.tokens == 5


def test_only_real_positions_count_and_without_gradients_it_is_the_same() -> None:
    head = randomised(Categorical(DIM, SIZE), "head", 0)
    outputs = torch.randn(4, 4, DIM, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor([[0, 1, 2, 3], [3, 2, 1, 0]]).repeat(2, 1)
    real = mask([4, 1, 4, 1])
    total = agreeing(head, outputs, targets, real, agreement=2.0)
    total.loss.backward()
    assert not outputs.grad[[1, 3], 1:].any()
    assert outputs.grad[real].abs().sum(1).all()
    with torch.no_grad():
        again = agreeing(head, outputs, targets, real, agreement=2.0)
    assert_close(again.loss, total.loss.detach())
