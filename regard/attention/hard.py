"""Hard attention as it is trained: a location is sampled, for some pictures its mean is taken."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from regard.attention.choose import one_hot
from regard.attention.content import Additive
from regard.memory import Keys, Read, State


class HalfHard(Additive):
    """One place: s_t ~ Multinoulli(a_t) in training, argmax in use (Xu et al., 2015, 4.1).

    To calm the gradient, a share of the pictures is shown the mean of the location instead, which
    is soft attention: E[s_t] = a_t (4.1, "with probability 0.5"). Which ones is drawn when a
    caption begins, and is the state. `log_prob` and `entropy` are for `losses_sampled.reinforce`.
    """

    def __init__(self, query: int, memory: int, *, dim: int, mean: float = 0.5) -> None:
        super().__init__(query, memory, dim=dim)
        if not 0 <= mean < 1:
            raise ValueError(f"mean: wanted a share from 0 to below 1, got {mean}")
        self.mean = mean

    def start(self, keys: Keys) -> State:
        """Which captions see the mean; nothing in use."""
        if not self.training:
            return None
        return torch.rand(len(keys.mask), device=keys.mask.device) < self.mean

    def forward(self, query: Float[Tensor, "rows query"], keys: Keys, state: State = None) -> Read:
        rows = query.unflatten(0, (keys.mask.shape[0], -1))
        scores = self.window(self.score(rows, keys.keys), rows, keys.mask, None).scores
        if state is None:
            weights = one_hot(scores.argmax(-1), scores)
            return Read(torch.bmm(weights, keys.values).flatten(0, 1), weights.flatten(0, 1))
        log_weights = scores.log_softmax(-1)
        soft = log_weights.exp()
        place = torch.multinomial(soft.detach().flatten(0, 1), 1).view(scores.shape[:2])
        shown_mean = state.view(scores.shape[:2])
        weights = torch.where(shown_mean[..., None], soft, one_hot(place, scores))
        picked = log_weights.gather(2, place[..., None])[..., 0]
        return Read(
            torch.bmm(weights, keys.values).flatten(0, 1),
            weights.flatten(0, 1),
            state,
            picked.masked_fill(shown_mean, 0.0).flatten(),
            -(soft * log_weights).sum(-1).flatten(),
        )
