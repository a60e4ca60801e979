"""What training on captions minimises."""

from __future__ import annotations

from typing import NamedTuple

from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.decoders.base import Decoded
from regard.losses import Carried, Total, likelihood
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
    """-log p(y); soft attention adds its `doubly`, hard attention `sampled` and `entropy`."""

    def __init__(self, *, doubly: float, sampled: float, entropy: float, smoothing: float) -> None:
        for name, weight in {"doubly": doubly, "sampled": sampled, "entropy": entropy}.items():
            if weight < 0:
                raise ValueError(f"{name}: wanted a weight of 0 or more, got {weight}")
        if not 0 <= smoothing < 1:
            raise ValueError(f"smoothing: wanted a share from 0 to below 1, got {smoothing}")
        self.doubly, self.sampled = doubly, sampled
        self.entropy, self.smoothing = entropy, smoothing

    def __call__(self, model: Seq2Seq, batch: CaptionBatch, carried: Carried) -> Total:
        decoded: Decoded = model(batch.source, batch.mask, batch.inputs)
        total = likelihood(
            model.head, decoded.outputs, batch.targets, batch.target_mask, smoothing=self.smoothing
        )
        if decoded.log_prob is not None:
            return self._sampled(model, batch, decoded, total, carried)
        if decoded.weights is not None and self.doubly:
            looked = doubly_stochastic(decoded.weights, batch.target_mask)
            return total._replace(loss=total.loss + self.doubly * looked)
        return total

    def _sampled(
        self,
        model: Seq2Seq,
        batch: CaptionBatch,
        decoded: Decoded,
        total: Total,
        carried: Carried,
    ) -> Total:
        """The bound of Xu et al., 2015, eq. 10 to 13, for one sample of the locations."""
        assert decoded.log_prob is not None
        mask = batch.target_mask
        rewards = word_log_probs(model.head, decoded.outputs, batch.targets, mask)
        before = carried["baseline"][0] if "baseline" in carried else None
        baseline = moved(before, rewards, mask)
        judged = reinforce(decoded.log_prob, rewards, mask, baseline if before is None else before)
        loss = total.loss + self.sampled * judged
        if decoded.entropy is not None:
            loss = loss - self.entropy * decoded.entropy.masked_fill(~mask, 0.0).sum()
        return total._replace(loss=loss, carried={"baseline": baseline.detach()[None]})
