"""What training on captions minimises."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard import tree
from regard.decoders.base import Decoded
from regard.losses import Carried, Total, likelihood
from regard.losses_agreeing import agreeing
from regard.losses_sampled import doubly_stochastic, moved, reinforce, word_log_probs
from regard.model import Seq2Seq


class CaptionBatch(NamedTuple):
    """Maps or pixels, and captions shifted by one against the inputs."""

    source: Float[Tensor, "batch ..."]
    mask: Bool[Tensor, "batch field"]
    inputs: Int[Tensor, "batch time"]
    targets: Int[Tensor, "batch time"]
    target_mask: Bool[Tensor, "batch time"]
    pictures: Int[Tensor, " batch"]
    """Which of training's pictures each is."""


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
        rows = tree.join([batch, batch]) if self.agreement else batch
        decoded: Decoded = model(rows.source, rows.mask, rows.inputs)
        known = (model.head, decoded.outputs, rows.targets, rows.target_mask)
        if self.agreement:
            total = agreeing(*known, agreement=self.agreement, smoothing=self.smoothing)
        else:
            total = likelihood(*known, smoothing=self.smoothing)
        share = len(batch.targets) / len(rows.targets)
        if decoded.log_prob is not None:
            return self._sampled(model, rows, decoded, total, carried, share)
        if decoded.weights is not None and self.doubly:
            looked = doubly_stochastic(decoded.weights, rows.target_mask)
            return total._replace(loss=total.loss + share * self.doubly * looked)
        return total

    def _sampled(
        self,
        model: Seq2Seq,
        batch: CaptionBatch,
        decoded: Decoded,
        total: Total,
        carried: Carried,
        share: float,
    ) -> Total:
        """The bound of Xu et al., 2015, eq. 10 to 13, for one sample of the locations."""
        assert decoded.log_prob is not None
        mask = batch.target_mask
        rewards = word_log_probs(model.head, decoded.outputs, batch.targets, mask)
        before = carried["baseline"][0] if "baseline" in carried else None
        baseline = moved(before, rewards, mask)
        judged = reinforce(decoded.log_prob, rewards, mask, baseline if before is None else before)
        loss = total.loss + share * self.sampled * judged
        if decoded.entropy is not None:
            loss = loss - share * self.entropy * decoded.entropy.masked_fill(~mask, 0.0).sum()
        return total._replace(loss=loss, carried={"baseline": baseline.detach()[None]})
