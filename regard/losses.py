"""Losses: each a sum with a count, divided once, by whoever knows the whole batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.heads import Categorical

Carried = dict[str, Tensor]
"""What one batch leaves for the next, by name, with the batch on axis 0; {} before the first."""


class Total(NamedTuple):
    """A loss to minimise, the plain negative log likelihood, and what they are sums over."""

    loss: Float[Tensor, ""]
    nll: Float[Tensor, ""]
    tokens: Int[Tensor, ""]
    carried: Carried = {}  # noqa: RUF012


def likelihood(
    head: Categorical,
    outputs: Float[Tensor, "batch time dim"],
    targets: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
    *,
    smoothing: float = 0.0,
    share: float = 1.0,
) -> Total:
    """-sum_t log p(y_t), with label smoothing: the target is (1 - e) one-hot + e / V.

    Szegedy et al., 2016; Vaswani et al., 2017, 5.4. Only real positions are computed; of them a
    `share` drawn at random, whose sum is scaled up to an unbiased estimate of the whole.
    """
    real = mask.flatten().nonzero().squeeze(1)
    count = len(real)
    if share < 1:
        real = real[torch.randperm(count, device=real.device)[: max(round(share * count), 1)]]
    loss, nll = judged(ChunkedCrossEntropy, head, outputs, targets, real, smoothing)
    if len(real) < count:
        loss, nll = (x * (count / len(real)) for x in (loss, nll))
    return Total(loss, nll.detach(), mask.sum())


def judged(
    function: type[torch.autograd.Function],
    head: Categorical,
    outputs: Float[Tensor, "batch time dim"],
    targets: Int[Tensor, "batch time"],
    real: Int[Tensor, " places"],
    *settings: float,
) -> tuple[Tensor, Tensor]:
    """The loss and the likelihood that a chunked function finds at some flat places."""
    rows = outputs.flatten(0, 1).index_select(0, real)
    wanted = targets.flatten().index_select(0, real)
    kind = _kind_of_products(rows.device.type, head.weight.dtype)
    parts: tuple[Tensor, ...] = (rows.to(kind), head.weight, head.bias)
    if not torch.is_grad_enabled():  # which the function itself is not told
        parts = tuple(part.detach() for part in parts)
    with torch.autocast(rows.device.type, enabled=False):  # sums over a vocabulary want all bits
        loss, nll = function.apply(*parts, wanted, *settings)  # type: ignore[no-untyped-call]
    return loss, nll


def _kind_of_products(device: str, whole: torch.dtype) -> torch.dtype:
    """What the products with the vocabulary are made of; all bits where nothing is learned.

    Numbers of 16 bits only with the range of 32: a gradient of few rows must not vanish.
    """
    learning = torch.is_grad_enabled() and torch.is_autocast_enabled(device)
    if learning and torch.get_autocast_dtype(device) == torch.bfloat16:
        return torch.bfloat16
    return whole


def alike(rows: Tensor, *others: Tensor) -> tuple[Tensor, ...]:
    """Rows, and others as numbers of their kind."""
    return rows, *(x.to(rows.dtype) for x in others)


def take_targets(
    into: list[Tensor], rows: Tensor, weight: Tensor, wanted: Tensor, smoothing: float
) -> None:
    """Take the targets' part out of the gradients of rows, weight and bias, without a table."""
    share, even = 1 - smoothing, smoothing / len(weight)
    into[0].sub_(share * weight[wanted] + smoothing * weight.mean(0))
    into[1].index_add_(0, wanted, rows, alpha=-share).sub_(even * rows.sum(0))
    often = wanted.bincount(minlength=len(weight)).to(weight.dtype)
    into[2].sub_(share * often + even * len(rows))


class ChunkedCrossEntropy(torch.autograd.Function):
    """sum_n (logsumexp(z_n) - (1 - e) z_n[y_n] - e mean(z_n)), z = W o + b.

    The table of rows times vocabulary is the largest thing in training a small model. It is made
    for some rows at a time, in the same memory, and its gradient, softmax(z) minus the target, is
    used at once; the target's part, which is one symbol and a constant, never touches the table.
    The largest probability is exp(max z - logsumexp(z)), which gives the sum without another pass.

    The table is of the rows' kind of numbers, everything else of the weights'.
    """

    CHUNK = 256

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        (thin_rows, thin_weight, thin_bias), rows = alike(rows, weight, bias), rows.to(weight.dtype)
        learning = any(ctx.needs_input_grad)
        into = [torch.zeros_like(x) for x in (rows, weight, bias)] if learning else []
        memory = thin_rows.new_empty(2, min(ChunkedCrossEntropy.CHUNK, len(rows)), len(weight))
        everything = torch.zeros_like(bias[:1])
        for first in range(0, len(rows), ChunkedCrossEntropy.CHUNK):
            part = slice(first, first + ChunkedCrossEntropy.CHUNK)
            some = thin_rows[part]
            scores, shares = memory[:, : len(some)]
            torch.addmm(thin_bias, some, thin_weight.T, out=scores)
            torch.softmax(scores, 1, out=shares)
            most, share = (x.amax(1).to(weight.dtype) for x in (scores, shares))
            everything += (most - share.log()).sum()
            if learning:
                into[0][part] = shares @ thin_weight
                into[1] += shares.T @ some
                into[2] += shares.sum(0)
        if learning:
            take_targets(into, rows, weight, wanted, smoothing)
            ctx.save_for_backward(*into)
        picked = (rows * weight[wanted]).sum() + bias[wanted].sum()
        average = (rows @ weight.mean(0)).sum() + len(rows) * bias.mean()
        nll = (everything - picked).sum()
        loss = (everything - (1 - smoothing) * picked - smoothing * average).sum()
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad * outer[0] for grad in ctx.saved_tensors), None, None)
