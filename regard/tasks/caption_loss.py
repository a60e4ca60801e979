"""What training on captions minimises."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard import tree
from regard.decoders.base import Decoded
from regard.losses import Carried, Total, likelihood
from regard.losses_agreeing import agreeing
from regard.losses_sampled import bounded, doubly_stochastic
from regard.model import Seq2Seq

PARTS = 2
"""In how many parts of like lengths the captions of a batch are decoded."""


class CaptionBatch(NamedTuple):
    """Maps or pixels, and all their captions, the shortest first, shifted by one as inputs.

    A picture is looked at once, however many captions it has.
    """

    source: Float[Tensor, "picture ..."]
    mask: Bool[Tensor, "picture field"]
    pictures: Int[Tensor, " picture"]
    """Which of training's pictures each is."""
    inputs: Int[Tensor, "batch time"]
    targets: Int[Tensor, "batch time"]
    target_mask: Bool[Tensor, "batch time"]
    owners: Int[Tensor, " batch"]
    """Which of the batch's pictures each caption belongs to."""


class CaptionLoss:
    """-log p(y); soft attention adds its `doubly`, hard attention `sampled` and `entropy`.

    Every caption is said as many times as hard attention has `looks`, with `agreement` twice; the
    loss is the mean over them.
    """

    def __init__(
        self,
        *,
        doubly: float,
        sampled: float,
        entropy: float,
        smoothing: float,
        agreement: float = 0.0,
        looks: int = 1,
    ) -> None:
        weights = {"doubly": doubly, "sampled": sampled, "entropy": entropy, "agreement": agreement}
        for name, weight in weights.items():
            if weight < 0:
                raise ValueError(f"{name}: wanted a weight of 0 or more, got {weight}")
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing: wanted a share from 0 to below 1, got {smoothing}")
        if looks < 1:
            raise ValueError(f"looks: wanted 1 or more, got {looks}")
        if looks > 1 and agreement:
            raise ValueError(f"agreement: wanted 0 where there are {looks} looks, got {agreement}")
        self.doubly, self.sampled = doubly, sampled
        self.entropy, self.smoothing, self.agreement = entropy, smoothing, agreement
        self.looks = looks

    def __call__(self, model: Seq2Seq, batch: CaptionBatch, carried: Carried) -> Total:
        times = 2 if self.agreement else self.looks
        decoded = tree.join([_decoded(model, batch) for _ in range(times)])
        targets, mask = tree.join([(batch.targets, batch.target_mask)] * times)
        known = (model.head, decoded.outputs, targets, mask)
        if self.agreement:
            total = agreeing(*known, agreement=self.agreement, smoothing=self.smoothing)
        else:
            loss, nll, tokens, _ = likelihood(*known, smoothing=self.smoothing)
            total = Total(loss / times, nll / times, tokens // times)
        if decoded.log_prob is not None:
            return bounded(
                model.head,
                decoded,
                targets,
                mask,
                total,
                carried,
                sampled=self.sampled,
                entropy=self.entropy,
                looks=self.looks,
            )
        if decoded.weights is not None and self.doubly:
            looked = doubly_stochastic(decoded.weights, mask)
            return total._replace(loss=total.loss + self.doubly / times * looked)
        return total


def _decoded(model: Seq2Seq, batch: CaptionBatch) -> Decoded:
    """All captions of a batch, decoded part by part, each no further than its longest goes."""
    memory = model.encoder(batch.source, batch.mask)
    lengths = batch.target_mask.sum(1)
    parts = []
    for rows in torch.arange(len(lengths), device=lengths.device).chunk(PARTS):
        longest = int(lengths[rows].max())
        known = tree.select(memory, batch.owners[rows])
        parts.append(model.decoder(batch.inputs[rows, :longest], known))
    return tree.join(parts)
