"""The convolutional encoder: every position sees its neighbours, layer by layer more of them."""

from __future__ import annotations

from typing import Any

from jaxtyping import Bool, Int
from torch import Tensor, nn
from torch.nn import functional as F

from regard.blocks import HALF, Embedding, GatedConvolution, fitted
from regard.encoders.base import Encoder
from regard.memory import Memory


class ConvEncoder(Encoder):
    """h^l = (GLU(W [h^{l-1}_{j-k/2}; ...; h^{l-1}_{j+k/2}]) + h^{l-1}_j) sqrt(0.5).

    Attentions compare with z_j, the output of the top layer, and see z_j + e_j, the embedding added
    (Gehring et al., 2017, 3.2 and 3.3). The summary is the mean of z.
    """

    def __init__(
        self, embedding: Embedding, *, hidden: int, layers: int, width: int, dropout: float = 0.0
    ) -> None:
        super().__init__()
        if width % 2 == 0:
            raise ValueError(f"width: wanted an odd number, as many to either side, got {width}")
        self.embedding, self.width = embedding, width
        self.dim = self.summary = embedding.dim
        self.enter = fitted(nn.Linear(embedding.dim, hidden))
        self.layers: Any = nn.ModuleList(
            GatedConvolution(hidden, width=width, dropout=dropout) for _ in range(layers)
        )
        self.leave = fitted(nn.Linear(hidden, embedding.dim))

    def forward(
        self, tokens: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> Memory:
        embedded = self.embedding(tokens)
        real, side = mask[..., None].to(embedded.dtype), self.width // 2
        x = self.enter(embedded)
        for layer in self.layers:
            # Padding is as nothing: the same zeros that stand before the first position.
            x = (layer(F.pad(x * real, (0, 0, side, side))) + x) * HALF
        z = self.leave(x)
        summary = (z * real).sum(1) / real.sum(1).clamp(min=1)
        return Memory(z + embedded, mask, summary, keys=z)
