"""One vector for a whole sequence: its last state, or a function of all states."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from regard.attention.choose import masked


class Pooling(nn.Module, ABC):
    """A way to make the summary of a memory."""

    @abstractmethod
    def forward(
        self,
        values: Float[Tensor, "batch source dim"],
        mask: Bool[Tensor, "batch source"],
        ends: Float[Tensor, "batch dim"],
    ) -> Float[Tensor, "batch dim"]:
        """One vector for each source, from all states and from where reading ended."""


class Last(Pooling):
    """c = h_T (Sutskever et al., 2014; Cho et al., 2014)."""

    def forward(
        self,
        values: Float[Tensor, "batch source dim"],  # noqa: ARG002
        mask: Bool[Tensor, "batch source"],  # noqa: ARG002
        ends: Float[Tensor, "batch dim"],
    ) -> Float[Tensor, "batch dim"]:
        return ends


class Mean(Pooling):
    """c = (1 / T) sum_j h_j."""

    def forward(
        self,
        values: Float[Tensor, "batch source dim"],
        mask: Bool[Tensor, "batch source"],
        ends: Float[Tensor, "batch dim"],  # noqa: ARG002
    ) -> Float[Tensor, "batch dim"]:
        real = mask[..., None].to(values.dtype)
        return (values * real).sum(1) / real.sum(1).clamp(min=1)


class Max(Pooling):
    """c = max_j h_j, dimension by dimension (Collobert and Weston, 2008)."""

    def forward(
        self,
        values: Float[Tensor, "batch source dim"],
        mask: Bool[Tensor, "batch source"],
        ends: Float[Tensor, "batch dim"],  # noqa: ARG002
    ) -> Float[Tensor, "batch dim"]:
        most = masked(values.transpose(1, 2), mask[:, None]).amax(-1)
        # Of a source with nothing real there is no largest value.
        return most.where(mask.any(1, keepdim=True), 0.0)


class Attend(Pooling):
    """c = sum_j a_j h_j, a = softmax(v . tanh(W h_j + b)) (Yang et al., 2016; Lin et al., 2017).

    The states are asked one learned question, which is the same for every source.
    """

    def __init__(self, memory: int, *, dim: int) -> None:
        super().__init__()
        self.key, self.energy = nn.Linear(memory, dim), nn.Linear(dim, 1, bias=False)

    def forward(
        self,
        values: Float[Tensor, "batch source dim"],
        mask: Bool[Tensor, "batch source"],
        ends: Float[Tensor, "batch dim"],  # noqa: ARG002
    ) -> Float[Tensor, "batch dim"]:
        scores = self.energy(self.key(values).tanh()).squeeze(-1)
        weights = masked(scores, mask).softmax(-1)
        return torch.bmm(weights[:, None], values)[:, 0]
