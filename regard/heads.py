"""What an output is."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from regard.blocks import Embedding


class Categorical(nn.Module):
    """p(y) = softmax(W o + b): one symbol of a vocabulary.

    With `tied`, W is the embedding table of the symbols themselves (Press and Wolf, 2017).
    """

    def __init__(self, dim: int, vocab: int, *, tied: Embedding | None = None) -> None:
        super().__init__()
        if tied is not None and tuple(tied.table.weight.shape) != (vocab, dim):
            raise ValueError(
                f"tied embeddings: wanted the output size {dim} and the embedding size "
                f"{tied.dim} to be the same; make them equal or untie them"
            )
        weight = nn.Parameter(torch.empty(vocab, dim)) if tied is None else tied.table.weight
        self.weight, self.bias = weight, nn.Parameter(torch.zeros(vocab))
        if tied is None:
            nn.init.normal_(self.weight, std=dim**-0.5)

    def forward(self, outputs: Float[Tensor, "*rows dim"]) -> Float[Tensor, "*rows vocab"]:
        """Scores of all symbols."""
        return F.linear(outputs, self.weight, self.bias)
