"""Losses of what was sampled, and of where was looked."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from regard.decoders.base import Decoded
from regard.heads import Categorical
from regard.losses import Carried, Total

KEPT = 0.9
"""How much of a moving average each batch leaves (Xu et al., 2015, 4.1)."""


def doubly_stochastic(
    weights: Float[Tensor, "batch time source"], mask: Bool[Tensor, "batch time"]
) -> Float[Tensor, ""]:
    """sum_i (1 - sum_t a_ti)^2: over a whole caption every place is looked at about once.

    Xu et al., 2015, eq. 14.
    """
    looked = (weights * mask[..., None].to(weights.dtype)).sum(1)
    return (1 - looked).square().sum()


def bounded(
    head: Categorical,
    decoded: Decoded,
    targets: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
    total: Total,
    carried: Carried,
    *,
    sampled: float = 1.0,
    entropy: float = 0.0,
    looks: int = 1,
) -> Total:
    """A likelihood, given sampled places, as the bound of Xu et al., 2015, eq. 10 to 13.

    The rows may hold every pair several times, of which `total` is the mean. A single sample is
    judged against the moving average of the words' probabilities, one of several `looks` against
    the others: how hard a word is to say drops out, which is most of the noise.
    """
    assert decoded.log_prob is not None
    rewards = word_log_probs(head, decoded.outputs, targets, mask)
    before = carried["baseline"][0] if len(carried.get("baseline", ())) else None
    mean = moved(before, rewards, mask)
    if looks > 1:
        baseline = of_the_others(rewards.view(looks, -1).T).T.reshape_as(rewards)
    else:
        baseline = mean if before is None else before
    more = sampled * reinforce(decoded.log_prob, rewards, mask, baseline)
    if decoded.entropy is not None:
        more = more - entropy * decoded.entropy.masked_fill(~mask, 0.0).sum()
    loss = total.loss + more * (total.tokens / mask.sum())
    return total._replace(loss=loss, carried={"baseline": mean.detach()[None]})


@torch.no_grad()
def word_log_probs(
    head: Categorical,
    outputs: Float[Tensor, "batch time dim"],
    targets: Int[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
) -> Float[Tensor, "batch time"]:
    """Log p(y_t | y_<t, s) of each word, 0 where padded: what sampled choices are judged by."""
    found = torch.zeros_like(targets, dtype=outputs.dtype)
    scores = head(outputs[mask])
    found[mask] = scores.gather(1, targets[mask][:, None])[:, 0] - scores.logsumexp(1)
    return found


def reinforce(
    log_prob: Float[Tensor, "batch time"],
    rewards: Float[Tensor, "batch time"],
    mask: Bool[Tensor, "batch time"],
    baseline: Float[Tensor, "*#rows"],
) -> Float[Tensor, ""]:
    """-sum_t (R_t - b_t) log p(s_t), R_t = sum_{t' >= t} r_t' (Williams, 1992).

    Added to -log p(y | s), its gradient is that of the variational bound -E_s[log p(y | s)] of Xu
    et al., 2015, eq. 10 to 13. A choice is judged only by the words that come after it, since no
    other depends on it; the baseline of what is left of a caption is `baseline` for each word.
    """
    left = (rewards - baseline).masked_fill(~mask, 0.0)
    after = left.flip(1).cumsum(1).flip(1).detach()
    return -(after * log_prob.masked_fill(~mask, 0.0)).sum()


def self_critical(
    log_prob: Float[Tensor, "*rows"],
    rewards: Float[Tensor, "*rows"],
    baseline: Float[Tensor, "*rows"],
) -> Float[Tensor, ""]:
    """-sum (r(w) - b) log p(w), w drawn from the model, b the reward of its own greedy output.

    Its gradient is that of -E[r(w)], whatever is subtracted that does not depend on w: what beats
    the model's own best guess becomes likelier. Rennie et al., CVPR 2017, eq. 7 and 9.
    """
    return -((rewards - baseline).detach() * log_prob).sum()


def of_the_others(rewards: Float[Tensor, "batch draw"]) -> Float[Tensor, "batch draw"]:
    """b_k = mean of r_j, j != k: a baseline for several draws (Luo, 2020, arXiv:2003.09971)."""
    return (rewards.sum(1, keepdim=True) - rewards) / (rewards.shape[1] - 1)


def moved(
    baseline: Tensor | None, rewards: Float[Tensor, "batch time"], mask: Bool[Tensor, "batch time"]
) -> Float[Tensor, ""]:
    """b_k = 0.9 b_{k-1} + 0.1 mean_t r_t, the mean itself where nothing was before."""
    mean = rewards.sum() / mask.sum().clamp(min=1)
    return mean if baseline is None else KEPT * baseline + (1 - KEPT) * mean
