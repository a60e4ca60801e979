"""A loss that makes two draws of dropout agree: R-Drop."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.heads import Categorical
from regard.losses import Total


def agreeing(
    head: Categorical,
    outputs: Float[Tensor, "twice time dim"],
    targets: Int[Tensor, "twice time"],
    mask: Bool[Tensor, "twice time"],
    *,
    agreement: float,
    smoothing: float = 0.0,
) -> Total:
    """(L(p) + L(q)) / 2 + a / 4 (KL(p || q) + KL(q || p)), L the smoothed likelihood's loss.

    The second half of the rows are those of the first half, decoded under another draw of dropout:
    p and q. Half of the loss of Liang et al., R-Drop, NeurIPS 2021, eq. 4, so that it is a sum over
    each token once; they take a = 5 for translation.
    """
    real = mask.flatten().nonzero().squeeze(1)
    rows = outputs.flatten(0, 1).index_select(0, real)
    wanted = targets.flatten().index_select(0, real)
    parts: tuple[Tensor, ...] = (rows, head.weight, head.bias)
    if not torch.is_grad_enabled():  # which the function itself is not told
        parts = tuple(part.detach() for part in parts)
    loss, nll = ChunkedAgreement.apply(*parts, wanted, smoothing, agreement)  # type: ignore[no-untyped-call]
    return Total(loss, nll.detach(), mask.sum() // 2)


class ChunkedAgreement(torch.autograd.Function):
    """sum_n (L(p_n) + L(q_n)) / 2 + a / 4 sum_v (p_n - q_n) (log p_n - log q_n).

    For some rows of both halves at a time, whose tables become their own gradient at once (see
    `ChunkedCrossEntropy`): that of the divergence by p's scores is p (d - <p, d>) + p - q with
    d = log p - log q.
    """

    CHUNK = 128

    @staticmethod
    def forward(
        ctx: Any,
        rows: Tensor,
        weight: Tensor,
        bias: Tensor,
        wanted: Tensor,
        smoothing: float,
        agreement: float,
    ) -> tuple[Tensor, Tensor]:
        rows = rows.to(weight.dtype)
        learning = any(ctx.needs_input_grad)
        into = [torch.zeros_like(x) for x in (rows, weight, bias)] if learning else []
        loss, nll = rows.new_zeros(()), rows.new_zeros(())
        half = len(rows) // 2
        for first in range(0, half, ChunkedAgreement.CHUNK):
            one = torch.arange(first, min(first + ChunkedAgreement.CHUNK, half), device=rows.device)
            both = torch.cat([one, one + half])
            some, right = rows[both], wanted[both][:, None]
            logs = torch.addmm(bias, some, weight.T).log_softmax(1)
            likely = logs.gather(1, right).sum()
            nll -= likely / 2
            loss -= ((1 - smoothing) * likely + smoothing * logs.mean(1).sum()) / 2
            shares, apart = logs.exp(), logs[: len(one)] - logs[len(one) :]
            p, q = shares.chunk(2)
            of_p, of_q = (p * apart).sum(1, keepdim=True), (q * apart).sum(1, keepdim=True)
            loss += agreement / 4 * (of_p - of_q).sum()
            if learning:
                pull = torch.cat([p * (apart - of_p + 1) - q, q * (of_q - apart + 1) - p])
                shares.sub_(smoothing / len(weight)).add_(pull, alpha=agreement / 2)
                shares.scatter_add_(1, right, shares.new_full((), smoothing - 1).expand_as(right))
                shares.div_(2)
                into[0][both] = shares @ weight
                into[1].addmm_(shares.T, some)
                into[2].add_(shares.sum(0))
        ctx.save_for_backward(*into)
        ctx.mark_non_differentiable(nll)
        return loss, nll

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad * outer[0] for grad in ctx.saved_tensors), None, None, None)
