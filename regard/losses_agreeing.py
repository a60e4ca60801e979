"""A loss that makes two draws of dropout agree: R-Drop."""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.heads import Categorical
from regard.losses import Total, alike, judged, take_targets


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
    loss, nll = judged(ChunkedAgreement, head, outputs, targets, real, smoothing, agreement)
    return Total(loss, nll.detach(), mask.sum() // 2)


class ChunkedAgreement(torch.autograd.Function):
    """sum_n (L(p_n) + L(q_n)) / 2 + a / 4 sum_v (p_n - q_n) (log p_n - log q_n).

    For some rows of both halves at a time, whose tables become their own gradient at once (see
    `ChunkedCrossEntropy`). That of the divergence by p's scores is p (d - <p, d>) + p - q with
    d = log p - log q; that of the targets, one symbol and a constant, never touches the tables.
    """

    CHUNK = 32
    """So few that what is made of them stays in a core's cache; other devices take more."""

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
        (thin_rows, thin_weight, thin_bias), rows = alike(rows, weight, bias), rows.to(weight.dtype)
        learning = any(ctx.needs_input_grad)
        into = [torch.zeros_like(x) for x in (rows, weight, bias)] if learning else []
        told, even, divergence = (rows.new_zeros(()) for _ in range(3))
        half = torch.arange(len(rows) // 2, device=rows.device)
        chunk = ChunkedAgreement.CHUNK * (1 if rows.device.type == "cpu" else 16)
        for one in half.split(chunk):
            both = torch.cat([one, one + len(half)])
            some = thin_rows[both]
            scores = torch.addmm(thin_bias, some, thin_weight.T)
            logs = scores.to(weight.dtype).log_softmax(1)
            told += logs.gather(1, wanted[both][:, None]).sum()
            even += logs.mean(1).sum()
            apart, table = _drawn_together(logs, agreement)
            divergence += apart
            if learning:
                into[2].add_(table.sum(0))
                table = table.to(some.dtype)
                into[0][both] = (table @ thin_weight).to(weight.dtype)
                into[1] += table.T @ some
        if learning:
            take_targets(into, rows, weight, wanted, smoothing)
        ctx.save_for_backward(*(grad.div_(2) for grad in into))
        nll = -told / 2
        ctx.mark_non_differentiable(nll)
        loss = agreement / 4 * divergence - ((1 - smoothing) * told + smoothing * even) / 2
        return loss, nll

    @staticmethod
    @once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        return (*(grad * outer[0] for grad in ctx.saved_tensors), None, None, None)


def _drawn_together(
    logs: Float[Tensor, "twice vocab"], agreement: float
) -> tuple[Float[Tensor, ""], Float[Tensor, "twice vocab"]]:
    """KL(p || q) + KL(q || p), and [p; q] with a / 2 times its gradient by the scores added."""
    (log_p, log_q), (p, q), pull = logs.chunk(2), logs.exp().chunk(2), agreement / 2
    apart = log_p - log_q
    of_p, of_q = (torch.linalg.vecdot(x, apart)[:, None] for x in (p, q))
    apart.mul_(pull)
    by_p = apart.add(1 + pull - pull * of_p).mul_(p).sub_(q, alpha=pull)
    by_q = apart.neg_().add_(1 + pull + pull * of_q).mul_(q).sub_(p, alpha=pull)
    return (of_p - of_q).sum(), torch.cat([by_p, by_q])
