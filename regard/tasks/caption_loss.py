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
from regard.losses_sampled import doubly_stochastic, moved, reinforce, word_log_probs
from regard.model import Seq2Seq

PARTS = 4
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

    With `agreement`, every caption is said twice, and what is added is halved.
    """

    def __init__(
        self,
        *,
        doubly: float,
        sampled: float,
        entropy: float,
        smoothing: float,
        agreement: float = 0.0,
    ) -> None:
        weights = {"doubly": doubly, "sampled": sampled, "entropy": entropy, "agreement": agreement}
        for name, weight in weights.items():
            if weight < 0:
                raise ValueError(f"{name}: wanted a weight of 0 or more, got {weight}")
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing: wanted a share from 0 to below 1, got {smoothing}")
        self.doubly, self.sampled = doubly, sampled
        self.entropy, self.smoothing, self.agreement = entropy, smoothing, agreement

    def __call__(self, model: Seq2Seq, batch: CaptionBatch, carried: Carried) -> Total:
        times = 2 if self.agreement else 1
        decoded = tree.join([_decoded(model, batch) for _ in range(times)])
        targets, mask = tree.join([(batch.targets, batch.target_mask)] * times)
        known = (model.head, decoded.outputs, targets, mask)
        if self.agreement:
            total = agreeing(*known, agreement=self.agreement, smoothing=self.smoothing)
        else:
            total = likelihood(*known, smoothing=self.smoothing)
        if decoded.log_prob is not None:
            return self._sampled(model, decoded, targets, mask, total, carried, 1 / times)
        if decoded.weights is not None and self.doubly:
            looked = doubly_stochastic(decoded.weights, mask)
            return total._replace(loss=total.loss + self.doubly / times * looked)
        return total

    def _sampled(
        self,
        model: Seq2Seq,
        decoded: Decoded,
        targets: Int[Tensor, "batch time"],
        mask: Bool[Tensor, "batch time"],
        total: Total,
        carried: Carried,
        share: float,
    ) -> Total:
        """The bound of Xu et al., 2015, eq. 10 to 13, for one sample of the locations."""
        assert decoded.log_prob is not None
        rewards = word_log_probs(model.head, decoded.outputs, targets, mask)
        before = carried["baseline"][0] if "baseline" in carried else None
        baseline = moved(before, rewards, mask)
        judged = reinforce(decoded.log_prob, rewards, mask, baseline if before is None else before)
        loss = total.loss + share * self.sampled * judged
        if decoded.entropy is not None:
            loss = loss - share * self.entropy * decoded.entropy.masked_fill(~mask, 0.0).sum()
        return total._replace(loss=loss, carried={"baseline": baseline.detach()[None]})


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
