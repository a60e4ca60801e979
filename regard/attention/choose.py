"""How an attention chooses among its scores: softly, or one place at a time."""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.distributions import Categorical
from torch.nn import functional as F


class Chosen(NamedTuple):
    """Weights over the source, and the log probability of having sampled them."""

    weights: Float[Tensor, "batch width source"]
    log_prob: Float[Tensor, "batch width"] | None


class Soft(nn.Module):
    """Every place a little: a = softmax(e) (Bahdanau et al., 2015)."""

    def forward(self, scores: Float[Tensor, "batch width source"]) -> Chosen:
        return Chosen(scores.softmax(-1), None)


class Hard(nn.Module):
    """One place: s ~ Multinoulli(softmax(e)) in training, argmax in use (Xu et al., 2015, 4.1).

    The sampled place passes no gradient to the scores; `log_prob` does, through REINFORCE.
    """

    def forward(self, scores: Float[Tensor, "batch width source"]) -> Chosen:
        places = Categorical(logits=scores) if self.training else None
        place = scores.argmax(-1) if places is None else places.sample()
        return Chosen(one_hot(place, scores), None if places is None else places.log_prob(place))


def one_hot(
    place: Int[Tensor, "batch width"], scores: Float[Tensor, "batch width source"]
) -> Float[Tensor, "batch width source"]:
    """All weight on one place."""
    return F.one_hot(place, scores.shape[-1]).to(scores.dtype)


def masked(
    scores: Float[Tensor, "*batch source"], mask: Bool[Tensor, "*#batch source"]
) -> Float[Tensor, "*batch source"]:
    """Scores that give weight exactly 0 wherever the mask is False."""
    # The lowest finite number rather than -inf: a source with nothing real gives no NaN.
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
