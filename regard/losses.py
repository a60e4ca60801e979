"""Losses: each a sum with a count, divided once, by whoever knows the whole batch."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from regard.heads import Categorical


class Total(NamedTuple):
    """A loss to minimise, the plain negative log likelihood, and what they are sums over."""

    loss: Float[Tensor, ""]
    nll: Float[Tensor, ""]
    count: Int[Tensor, ""]


def likelihood(
    head: Categorical,
    outputs: Float[Tensor, "batch time dim"],
    targets: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
    *,
    smoothing: float = 0.0,
) -> Total:
    """-sum_t log p(y_t), with label smoothing: the target is (1 - e) one-hot + e / V.

    Szegedy et al., 2016; Vaswani et al., 2017, 5.4. Only real positions are computed.
    """
    real = mask.flatten().nonzero().squeeze(1)
    rows = outputs.flatten(0, 1).index_select(0, real)
    wanted = targets.flatten().index_select(0, real)
    parts: tuple[Tensor, ...] = (rows, head.weight, head.bias)
    if not torch.is_grad_enabled():  # which the function itself is not told
        parts = tuple(part.detach() for part in parts)
    loss, nll = ChunkedCrossEntropy.apply(*parts, wanted, smoothing)  # type: ignore[no-untyped-call]
    return Total(loss, nll.detach(), mask.sum())


class ChunkedCrossEntropy(torch.autograd.Function):
    """sum_n (logsumexp(z_n) - (1 - e) z_n[y_n] - e mean(z_n)), z = W o + b.

    Logits are made for some rows at a time, and turned into their own gradient at once
    (softmax minus target), so that the whole table of rows times vocabulary never exists and no
    pass over it is done twice.
    """

    CHUNK = 1024

    @staticmethod
    def forward(
        ctx: Any, rows: Tensor, weight: Tensor, bias: Tensor, wanted: Tensor, smoothing: float
    ) -> tuple[Tensor, Tensor]:
        needed = any(ctx.needs_input_grad)
        grads = [torch.zeros_like(x) for x in (rows, weight, bias)] if needed else []
        loss, nll = rows.new_zeros((), dtype=weight.dtype), rows.new_zeros((), dtype=weight.dtype)
        vocab = weight.shape[0]
        for first in range(0, len(rows), ChunkedCrossEntropy.CHUNK):
            part = slice(first, first + ChunkedCrossEntropy.CHUNK)
            logits = F.linear(rows[part], weight, bias).to(weight.dtype)
            log_p = logits.log_softmax(1)
            picked = log_p.gather(1, wanted[part, None])
            nll -= picked.sum()
            loss -= (1 - smoothing) * picked.sum()
            if smoothing:
                loss -= smoothing * log_p.sum() / vocab
            if needed:
                residue = log_p.exp_()
                if smoothing:
                    residue.sub_(smoothing / vocab)
                residue.scatter_add_(1, wanted[part, None], picked.fill_(smoothing - 1))
                grads[0][part] = residue @ weight
                grads[1].addmm_(residue.T, rows[part].to(weight.dtype))
                grads[2].add_(residue.sum(0))
        ctx.save_for_backward(*grads)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad * outer[0] for grad in ctx.saved_tensors), None, None)
